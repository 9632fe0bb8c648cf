#!/usr/bin/env python3
"""Real NFSv4.2, in a virtual machine that is server and client of it.

network_storage.py PLACE SERVER [TESTS]: below PLACE the machine is made, and kept. SERVER is the program:
two of it work on one export, each by a mount and a cache of its own, with PostgreSQL beside; in the middle
of their work the power is cut. TESTS is the binary of the tests of the storage, which run on the mount, too.
What is missing is skipped by name.
"""

import glob
import random
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from power_cut import ACKNOWLEDGED
from shared_directory import LATER
from virtual_machine import Machine, Missing, Slow

SECONDS = 900

# Answers after which the power is cut, at least and at most.
ANSWERS = (30, 60)

# Tests of features that only a local disk has, or that take long without its processor.
NOT_HERE = "--skip cached:: --skip what_nobody_may_look_into --skip trees_of_any_depth --skip watch::"

BEGIN = """
set -e
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
tools=@unpacked@/usr/sbin libraries=@libraries@
mkdir /run/etc
for part in passwd group nsswitch.conf hosts ld.so.cache alternatives ssl protocols services python3 python3.*; do
    [ ! -e /etc/$part ] || cp -a /etc/$part /run/etc/
done
cp @unpacked@/etc/netconfig /run/etc/
mount --bind /run/etc /etc
mkdir -p /run/disk /run/exported /run/first /run/second
mount -t ext4 /dev/vda /run/disk 2>/dev/null || {
    mkfs.ext4 -q -E lazy_itable_init=1,lazy_journal_init=1 /dev/vda
    mount -t ext4 /dev/vda /run/disk
    mkdir /run/disk/exported
    mkdir -m 700 /run/disk/database && chown nobody /run/disk/database
}
mount --bind /run/disk/exported /run/exported
chmod 1777 /run/exported
mount -t tmpfs lib /var/lib
mkdir -p /var/lib/nfs/v4recovery
touch /var/lib/nfs/etab /var/lib/nfs/rmtab
mount -t nfsd nfsd /proc/fs/nfsd
# Both mounts are of one client, to which the server would give files to keep without asking again.
echo 0 >/proc/sys/fs/leases-enable
LD_LIBRARY_PATH=$libraries $tools/exportfs -i -o rw,no_root_squash,no_subtree_check,fsid=0 \\
    127.0.0.1:/run/exported
LD_LIBRARY_PATH=$libraries $tools/rpc.mountd -N 3
LD_LIBRARY_PATH=$libraries $tools/rpc.nfsd -N 3 -G 10 -L 10 4
for place in first second; do
    mount -i -t nfs4 -o vers=4.2,nosharecache,actimeo=0,lookupcache=none,addr=127.0.0.1,clientaddr=127.0.0.1 127.0.0.1:/ /run/$place
    grep " /run/$place " /proc/mounts | cut -d' ' -f3,4
done
"""

STORAGE = """
cp @tests@ /run/tests
mkdir /run/first/tests
TMPDIR=/run/first/tests /run/tests --color never -q @not_here@
rm -r /run/first/tests
"""

DATABASE = """
cp @server@ /run/fileshed
as_nobody() { setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; }
database=/run/disk/database/data
[ -e $database ] || as_nobody @postgres@/initdb -D $database -A trust -U fileshed -N >/dev/null
export PGCTLTIMEOUT=@seconds@
as_nobody @postgres@/pg_ctl -D $database -w -l /run/disk/database/log start \\
    -o "-p 5432 -k /run/disk/database -c listen_addresses=127.0.0.1 -c fsync=@fsync@" >/dev/null
export FILESHED_API_KEYS=service-key FILESHED_NAMESPACE=plain FILESHED_LOG_LEVEL=warn
export FILESHED_EXEC_TIMEOUT_DEFAULT=300
# Without its processor the machine may stand still for longer than others wait for a server.
is_too_slow() {
    [ $1 -eq @later@ ] || grep -q "stood still for too long" /run/first.log /run/second.log
}
export PGHOST=127.0.0.1 PGUSER=fileshed
start_servers() {
    local number=$1 place port=8101
    servers=()
    for place in first second; do
        FILESHED_REGISTRY=postgres://fileshed@127.0.0.1:5432/attempt$number \\
            FILESHED_STORAGE_BASE_PATH=/run/$place/data$number FILESHED_BIND=127.0.0.1:$port \\
            /run/fileshed serve >/run/$place.log 2>&1 &
        servers+=($!)
        until (: >/dev/tcp/127.0.0.1/$port) 2>/dev/null || ! kill -0 $!; do
            sleep 0.2
        done
        port=$((port + 1))
    done
}
"""

SERVERS = """
attempt() {
    local number=$1 status=0
    mkdir /run/first/data$number || return
    @postgres@/psql -q -d postgres -c "CREATE DATABASE attempt$number" || return
    start_servers $number
    python3 -B @scenario@ /run/exported/data$number 127.0.0.1:8101 127.0.0.1:8102 || status=$?
    kill "${servers[@]}" 2>/dev/null
    wait "${servers[@]}"
    cat /run/first.log /run/second.log
    [ $status -ne 0 ] || GIT_DIR=/run/exported/data$number/users/ada/Documents/repo.git \
        git -c safe.directory='*' fsck --strict || status=1
    return $status
}
for number in 1 2 3; do
    status=0
    attempt $number || status=$?
    [ $status -ne 0 ] || exit 0
    is_too_slow $status || exit 1
done
echo "SKIP: two servers on NFS: the emulated machine is slower than a lease"
"""

# Before the power is cut, and after it.
WRITE = """
export FILESHED_DURABILITY=strict
mkdir /run/first/data1
@postgres@/psql -q -d postgres -c "CREATE DATABASE attempt1"
start_servers 1
python3 -B @power_cut@ write 127.0.0.1:8101 127.0.0.1:8102
cat /run/first.log /run/second.log
"""

VERIFY = """
export FILESHED_DURABILITY=strict
for number in 1 2 3; do
    status=0
    start_servers 1
    python3 -B @power_cut@ verify @acknowledged@ 127.0.0.1:8101 127.0.0.1:8102 || status=$?
    kill "${servers[@]}" 2>/dev/null || :
    wait "${servers[@]}" || :
    cat /run/first.log /run/second.log
    if [ $status -eq 0 ]; then
        GIT_DIR=/run/exported/data1/users/ada/Documents/repo.git git -c safe.directory='*' fsck --strict
        exit
    fi
    is_too_slow $status || exit 1
done
echo "SKIP: power cut on NFS: the emulated machine is slower than a lease"
"""


def main() -> None:
    try:
        work()
    except (Missing, Slow) as problem:
        print(f"SKIP: network storage: {problem}")


def work() -> None:
    place, programs = Path(sys.argv[1]), dict(zip(("server", "tests"), sys.argv[2:]))
    machine = Machine(place)
    postgres = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not postgres:
        raise Missing("PostgreSQL is not installed")
    for name, program in programs.items():
        # Without its symbols a program of the tests is a fifth as large.
        subprocess.run(["strip", "-o", machine.place / name, program], check=True)
    acknowledged = machine.place / "acknowledged"
    words = {
        "libraries": machine.library_path(), "unpacked": machine.unpacked, "postgres": postgres[-1],
        "server": machine.place / "server", "tests": machine.place / "tests", "acknowledged": acknowledged,
        "scenario": Path(__file__).resolve().with_name("shared_directory.py"),
        "power_cut": Path(__file__).resolve().with_name("power_cut.py"),
        "later": LATER, "seconds": SECONDS,
    }

    def filled(script: str, **more: str) -> str:
        for name, word in (words | more).items():
            script = script.replace(f"@{name}@", shlex.quote(str(word)))
        return script.replace("@not_here@", NOT_HERE)

    script = BEGIN + (STORAGE if "tests" in programs else "") + DATABASE + SERVERS
    status = machine.run(filled(script, fsync="off"), seconds=SECONDS)
    if status:
        sys.exit(status)
    cut_power(machine, acknowledged, random.randint(*ANSWERS), filled)


def cut_power(machine: Machine, acknowledged: Path, answers: int, filled: Callable[..., str]) -> None:
    """Cuts the power after so many answers, and looks at what is there then."""
    lines = []

    def are_enough(line: str) -> bool:
        if line.startswith(ACKNOWLEDGED):
            lines.append(line)
        return len(lines) >= answers

    machine.forget_disk()
    status = machine.run(filled(BEGIN + DATABASE + WRITE, fsync="on"), seconds=SECONDS, keep=True, cut=are_enough)
    if status is not None:
        print("SKIP: power cut on NFS: the emulated machine is slower than a lease")
        return
    acknowledged.write_text("\n".join(lines) + "\n")
    status = machine.run(filled(BEGIN + DATABASE + VERIFY, fsync="on"), seconds=SECONDS, keep=True)
    machine.forget_disk()
    if status:
        sys.exit(status)
    print(f"the power was cut after {answers} answers of two servers")


if __name__ == "__main__":
    main()
