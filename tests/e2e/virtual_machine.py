"""A virtual machine on this machine's own files, with another kernel: file systems that this one lacks,
a clock and a disk of its own. Debian's qemu in plain emulation, so it shows what happens and not how fast.

Debian's kernel and what else is needed are unpacked below the directory of the machine; nothing of them is
installed. The root of this machine is the root of the other one, by 9p; its temporary directories are its
own.
"""

import gzip
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

# Unpacked, not installed: installing a server of NFS would start it here.
PACKAGES = [
    "nfs-kernel-server", "nfs-common", "libtirpc3", "libtirpc-common", "libevent-core-2.1-7",
    "libnfsidmap1", "libkeyutils1", "libwrap0",
]
# Modules that the machine loads at its start; their dependencies are found.
MODULES = [
    "virtio_pci", "virtio_blk", "9p", "9pnet_virtio", "crc32c_generic", "ext4", "overlay", "loop", "nfsd", "nfsv4", "fuse",
]
DONE = "machine: done, status "
# The status of timeout(1) if it ended the command.
TIMED_OUT = 124

INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /host
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
while read module; do /bin/busybox insmod "$module"; done </modules
/bin/busybox mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 host /host
for place in proc sys; do /bin/busybox mount --bind /$place /host/$place; done
/bin/busybox mount -t devtmpfs dev /host/dev
/bin/busybox mkdir -p /host/dev/shm /host/dev/pts
/bin/busybox mount -t tmpfs shm /host/dev/shm
/bin/busybox mount -t devpts pts /host/dev/pts
/bin/busybox mount -t tmpfs run /host/run
/bin/busybox ifconfig lo 127.0.0.1 up
exec </host/dev/null
/bin/busybox chroot /host /bin/bash @script@
echo "@done@$?"
/bin/busybox sync
/bin/busybox poweroff -f
"""


class Missing(Exception):
    """Something that the machine is made of cannot be had here; the text names it."""


class Slow(Exception):
    """It takes too long without its processor; the text says how long."""


class Machine:
    """One that is made once, below `place`, and started as often as is wanted."""

    def __init__(self, place: Path):
        self.place = place.resolve()
        self.unpacked = self.place / "unpacked"
        for program in ("qemu-system-x86_64", "busybox", "dpkg", "mkfs.ext4"):
            if not shutil.which(program):
                raise Missing(f"{program} is not installed")
        if os.geteuid() != 0:
            raise Missing("only root can show the machine all files")
        if not self._modules().is_dir():
            self._unpack()

    def library_path(self) -> str:
        """Returns the directory of the unpacked libraries."""
        return str(self.unpacked / "usr/lib/x86_64-linux-gnu")

    def run(self, script: str, *, seconds: int, memory: int = 3072, clock: str = "", keep: bool = False,
            cut: Callable[[str], bool] = lambda line: False) -> int | None:
        """Runs a script of bash as root in the machine, prints what it prints, and gives its status.
        `clock` is a moment that its clock begins with. With `keep` its disk is the one of the run before,
        if that was kept, and is there for the next one. It is shown each line, and the power is cut where
        `cut` says so: nothing is the status then."""
        made = self.place / "script.sh"
        made.write_text(script)
        disk = self._disk()
        if not (keep and disk.exists()):
            with open(disk, "wb") as file:
                file.truncate(8 << 30)
        kernel = next((self.unpacked / "boot").glob("vmlinuz-*"))
        command = [
            "qemu-system-x86_64", "-M", "q35", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2",
            "-m", str(memory), "-nographic", "-no-reboot", "-kernel", str(kernel),
            "-initrd", str(self._initrd(made)), "-append", "console=ttyS0 quiet loglevel=0 nowatchdog rcupdate.rcu_cpu_stall_suppress=1 panic=1",
            "-virtfs", "local,path=/,mount_tag=host,security_model=passthrough,multidevs=remap",
            "-drive", f"file={disk},format=raw,if=virtio,cache=unsafe,werror=report", "-nic", "none",
            *(["-rtc", f"base={clock}"] if clock else []),
        ]
        status, is_cut = None, False
        with subprocess.Popen(["timeout", str(seconds), *command], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              start_new_session=True) as machine:
            for line in machine.stdout:
                text = line.decode(errors="replace").rstrip()
                if text.startswith(DONE):
                    status = int(text.removeprefix(DONE))
                elif not is_cut:
                    print(f"  machine: {text}", flush=True)
                    if cut(text):
                        # Writes that reached its disk are kept; its memory is gone.
                        is_cut = True
                        os.killpg(machine.pid, signal.SIGKILL)
        if not keep:
            self.forget_disk()
        if is_cut:
            return None
        if status is None and machine.returncode == TIMED_OUT:
            raise Slow(f"the machine was not done within {seconds} s")
        if status is None:
            sys.exit("the machine stopped before its script was done")
        return status

    def forget_disk(self) -> None:
        """The next run begins with an empty disk."""
        self._disk().unlink(missing_ok=True)

    def _disk(self) -> Path:
        return self.place / "disk"

    def _modules(self) -> Path:
        return self.unpacked / "lib/modules"

    def _unpack(self) -> None:
        packed = self.place / "packages"
        packed.mkdir(parents=True, exist_ok=True)
        described = subprocess.run(["apt-cache", "depends", "linux-image-amd64"], capture_output=True, text=True)
        kernels = [line.split()[-1] for line in described.stdout.splitlines() if "Depends: linux-image-" in line]
        if not kernels:
            raise Missing("linux-image-amd64 is in no package index")
        if subprocess.run(["apt-get", "download", "-qq", kernels[0], *PACKAGES], cwd=packed).returncode:
            raise Missing(f"apt-get cannot download {kernels[0]}")
        fresh = self.place / "fresh"
        shutil.rmtree(fresh, ignore_errors=True)
        for package in packed.glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, fresh], check=True)
        version = next((fresh / "lib/modules").iterdir()).name
        subprocess.run(["busybox", "depmod", "-b", fresh, version], check=True)
        shutil.rmtree(packed)
        fresh.rename(self.unpacked)

    def _initrd(self, script: Path) -> Path:
        tree = self.place / "initrd"
        shutil.rmtree(tree, ignore_errors=True)
        (tree / "bin").mkdir(parents=True)
        shutil.copy(shutil.which("busybox"), tree / "bin/busybox")
        init = INIT.replace("@script@", shlex.quote(str(script))).replace("@done@", DONE)
        (tree / "init").write_text(init)
        (tree / "init").chmod(0o755)
        names = self._needed()
        for name in names:
            shutil.copy(name, tree / name.name)
        (tree / "modules").write_text("".join(f"/{name.name}\n" for name in names))
        listed = "\n".join(str(path.relative_to(tree)) for path in tree.rglob("*"))
        packed = subprocess.run(["busybox", "cpio", "-o", "-H", "newc"], cwd=tree, input=listed.encode(),
                                capture_output=True, check=True)
        made = self.place / "initrd.gz"
        made.write_bytes(gzip.compress(packed.stdout, 1))
        return made

    def _needed(self) -> list[Path]:
        """The files of the modules, each after those that it needs."""
        base = next(self._modules().iterdir())
        needs, files = {}, {}
        for line in (base / "modules.dep").read_text().splitlines():
            name, _, rest = line.partition(":")
            needs[name] = rest.split()
            files[Path(name).name.split(".")[0].replace("-", "_")] = name
        order = []

        def add(name: str) -> None:
            if name not in order:
                for needed in reversed(needs[name]):
                    add(needed)
                order.append(name)

        for module in MODULES:
            if module in files:
                add(files[module])
        return [self._file(base, name) for name in order]

    def _file(self, base: Path, name: str) -> Path:
        path = base / name if not name.startswith("/") else self.unpacked / name[1:]
        if not path.exists():
            raise Missing(f"{os.path.basename(name)} is not in the kernel's package")
        return path
