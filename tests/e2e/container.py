#!/usr/bin/env python3
"""Runs the server in a container as compose makes it, without Docker, and asks how it is confined.

container.py PROGRAM: a container runtime (crun, or runc) starts PROGRAM as the image does: account
10001, no capabilities, no new privileges, a root that cannot be written. The system below it is this
machine's own. With what decides how commands are confined:

    default   Docker's own seccomp profile, and /proc as Docker masks it
    profile   the profile of this repository (docker-compose.yml with its two lines)
    full      the same with /proc whole, and namespaces required (docker-compose.full.yml)
    groups    the same with a control group of its own (writable-cgroups), where this machine has
              control groups of version 2

Docker's own profile is part of its source, which Debian has as golang-github-docker-docker-dev;
DOCKER_PROFILE names it elsewhere. What is missing is skipped by name.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
OWN_PROFILE = REPOSITORY / ".docker/seccomp.json"
SOURCE = "usr/share/gocode/src/github.com/docker/docker/profiles/seccomp/default.json"
DOCKER_PROFILE = Path(os.environ.get("DOCKER_PROFILE", f"/{SOURCE}"))

ACCOUNT = 10001
ARCHITECTURES = {"x86_64": ("amd64", "SCMP_ARCH_X86_64"), "aarch64": ("arm64", "SCMP_ARCH_AARCH64")}

# Paths that Docker hides, and paths that it makes read-only.
MASKED = ["/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys",
          "/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug",
          "/proc/scsi", "/sys/firmware"]
READ_ONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]

# Starts the server in the container and prints what it says, a line each.
INSIDE = """
/fileshed serve >/tmp/log 2>&1 &
for _ in $(seq 300); do
    curl --silent --fail http://127.0.0.1:8000/ready >/dev/null && break
    sleep 0.1
done
curl --silent http://127.0.0.1:8000/ready >/dev/null || cat /tmp/log >&2
curl --silent http://127.0.0.1:8000/health; echo
curl --silent -H 'Authorization: Bearer 8f14e45fceea167a5a36' -H 'X-OpenWebUI-User-Id: ada' \\
    -H 'Content-Type: application/json' -d '{"command": "'"$LINE"'"}' \\
    'http://127.0.0.1:8000/terminal/execute?wait=60'; echo
/fileshed doctor 2>&1 | grep -E '^[a-z]+ +(sandbox|programs|memory):'
"""

# A command that prints its directory, and tries to read files that it must not see.
LINE = "pwd; ls -m /; ls /data; cat /etc/shadow; echo end"


def allowed(profile: dict) -> dict:
    """A profile as Docker reads it for a container without capabilities, in the runtime's words."""
    name, architecture = ARCHITECTURES[platform.machine()]
    rules = []
    for rule in profile["syscalls"]:
        only, never = rule.get("includes") or {}, rule.get("excludes") or {}
        if only.get("caps") or name not in (only.get("arches") or [name]):
            continue
        if name in (never.get("arches") or []):
            continue
        kept = {key: rule[key] for key in ("action", "args", "errnoRet") if rule.get(key) is not None}
        rules.append(kept | {"names": rule.get("names") or [rule["name"]]})
    kept = {key: profile[key] for key in ("defaultAction", "defaultErrnoRet") if key in profile}
    return kept | {"architectures": [architecture], "syscalls": rules}


def gives_groups() -> bool:
    controllers = Path("/sys/fs/cgroup/cgroup.controllers")
    return controllers.exists() and {"memory", "pids"} <= set(controllers.read_text().split())


def specification(program: Path, seccomp: dict, way: str, environment: dict) -> dict:
    """The container, as the runtime reads it."""
    read_only = ["ro", "rbind", "nosuid", "nodev"]
    mounts = [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
        {"destination": "/dev/pts", "type": "devpts", "source": "devpts",
         "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"]},
        {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=1777"]},
        {"destination": "/data", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=1777"]},
        {"destination": "/usr", "type": "bind", "source": "/usr", "options": read_only},
        {"destination": "/etc", "type": "bind", "source": "/etc", "options": read_only},
        {"destination": "/fileshed", "type": "bind", "source": str(program), "options": ["ro", "bind"]},
    ]
    namespaces = ["pid", "ipc", "uts", "mount", "network"]
    if way == "groups":
        namespaces.append("cgroup")
        mounts.append({"destination": "/sys", "type": "tmpfs", "source": "tmpfs"})
        mounts.append({"destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup",
                       "options": ["rw", "nosuid", "noexec", "nodev"]})
    masks = way in ("default", "profile")
    own = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "FILESHED_STORAGE_BASE_PATH": "/data",
        "FILESHED_API_KEYS": "8f14e45fceea167a5a36",
        "LINE": LINE,
    }
    variables = [f"{name}={value}" for name, value in (own | environment).items()]
    return {
        "ociVersion": "1.0.0",
        "root": {"path": "rootfs", "readonly": True},
        "hostname": "container",
        "process": {
            "user": {"uid": ACCOUNT, "gid": ACCOUNT},
            "args": ["/bin/bash", "-c", INSIDE],
            "env": variables,
            "cwd": "/data",
            "noNewPrivileges": True,
            "capabilities": {},
        },
        "mounts": mounts,
        "linux": {
            "namespaces": [{"type": kind} for kind in namespaces],
            "seccomp": seccomp,
            "maskedPaths": MASKED if masks else [],
            "readonlyPaths": READ_ONLY if masks else [],
        },
    }


def run(runtime: list[str], bundle: Path, name: str, what: dict) -> tuple[dict, dict, str]:
    """Runs the container; returns the server's status, the result of a command, and the output of doctor."""
    (bundle / "config.json").write_text(json.dumps(what))
    made = f"fileshed-{name}-{os.getpid()}"
    ended = subprocess.run([*runtime, "run", "--bundle", str(bundle), made],
                           capture_output=True, text=True, timeout=180, check=False)
    lines = ended.stdout.splitlines()
    if len(lines) < 3 or not lines[0]:
        sys.exit(f"{name}: the container ended with {ended.returncode} and said {ended.stdout!r} {ended.stderr!r}")
    return json.loads(lines[0]), json.loads(lines[1]), "\n".join(lines[2:])


def working_runtime(bundle: Path, what: dict, grouped: bool) -> tuple[list[str], str]:
    """The first runtime that starts anything on this machine; without one, what each said."""
    said = []
    for program in ("crun", "runc"):
        found = shutil.which(program)
        if not found:
            said.append(f"{program} is not installed")
            continue
        manager = "cgroupfs" if grouped else "disabled"
        runtime = [found, f"--cgroup-manager={manager}"] if program == "crun" else [found]
        nothing = what | {"process": what["process"] | {"args": ["/bin/true"]}}
        (bundle / "config.json").write_text(json.dumps(nothing))
        ended = subprocess.run([*runtime, "run", "--bundle", str(bundle), f"probe-{os.getpid()}"],
                               capture_output=True, text=True, timeout=60, check=False)
        if ended.returncode == 0:
            return runtime, ""
        said.append(f"{program}: {ended.stderr.strip()}")
    return [], "; ".join(said)


def expect(name: str, is_so: bool, what: str) -> None:
    if not is_so:
        sys.exit(f"{name}: {what}")


def main() -> None:
    program = Path(sys.argv[1]).resolve()
    if os.geteuid() != 0:
        print("SKIP: containers: not root")
        return
    grouped = gives_groups()
    own = allowed(json.loads(OWN_PROFILE.read_text()))
    required = {"FILESHED_EXEC_NAMESPACES": "required", "FILESHED_EXEC_PROGRAMS": "*"}
    ways = [("profile", own, {}), ("full", own, required)]
    if grouped:
        ways.append(("groups", own, required))
    else:
        print("SKIP: containers: groups: there are no control groups of version 2")
    if DOCKER_PROFILE.exists():
        ways.insert(0, ("default", allowed(json.loads(DOCKER_PROFILE.read_text())), {}))
    else:
        print(f"SKIP: containers: default: there is no {DOCKER_PROFILE}")
    with tempfile.TemporaryDirectory() as place:
        bundle = Path(place)
        rootfs = bundle / "rootfs"
        for directory in ("proc", "dev", "tmp", "data", "usr", "etc", "sys"):
            (rootfs / directory).mkdir(parents=True)
        # runc gives what is mounted the mode of the directory below it.
        for directory in ("tmp", "data"):
            (rootfs / directory).chmod(0o1777)
        (rootfs / "fileshed").touch()
        for link in ("bin", "sbin", "lib", "lib64"):
            if Path("/", link).is_symlink():
                (rootfs / link).symlink_to(f"usr/{link}")
        plain = specification(program, own, "profile", {})
        runtime, said = working_runtime(bundle, plain, grouped)
        if not runtime:
            print(f"SKIP: containers: no runtime starts one here: {said}")
            return
        for name, seccomp, environment in ways:
            what = specification(program, seccomp, name, environment)
            if name == "groups":
                runtime, said = working_runtime(bundle, what, grouped)
                if not runtime:
                    print(f"SKIP: containers: groups: no runtime gives it one here: {said}")
                    continue
            health, ran, doctor = run(runtime, bundle, name, what)
            output = "".join(entry["data"] for entry in ran.get("output", []))
            print(f"== {name}: {json.dumps(health)}\n{doctor}\n{output}")
            expect(name, "/storage\n" in output and "end\n" in output, "a line of the shell runs")
            expect(name, "root:" not in output, "it reads nothing of the machine's accounts")
            expect(name, health["sandbox"] == "enforced", "commands are confined")
            separate = name != "default"
            expect(name, health["namespaces"] is separate, f"namespaces: {separate}")
            if separate:
                expect(name, "documents, " in output, "the tree is there")
                expect(name, "'/data': No such file" in output, "the data are not there")
            else:
                expect(name, health["isolation"] == "reduced", "it says that it is reduced")
                expect(name, "there are no namespaces" in doctor, "doctor says why")
            if name in ("full", "groups"):
                if "Linux 6.15 knows all rights" in doctor:
                    print(f"SKIP: containers: {name}: this kernel's Landlock is too old")
                    continue
                expect(name, health["isolation"] == "full", "it says that it is full")
                expect(name, "processes and memory of its own" in doctor, "doctor says so")
            if name == "groups":
                expect(name, health["memory_limit"] == "command", "it bounds commands as a whole")
    print("containers: as they should be")


if __name__ == "__main__":
    main()
