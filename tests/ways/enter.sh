#!/usr/bin/env bash
# Starts a program of the tests in a way of running, for ../ways.sh: enter.sh WAY PROGRAM [ARGUMENT…]
set -euo pipefail

way=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
case $way in
    root) exec "$@" ;;
    plain) exec python3 -B "$here/plain_renames.py" "$@" ;;
esac

launcher=()
if [ "$(id -u)" -eq 0 ]; then
    # The account of the image; the same number as in Dockerfile.
    account=10001
    launcher=(setpriv --reuid "$account" --regid "$account" --clear-groups
        --inh-caps=-all --ambient-caps=-all --bounding-set=-all --no-new-privs)

    # A clone below a directory of root's alone is shown at the same place, in mounts of our own.
    if ! "${launcher[@]}" test -x "$1" && [ -z "${FILESHED_TEST_SHOWN:-}" ]; then
        FILESHED_TEST_SHOWN=1 exec unshare --mount "$0" "$way" "$@"
    fi
    if [ -n "${FILESHED_TEST_SHOWN:-}" ]; then
        repository=$(cd "$here/../.." && pwd)
        place=$PWD
        barred=
        IFS=/ read -ra parts <<<"${repository#/}"
        for part in "${parts[@]}"; do
            barred+=/$part
            "${launcher[@]}" test -x "$barred" || break
        done
        if [ "$barred" != "$repository" ]; then
            kept=$(mktemp -d)
            mount --bind "$repository" "$kept"
            mount -t tmpfs -o mode=755 none "$barred"
            mkdir -p "$repository"
            mount --move "$kept" "$repository"
            cd "$place"
        fi
        unset FILESHED_TEST_SHOWN
    fi
    if ! "${launcher[@]}" test -x "$1"; then
        echo "SKIP: way $way: account $account cannot start $1"
        exit 0
    fi

    HOME=$(mktemp -d)
    trap 'rm -rf "$HOME"' EXIT
    chown "$account:$account" "$HOME"
    export HOME TMPDIR=$HOME
    # The account does not use root's own programs.
    export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
fi
[ "$way" != closed ] || launcher+=(python3 -B "$here/closed.py")
"${launcher[@]}" "$@"
