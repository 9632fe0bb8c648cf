#!/usr/bin/env bash
# Runs the tests in one of four ways: tests/ways.sh WAY [arguments of cargo test]
#
#   root     as root, with namespaces: how the program is tried by hand
#   image    as uid 10001 without capabilities: the shipped image on a host that gives it namespaces
#   closed   the same where nothing makes a namespace: the shipped image in Docker's default profile
#   plain    as way root, where renames do what those of NFS do: nothing is kept or exchanged by them
#
# `FILESHED_TEST_WAY` tells tests which it is, and that way plain is way root. An ordinary user runs image
# and closed under their own account.
set -euo pipefail

way=${1:-}
case $way in
    root | image | closed | plain) shift ;;
    *)
        sed -n '2,/^#   plain/s/^# \?//p' "$0" >&2
        exit 2
        ;;
esac
if [[ $way == root || $way == plain ]] && [ "$(id -u)" -ne 0 ]; then
    echo "SKIP: way $way: the caller is not root"
    exit 0
fi
enter=$(cd "$(dirname "$0")" && pwd)/ways/enter.sh
export FILESHED_TEST_WAY=${way/plain/root}
[ "$way" != plain ] || export FILESHED_TEST_RENAMES=plain
exec cargo --config "target.'cfg(unix)'.runner=['$enter','$way']" test "$@"
