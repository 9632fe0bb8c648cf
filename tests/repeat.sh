#!/usr/bin/env bash
# Runs tests again and again beside other work: tests/repeat.sh ROUNDS [arguments of the test binary]
#
# Without arguments these are all tests of the binary `api`. FILESHED_TEST_BINARY names another one
# (crash, sandbox, docs), FILESHED_TEST_BUSY the number of loops that keep processors busy meanwhile
# (none). The first failure ends it, and its output, with the seed, is shown.
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=${1:-}
[[ $rounds =~ ^[1-9][0-9]*$ ]] || { sed -n '2,/^set/p' "$0" | sed '$d; s/^# \?//' >&2; exit 2; }
shift

name=${FILESHED_TEST_BINARY:-api}
built=$(cargo test --no-run --test "$name" 2>&1 | tee /dev/stderr)
binary=$(sed -n 's/.*Executable.*(\(.*\))$/\1/p' <<<"$built")

log=$(mktemp)
busy=()
# shellcheck disable=SC2317  # called by the trap
end() {
    [ ${#busy[@]} -eq 0 ] || kill "${busy[@]}"
    rm -f "$log"
}
trap end EXIT
for ((loop = 0; loop < ${FILESHED_TEST_BUSY:-0}; loop++)); do
    while :; do :; done &
    busy+=($!)
done

for ((round = 1; round <= rounds; round++)); do
    begun=$SECONDS
    if ! "$binary" "$@" >"$log" 2>&1; then
        cat "$log"
        echo "round $round of $rounds failed after $((SECONDS - begun)) s"
        exit 1
    fi
    echo "round $round of $rounds: $(grep '^test result' "$log") in $((SECONDS - begun)) s"
done
echo "$rounds rounds of $name $*: no failure in $SECONDS s"
