#!/usr/bin/env bash
# Runs the two commands of README.md on a Debian that has what README.md names and nothing else.
#
# The Debian is made by mmdebstrap for this run, and entered by pivot_root in namespaces of its own: a
# chroot would refuse the user namespaces that commands run in. There is no network in it but loopback.
# The toolchain of the machine, its downloaded crates and its settings of cargo are mounted read-only.
# Everything ends with the namespaces.
set -euo pipefail

# Packages that README.md names beside Linux and Rust.
packages=gcc,libc6-dev,git
# Longest that the server may take until it answers: it is built first.
patience=7200

# Prints the command between the fences that follow a line of README.md.
command_after() {
    awk -v line="$1" '$0 == line {seen = 1} seen && /^```$/ {exit} inside {print} seen && /^```sh$/ {inside = 1}' \
        README.md
}

# Prints the status line of `GET /health`.
health() {
    exec 3<>/dev/tcp/127.0.0.1/8000 || return
    printf 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
    head -n 1 <&3
    exec 3>&-
}

minutes() {
    printf '%d:%02d min  %s\n' $(($1 / 60)) $(($1 % 60)) "$2"
}

run_server() {
    local command begun=$SECONDS server
    command=$(command_after 'Run it:')
    [ -n "$command" ] || return 1
    echo "\$ $command"
    bash -c "$command" &
    server=$!
    until [[ $(health 2>/dev/null || true) == *' 200 '* ]]; do
        kill -0 "$server" 2>/dev/null || { echo 'the server ended'; return 1; }
        [ $((SECONDS - begun)) -lt "$patience" ] || { echo 'the server does not answer'; return 1; }
        sleep 1
    done
    table+=("$(minutes $((SECONDS - begun)) "$command, until GET /health answers")")
    kill "$server"
    wait "$server"
}

run_tests() {
    local command begun=$SECONDS status=0
    command=$(command_after '<!-- test command -->')
    [ -n "$command" ] || return 1
    echo "\$ $command"
    bash -c "$command" || status=$?
    table+=("$(minutes $((SECONDS - begun)) "$command")")
    return $status
}

# On the bare machine: the commands.
inside() {
    umount --lazy /old
    rmdir /old
    cd /repository
    local table=() failed=()
    # Not behind `||`, where `set -e` has no effect.
    set +e
    run_server
    [ $? -eq 0 ] || failed+=('the first command')
    run_tests
    [ $? -eq 0 ] || failed+=('the second command')
    set -e
    printf '%s\n' "${table[@]}"
    [ ${#failed[@]} -eq 0 ] || { printf 'failed: %s\n' "${failed[@]}"; exit 1; }
}

# In the new namespaces: mounts, and the way into the bare machine.
enter() {
    local root=$1 sysroot=$2 cargo=$3 name
    # The first process of a namespace ignores what it does not handle.
    trap 'exit 143' TERM INT
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    bind_read_only "$sysroot" "$root/opt/rust"
    for name in registry config.toml; do
        [ ! -e "$cargo/$name" ] || bind_read_only "$cargo/$name" "$root/opt/cargo/$name"
    done
    ip link set lo up
    mkdir "$root/old"
    cd "$root"
    pivot_root . old
    env --ignore-environment HOME=/root PATH=/opt/rust/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        CARGO_HOME=/opt/cargo CARGO_NET_OFFLINE=true ${CARGO_BUILD_JOBS:+CARGO_BUILD_JOBS="$CARGO_BUILD_JOBS"} \
        bash /repository/tests/e2e/bare.sh inside
}

bind_read_only() {
    if [ -d "$1" ]; then mkdir -p "$2"; else touch "$2"; fi
    mount --bind "$1" "$2"
    mount -o remount,bind,ro "$2"
}

# The settings of apt that lead to its mirror.
proxies() {
    apt-config dump Acquire::http::Proxy
    apt-config dump Acquire::https::Proxy
}

make_root() {
    local root=$1 sources=/etc/apt/sources.list.d/debian.sources options=() line
    [ -e "$sources" ] || sources=/etc/apt/sources.list
    while read -r line; do
        options+=(--aptopt="$line")
    done < <(proxies)
    # shellcheck source=/dev/null
    mmdebstrap --quiet --variant=minbase --include="$packages" "${options[@]}" \
        "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root" "$sources"
    # As every installation has it.
    printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
    mkdir -p "$root/opt/rust" "$root/opt/cargo"
}

main() {
    local program cargo begun=$SECONDS
    [ "$(id -u)" -eq 0 ] || { echo 'SKIP: a bare machine: not root'; exit 0; }
    for program in mmdebstrap unshare pivot_root ip apt-config; do
        command -v "$program" >/dev/null || { echo "SKIP: a bare machine: $program is not installed"; exit 0; }
    done
    cd "$(dirname "$0")/../.."
    # The crates are there before the network is gone.
    cargo fetch --locked
    cargo=${CARGO_HOME:-$HOME/.cargo}
    work=$(mktemp --directory --tmpdir=/var/tmp)
    trap 'rm --recursive --force --one-file-system "$work"' EXIT
    make_root "$work/root"
    git clone --quiet "file://$PWD" "$work/root/repository"
    echo "the bare machine is made: $((SECONDS - begun)) s"
    unshare --mount --net --pid --fork --kill-child \
        bash tests/e2e/bare.sh enter "$work/root" "$(rustc --print sysroot)" "$cargo"
}

case ${1:-} in
    enter | inside) "$@" ;;
    *) main ;;
esac
