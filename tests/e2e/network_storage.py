#!/usr/bin/env python3
"""Runs tests of the storage on a real NFSv4.2 mount, in a virtual machine that is server and client.

network_storage.py PLACE NAME=PROGRAM[=PARTS]…: below PLACE the machine is made, and kept. PROGRAMs are
test binaries; PARTS are parts of the names of their tests, by commas. What is missing is skipped by name.
"""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from virtual_machine import Machine, Missing

SECONDS = 1500

MOUNT = """
set -e
export LD_LIBRARY_PATH=@libraries@ PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
mkdir /run/etc
for part in passwd group nsswitch.conf hosts ld.so.cache alternatives ssl protocols services; do
    [ ! -e /etc/$part ] || cp -a /etc/$part /run/etc/
done
mount --bind /run/etc /etc
cp @unpacked@/etc/netconfig /etc/netconfig
mkdir -p /run/exported /run/mounted /run/rpc_pipefs
mkfs.ext4 -q -E lazy_itable_init=1,lazy_journal_init=1 /dev/vda
mount -t ext4 /dev/vda /run/exported
chmod 1777 /run/exported
mount -t tmpfs lib /var/lib
mkdir -p /var/lib/nfs/v4recovery
touch /var/lib/nfs/etab /var/lib/nfs/rmtab
mount -t nfsd nfsd /proc/fs/nfsd
tools=@unpacked@/usr/sbin
$tools/exportfs -i -o rw,no_root_squash,no_subtree_check,fsid=0 127.0.0.1:/run/exported
$tools/rpc.mountd -N 3
$tools/rpc.nfsd -N 3 -G 10 -L 10 4
mount -i -t nfs4 -o vers=4.2,addr=127.0.0.1,clientaddr=127.0.0.1 127.0.0.1:/ /run/mounted
grep ' /run/mounted ' /proc/mounts
unset LD_LIBRARY_PATH
export TMPDIR=/run/mounted FILESHED_TEST_WAY=root
"""


def main() -> None:
    place, tests = Path(sys.argv[1]), [part.split("=") for part in sys.argv[2:]]
    try:
        machine = Machine(place)
    except Missing as missing:
        print(f"SKIP: network storage: {missing}")
        return
    script = MOUNT.replace("@libraries@", shlex.quote(machine.library_path()))
    script = script.replace("@unpacked@", shlex.quote(str(machine.unpacked)))
    for name, program, *parts in tests:
        # Without its symbols a program of the tests is a tenth as large.
        stripped = machine.place / name
        subprocess.run(["strip", "-o", stripped, program], check=True)
        names = " ".join(shlex.quote(part) for part in parts[0].split(",")) if parts else ""
        script += f"cp {shlex.quote(str(stripped))} /run/program\n/run/program {names}\n"
    sys.exit(machine.run(script, seconds=SECONDS))


if __name__ == "__main__":
    main()
