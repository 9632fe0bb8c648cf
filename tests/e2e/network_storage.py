#!/usr/bin/env python3
"""Real NFSv4.2, in a virtual machine that is server and client of it.

network_storage.py PLACE SERVER [TESTS]: below PLACE the machine is made, and kept. SERVER is the program:
two of it work on one export, each by a mount and a cache of its own, with PostgreSQL beside. TESTS is the
binary of the tests of the storage, which run on the mount, too. What is missing is skipped by name.
"""

import glob
import shlex
import subprocess
import sys
from pathlib import Path

from virtual_machine import Machine, Missing

SECONDS = 900

# What looks at what only a local disk can do, or takes long without its processor.
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
mkdir -p /run/exported /run/first /run/second
mkfs.ext4 -q -E lazy_itable_init=1,lazy_journal_init=1 /dev/vda
mount -t ext4 /dev/vda /run/exported
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
TMPDIR=/run/first/tests FILESHED_TEST_WAY=root /run/tests --color never -q @not_here@
rm -r /run/first/tests
"""

SERVERS = """
cp @server@ /run/fileshed
mkdir -m 700 /run/database && chown nobody /run/database
as_nobody() { setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; }
as_nobody @postgres@/initdb -D /run/database/data -A trust -U fileshed -N >/dev/null
as_nobody @postgres@/pg_ctl -D /run/database/data -w -l /run/database/log start \\
    -o "-p 5432 -k /run/database -c listen_addresses=127.0.0.1 -c fsync=off" >/dev/null
export FILESHED_API_KEYS=service-key FILESHED_NAMESPACE=plain FILESHED_LOG_LEVEL=warn
export PGHOST=127.0.0.1 PGUSER=fileshed
attempt() {
    local number=$1 place port=8101 servers=() status=0
    mkdir /run/first/data$number || return
    @postgres@/psql -q -d postgres -c "CREATE DATABASE attempt$number" || return
    for place in first second; do
        FILESHED_REGISTRY=postgres://fileshed@127.0.0.1:5432/attempt$number \
            FILESHED_STORAGE_BASE_PATH=/run/$place/data$number FILESHED_BIND=127.0.0.1:$port \
            /run/fileshed serve >/run/$place.log 2>&1 &
        servers+=($!)
        for _ in $(seq 300); do
            (: >/dev/tcp/127.0.0.1/$port) 2>/dev/null && break
            sleep 0.2
        done
        port=$((port + 1))
    done
    python3 -B @scenario@ /run/exported/data$number 127.0.0.1:8101 127.0.0.1:8102 || status=1
    kill "${servers[@]}" 2>/dev/null
    wait "${servers[@]}"
    cat /run/first.log /run/second.log
    [ $status -ne 0 ] || GIT_DIR=/run/exported/data$number/users/ada/Documents/repo.git \
        git -c safe.directory='*' fsck --strict || status=1
    return $status
}
# Without its processor the machine may stand still for longer than others wait for a server.
for number in 1 2 3; do
    if attempt $number; then
        exit 0
    fi
    grep -q "stood still for too long" /run/first.log /run/second.log || exit 1
done
echo "SKIP: two servers on NFS: the emulated machine is slower than a lease"
"""


def main() -> None:
    place, programs = Path(sys.argv[1]), dict(zip(("server", "tests"), sys.argv[2:]))
    try:
        machine = Machine(place)
        postgres = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not postgres:
            raise Missing("PostgreSQL is not installed")
    except Missing as missing:
        print(f"SKIP: network storage: {missing}")
        return
    for name, program in programs.items():
        # Without its symbols a program of the tests is a fifth as large.
        subprocess.run(["strip", "-o", machine.place / name, program], check=True)
    script = BEGIN + (STORAGE if "tests" in programs else "") + SERVERS
    words = {
        "libraries": machine.library_path(), "unpacked": machine.unpacked, "postgres": postgres[-1],
        "server": machine.place / "server", "tests": machine.place / "tests",
        "scenario": Path(__file__).resolve().with_name("shared_directory.py"),
    }
    for name, word in words.items():
        script = script.replace(f"@{name}@", shlex.quote(str(word)))
    sys.exit(machine.run(script.replace("@not_here@", NOT_HERE), seconds=SECONDS))


if __name__ == "__main__":
    main()
