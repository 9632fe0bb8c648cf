"""The packages whose sample files are read, each of one version, and how they are fetched and unpacked."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path, PurePosixPath

#: Seconds that one package may take.
PATIENCE = 90


class Missing(Exception):
    """A package that cannot be had here."""


@dataclasses.dataclass(frozen=True)
class Package:
    """A package of an index."""

    name: str
    version: str

    def fetch(self, place: Path) -> None:
        """Unpacks it into an empty directory."""
        raise NotImplementedError

    def unpacked(self, directory: Path) -> Path:
        """Returns the directory of its files; fetches them if they are not there yet."""
        place = directory / f"{self.name}-{self.version}"
        stamp = place / "complete"
        if not stamp.is_file():
            shutil.rmtree(place, ignore_errors=True)
            (place / "files").mkdir(parents=True)
            self.fetch(place)
            stamp.touch()
        return place / "files"


class Source(Package):
    """A source distribution of the Python package index."""

    def fetch(self, place: Path) -> None:
        only = ["--no-deps", "--no-binary", self.name, "--disable-pip-version-check", "--no-input"]
        _run([sys.executable, "-m", "pip", "download", "--quiet", *only, f"{self.name}=={self.version}"], place)
        _unpack(place, "*.tar.gz")


class Node(Package):
    """A package of the npm registry."""

    def fetch(self, place: Path) -> None:
        _run(["npm", "pack", "--silent", "--ignore-scripts", f"{self.name}@{self.version}"], place)
        _unpack(place, "*.tgz")


class Debian(Package):
    """A package of the distribution."""

    def fetch(self, place: Path) -> None:
        _run(["apt-get", "download", "-q", f"{self.name}={self.version}"], place)
        for archive in place.glob("*.deb"):
            _run(["dpkg-deb", "--extract", str(archive), str(place / "files")], place)
            archive.unlink()


PACKAGES = [
    Source("agate", "1.14.2"),
    Source("agate-excel", "0.4.2"),
    Source("csvkit", "2.2.0"),
    Source("odfdo", "3.27.3"),
    Source("odfpy", "1.4.1"),
    Source("pyexcel", "0.7.6"),
    Source("pyexcel-xlsx", "0.6.1"),
    Source("pypdf", "7.1.1"),
    Source("python-calamine", "0.9.1"),
    Source("python-docx", "1.2.0"),
    Source("python-pptx", "1.0.2"),
    Source("tablib", "3.10.0"),
    Source("xlwt", "1.3.0"),
    Node("docx4js", "3.3.0"),
    Node("mammoth", "1.13.0"),
    Node("papaparse", "5.7.1"),
    Node("xlsx-populate", "1.21.0"),
    Debian("librust-csv-dev", "1.1.6-1"),
    Debian("librust-zip-dev", "0.6.3-3"),
    Debian("r-cran-officer", "0.6.0+dfsg-1"),
    Debian("r-cran-openxlsx", "4.2.5.2-1"),
    Debian("r-cran-readr", "2.1.4-1"),
    Debian("r-cran-readxl", "1.4.2-1"),
    Debian("r-cran-vroom", "1.6.1-1"),
    Debian("r-cran-zip", "2.2.2-1+b1"),
]


def _run(command: list[str], place: Path) -> None:
    if not shutil.which(command[0]):
        raise Missing(f"{command[0]} is not installed")
    try:
        done = subprocess.run(
            command, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired as late:
        raise Missing(f"{command[0]} took more than {PATIENCE} s") from late
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:]
        raise Missing(" ".join([f"{Path(command[0]).name} does not get it", *last])[:200])


def _unpack(place: Path, pattern: str) -> None:
    for archive in place.glob(pattern):
        with tarfile.open(archive) as packed:
            for member in packed:
                # The directory above all the others has the version in its name.
                _, *parts = PurePosixPath(member.name).parts
                if parts and member.isfile() and ".." not in parts:
                    file = place.joinpath("files", *parts)
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(packed.extractfile(member).read())
        archive.unlink()
