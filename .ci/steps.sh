# The steps of .ci/run and .ci/nightly: one function a step, named for the step. Both scripts source
# this file from the root of the repository. A step fails with its first failing command.

target=${CARGO_TARGET_DIR:-target}
state=$target/ci
# A clean clone is built once, so what incremental builds would keep is not written.
export CARGO_INCREMENTAL=0
export PYTHONDONTWRITEBYTECODE=1
mkdir -p "$state"
# Every skip of the run, each behind its environment if it is of a test.
skips=$state/skips
: >"$skips"
table=()
failed=()

# Records a check that this machine cannot do.
skip() {
    echo "SKIP: $1" | tee --append "$skips"
}

# Runs the function of a step and records its time and result. The caller decides what a failure ends.
step() {
    local name=$1 begun=$SECONDS status seconds
    echo "== $name"
    # `set -e` has no effect in a function called behind `if` or `||`, so neither is used here.
    set +e
    (
        set -e
        "${name//-/_}"
    )
    status=$?
    set -e
    seconds=$((SECONDS - begun))
    if [ "$status" -eq 0 ]; then
        table+=("$(printf '%5d s  %s' "$seconds" "$name")")
    else
        table+=("$(printf '%5d s  %s: FAILED' "$seconds" "$name")")
        failed+=("$name")
    fi
    echo "$seconds s; $(df --human-readable --output=avail . | tail -n 1 | tr -d ' ') free on the disk"
}

# Prints the table of steps and every skip, by reason.
report() {
    echo "== steps"
    printf '%s\n' "${table[@]}"
    echo "== skips: $(wc -l <"$skips")"
    sort "$skips"
}

# Runs a program of tests/e2e or tests/corpus, keeps its output, and records its skips.
end_to_end() {
    local log=$state/$1.log
    shift
    FILESHED_BIN=$target/debug/fileshed "$@" 2>&1 | tee "$log"
    { grep -o '^SKIP: .*' "$log" || true; } | sort -u >>"$skips"
}

# Python with the distribution's selenium.
system_python() {
    if [ -x /usr/bin/python3 ]; then echo /usr/bin/python3; else echo python3; fi
}

# Runs a test command in an environment of tests/ways.sh and prints the result of each binary; the whole
# output is shown after a failure only. The arguments after the command are parts of names of tests.
run_tests() {
    local environment=$1 test_command=$2 log status=0
    shift 2
    log=$state/tests-$environment.log
    # Test binaries append each skip to this file, also those that run under another account.
    FILESHED_TEST_SKIPS=$(realpath "$state")/skips-$environment
    export FILESHED_TEST_SKIPS
    : >"$FILESHED_TEST_SKIPS"
    chmod a+w "$FILESHED_TEST_SKIPS"
    echo "\$ $test_command -- $*"
    bash -e -c "$test_command -- $*" 2>&1 | tee "$log" \
        | grep --line-buffered -E '^ +(Running|Doc-tests) |^test .* FAILED$|^test result:|^error' \
        || status=$?
    sort -u "$FILESHED_TEST_SKIPS" | sed "s/^/$environment: /" >>"$skips"
    if [ "$status" -ne 0 ]; then
        sed -n '/^failures:$/,/^test result/p' "$log"
        tail -n 40 "$log"
        return "$status"
    fi
}

# --- What the machine needs ---

# Packages of the gate: those that the image installs for commands, and the clients of the smoke tests.
packages_of_gate() {
    sed -n '/# commands: begin/,/# commands: end/p' Dockerfile | grep -o '[a-z0-9][a-z0-9.+-]*' \
        | grep -vxE 'commands|begin|end'
    printf '%s\n' build-essential git pkg-config python3-venv tesseract-ocr \
        chromium chromium-driver python3-selenium fonts-dejavu-core litmus postgresql \
        attr rename netcat-openbsd libfaketime xfsprogs
    # Real CSV files that tests import.
    printf '%s\n' distro-info-data ieee-data
}

# Packages of the night: further clients, proxies, containers and a virtual machine.
packages_of_night() {
    printf '%s\n' python3-yaml firefox-esr runc rclone cadaver davfs2 haproxy nginx-light caddy \
        docker-compose qemu-system-x86 busybox-static e2fsprogs iproute2 mmdebstrap \
        libreoffice-calc-nogui python3-openpyxl python3-pandas
}

# Prints the packages that the machine has.
installed_packages() {
    dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p'
}

install_packages() {
    if ! command -v apt-get >/dev/null; then
        skip "packages: no apt-get on this system"
        return
    fi
    local missing
    mapfile -t missing < <(printf '%s\n' "$@" | grep -vxFf <(installed_packages))
    [ ${#missing[@]} -ne 0 ] || return 0
    echo "missing: ${missing[*]}"
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! sudo -n true 2>/dev/null; then
            skip "packages: ${missing[*]}: not root"
            return
        fi
        as_root=(sudo -n)
    fi
    export DEBIAN_FRONTEND=noninteractive
    if ! { "${as_root[@]}" apt-get update -qq \
        && "${as_root[@]}" apt-get install -qq --yes --no-install-recommends "${missing[@]}"; }; then
        skip "packages: ${missing[*]}: apt-get failed"
    fi
}

# Installs a Python package with its programs into a virtual environment below the target directory.
install_python() {
    local venv=$state/$1
    shift
    [ ! -e "$venv/complete" ] || return 0
    rm -rf "$venv"
    if python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check "$@"; then
        touch "$venv/complete"
    else
        skip "$*: pip cannot install it"
    fi
}

# The libraries whose readings of sample files are trusted.
install_python_corpus() {
    install_python corpus python-docx==1.2.0 python-pptx==1.0.2 odfpy==1.4.1 openpyxl==3.1.5 \
        xlrd==2.0.2 pyxlsb==1.0.10
}

# A provider of OpenID Connect and the validator of OpenAPI documents.
install_python_tools() {
    install_python oidc oidc-provider-mock==0.3.4
    install_python venv openapi-spec-validator==0.9.0
}

installation() {
    # shellcheck disable=SC2046
    install_packages $(packages_of_gate)
    install_python_tools
    tests/e2e/openwebui.sh --install-only --smoke
    python3 tests/e2e/mcp.py --install-only python
    "$(system_python)" tests/e2e/people.py --install-only --smoke
}

# Steps that read the tree or compile it, and need nothing but Rust and Python.
needs_nothing='lock-file|format|layers|clocks|prose|dependency-policy|traces|lints|lints-without-tls'
needs_nothing+='|documentation|generated-documents|page-libraries|fuzzing'

# Installs what the other steps of this run need.
installation_of_night() {
    local name needing
    needing=$(printf '%s\n' "${steps[@]}" | grep -vxE "installation-of-night|$needs_nothing") || return 0
    # shellcheck disable=SC2046
    install_packages $(packages_of_gate) $(packages_of_night)
    install_python_tools
    for name in $needing; do
        case $name in
            corpus) install_python_corpus ;;
            open-webui) tests/e2e/openwebui.sh --install-only ;;
            mcp-clients) python3 tests/e2e/mcp.py --install-only ;;
            page) "$(system_python)" tests/e2e/people.py --install-only ;;
        esac
    done
}

# --- What is read without being run ---

lock_file() {
    cargo metadata --locked --format-version 1 \
        --filter-platform x86_64-unknown-linux-gnu >"$state/metadata.json"
}

format() {
    cargo fmt --all --check
}

lints() {
    cargo clippy --all-targets --locked -- -D warnings
}

lints_without_tls() {
    cargo clippy --bin fileshed --no-default-features --locked -- -D warnings
}

# Crates and modules know only what lies below them, no name stands for two types, and no part grows beyond
# its budget.
layers() {
    python3 .ci/layers.py <"$state/metadata.json"
    python3 .ci/budgets.py
}

# No test decides by the clock: tests wait with the helpers of one file. Clippy cannot hold this, because a
# crate of tests that looks at files lifts the ban of .clippy.toml on all methods at once.
clocks() {
    local banned='Instant::now|SystemTime::now|thread::sleep|time::(sleep|timeout)'
    ! git grep -nE "$banned|(^|[^a-z])Duration::(from_|new)" -- 'tests/*.rs' ':!tests/servers' \
        ':!tests/support/wait.rs' ':!tests/support/processes.rs'
}

# Comments say what items are, in sentences that end.
prose() {
    python3 .ci/prose.py
}

documentation() {
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --locked --document-private-items
}

generated_documents() {
    program
    "$target/debug/fileshed" openapi >openapi/fileshed.json
    "$target/debug/fileshed" openapi --terminal >openapi/terminal.json
    "$target/debug/fileshed" openapi --fs >openapi/fs.json
    git diff --exit-code -- openapi
}

openapi_validation() {
    local document
    if ! [ -e "$state/venv/complete" ]; then
        skip "openapi-spec-validator is not installed"
        return
    fi
    for document in openapi/*.json; do
        "$state/venv/bin/openapi-spec-validator" "$document"
    done
}

dependency_policy() {
    if command -v cargo-deny >/dev/null; then
        cargo deny --offline check licenses bans sources
    else
        echo "cargo-deny is not installed: .ci/policy.py reads deny.toml instead"
        python3 .ci/policy.py <"$state/metadata.json"
    fi
}

# Names of directories of one machine are not in the repository.
traces() {
    local found=0
    # The pattern is written so that it does not find itself.
    git grep -nIE '(^|[^A-Za-z0-9._}/-])/((home|Users)/[A-Za-z0-9._-]+/|root/[A-Za-z0-9_-])' -- . ':!Cargo.lock' && found=1
    # A name below the root alone, as `/app`, is not of one machine.
    [[ $(pwd) != /*/* ]] || ! git grep -nIF "$(pwd)/" -- . || found=1
    return $found
}

# --- Tests of cargo ---

# The command that README.md tells people to use. It must not change the lock file.
tests() {
    local test_command
    test_command=$(sed -n '/^<!-- test command -->$/,/^```$/p' README.md | sed '1,2d;$d')
    [ -n "$test_command" ] || { echo "README.md has no test command"; return 1; }
    if [ "$(id -u)" -eq 0 ]; then
        run_tests root "FILESHED_TEST_WAY=root $test_command"
    else
        skip "tests, way root: not root"
        run_tests caller "$test_command"
    fi
    git diff --exit-code -- Cargo.lock
}

# Attacks and ordinary work of commands under uid 10001 without namespaces.
sandbox_closed() {
    run_tests closed "tests/ways.sh closed --no-fail-fast --test sandbox"
}

# Everything that starts commands or depends on the account of the server, in one environment.
tests_in_way() {
    local way=$1 command="tests/ways.sh $1 --no-fail-fast"
    run_tests "$way" "$command --test sandbox"
    run_tests "$way" "$command --test api" ops::exec jobs:: terminal::
    run_tests "$way" "$command --test crash" faults:: overwrite:: terminal::
}

tests_in_image() {
    tests_in_way image
}

tests_closed() {
    tests_in_way closed
}

# Renames that neither keep nor exchange names, as on NFS.
tests_of_plain_renames() {
    if [ "$(id -u)" -ne 0 ]; then
        skip "tests, way plain: not root"
        return
    fi
    local command="tests/ways.sh plain --no-fail-fast"
    run_tests plain "$command -p fileshed-storage"
    run_tests plain "$command --test api" ops::rename ops::delete ops::bin ops::crossings ops::zip \
        ops::unzip ops::lockedit groups::moves dav::trees fs::tools
    run_tests plain "$command --test crash" kills:: overwrite:: by_hand:: bin::
}

has_postgres() {
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null && return
    skip "tests on PostgreSQL: it is not installed"
    return 1
}

# Two servers on the same data, each of which gets one request in turn.
two_servers() {
    has_postgres || return 0
    run_tests two-servers "FILESHED_TEST_REGISTRY=postgres FILESHED_TEST_SERVERS=2 cargo test --no-fail-fast --test api" \
        groups::moves transfer::resumable dav::locks terminal::servers ops::lockedit_open sign_in::link \
        --skip a_lock_ends_with_its_time --skip an_upload_that_nobody --skip uploads_that_end_leave \
        --skip an_old_link_or_one
}

# The registry on PostgreSQL: tests of all that keeps rows there, through the whole server. The tests of the
# crate itself run on both databases everywhere. Tests that change rows of the file by hand are left out.
tests_on_postgres() {
    has_postgres || return 0
    local command="FILESHED_TEST_REGISTRY=postgres cargo test --no-fail-fast"
    run_tests postgres "$command --test api" server:: transfer:: --skip links_that_do_not_work --skip no_list_has_the_password
    run_tests postgres "$command --test crash" kills:: bin:: resumable:: race:: upgrade::
}

# Three servers on the same data behind the proxy of deploy/. Three kinds of tests are left out. Some
# concern the state that each server has for itself (SPEC.md): saves and sidecar files of programs, time of
# the last call, counters. Others change rows of the file by hand, or move the clock of a server, which only
# a test in its process can.
tests_on_several_servers() {
    has_postgres || return 0
    local variables name left_out=() own
    variables="FILESHED_TEST_REGISTRY=postgres FILESHED_TEST_SERVERS=3"
    if [ -x /usr/sbin/haproxy ]; then
        variables+=" FILESHED_TEST_PROXY=haproxy"
    else
        skip "a proxy before several servers: HAProxy is not installed"
    fi
    own="the_server_is_shown_in_numbers the_last_call_is_the_last_one dav::saves sidecar_files
        lockedit_save::changed links_that_do_not_work a_lock_ends_with_its_time a_collection_moves_is_copied
        it_ends_after_its_days uploads_that_end_leave an_old_link_or_one a_session_ends_with_its_token
        a_link_ends_as_soon an_upload_that_nobody who_reads_does_not_wait an_archive_that_lasts
        answers_are_remembered is_asked_again_after_minutes a_browser_keeps_the no_list_has_the_password
        a_link_gets_another_end a_download_is_an_answer guesses_wait_for_each
        a_browser_that_had_the_password a_client_that_hangs_up_frees slow_downloads_leave"
    for name in $own; do
        left_out+=(--skip "$name")
    done
    run_tests several "$variables cargo test --no-fail-fast --test api" groups:: admin:: sign_in:: dav:: \
        mcp:: transfer:: ops::rename ops::bin ops::crossings ops::lockedit "${left_out[@]}"
}

# Kills of the server at 500 moments a mode, from a new seed; fewer where a round takes long.
kills() {
    local seed=${FILESHED_TEST_SEED:-$RANDOM$RANDOM}
    echo "seed: $seed"
    run_tests kills "FILESHED_TEST_SEED=$seed FILESHED_TEST_ROUNDS=500 \
        cargo test --no-fail-fast --test crash" kills:: append:: bin:: carrier:: resumable::
    run_tests model-kills "FILESHED_TEST_SEED=$seed FILESHED_TEST_ROUNDS=200 \
        cargo test --no-fail-fast --test api" ops::undo::model
    run_tests long-kills "FILESHED_TEST_SEED=$seed FILESHED_TEST_ROUNDS=40 \
        FILESHED_TEST_CALLS=20000 FILESHED_TEST_COMMANDS=1000 \
        cargo test --no-fail-fast --test crash --test sandbox" \
        large:: many:: removal:: tenant_import:: rounds:: race:: endurance::
}

# Generated cases and random walks from ten new seeds.
seeds() {
    local seed round variables
    for round in 1 2 3 4 5 6 7 8 9 10; do
        seed=$RANDOM$RANDOM
        echo "round $round, seed: $seed"
        variables="PROPTEST_RNG_SEED=$seed FILESHED_TEST_SEED=$seed FILESHED_TEST_STEPS=2000"
        run_tests seeds "$variables cargo test --no-fail-fast --lib"
        run_tests seeds "$variables cargo test --no-fail-fast --test api" groups::model groups::kills \
            transfer::interrupted ops::arbitrary ops::sqlite::csv ops::undo::model
    done
}

# Calls are no slower than before by half, as a ratio to something bare, in the profile of the tests.
decay() {
    cargo bench --quiet --locked --profile dev --bench decay
}

# Coverage as cargo-fuzz asks for it, which needs no unstable compiler without a sanitizer. With a
# target named, build scripts go without.
fuzzing() {
    local host target_directory=$target/fuzz corpus name seed=${FILESHED_TEST_SEED:-$RANDOM}
    echo "seed: $seed"
    host=$(rustc -vV | sed -n 's/^host: //p')
    # The product's versions; only the engine is added.
    cp Cargo.lock fuzz/Cargo.lock
    RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
        -Cllvm-args=-sanitizer-coverage-trace-compares" \
        cargo build --manifest-path fuzz/Cargo.toml --target "$host" \
        --target-dir "$target_directory"
    for name in $(sed -n 's/^name = "\(.*\)"$/\1/p' fuzz/Cargo.toml | tail -n +2); do
        corpus=$target_directory/corpus/$name
        mkdir -p "$corpus" "$target_directory/tmp"
        TMPDIR=$target_directory/tmp "$target_directory/$host/debug/$name" -max_total_time=10 \
            -seed="$seed" -rss_limit_mb=2048 -verbosity=0 -artifact_prefix="$target_directory/" "$corpus"
        # No target removes the data directory that it opened.
        rm -rf "$target_directory/tmp"
    done
}

# --- Real clients and real surroundings ---

# The program that the programs of tests/e2e start, as the tests build it: with the features of their
# dependencies, so that nothing is compiled twice.
program() {
    cargo test --quiet --no-run --locked --test docs
}

smoke_open_webui() {
    program
    end_to_end smoke-open-webui tests/e2e/openwebui.sh --smoke
}

smoke_page() {
    program
    end_to_end smoke-page "$(system_python)" tests/e2e/people.py --smoke
}

smoke_webdav() {
    program
    end_to_end smoke-webdav python3 tests/e2e/webdav.py litmus
}

smoke_mcp() {
    program
    end_to_end smoke-mcp python3 tests/e2e/mcp.py python
}

# Open WebUI in every version that is supported, with every scenario.
open_webui() {
    program
    end_to_end open-webui tests/e2e/openwebui.sh
}

# The server whose interface the terminal speaks, from the package index.
open_terminal() {
    program
    end_to_end open-terminal python3 tests/e2e/peer.py
}

# Waiting time of one user while others take all that they can get.
attacker() {
    program
    end_to_end attacker python3 tests/e2e/attacker.py --seconds "${FILESHED_TEST_SECONDS:-600}"
}

# The official clients of the Model Context Protocol and its conformance suite.
mcp_clients() {
    program
    end_to_end mcp-clients python3 tests/e2e/mcp.py
}

# Programs that mount files: the conformance suite of WebDAV, rclone, cadaver, davfs2.
webdav() {
    program
    end_to_end webdav python3 tests/e2e/webdav.py
}

# The files of deploy/: two servers behind its proxy, the compose file and the manifests.
deployment() {
    program
    end_to_end deployment python3 tests/e2e/deployment.py
}

# The page, as a person uses it in Chromium and Firefox, and its pictures.
page() {
    program
    end_to_end page "$(system_python)" tests/e2e/people.py --pixels
}

# The committed libraries of the page are those that their script makes.
page_libraries() {
    local made
    made=$(mktemp -d)
    if ! command -v npm >/dev/null || ! src/http/page/libraries/bundle.sh "$made"; then
        skip "libraries of the page: npm cannot install them"
    else
        diff -r "$made" src/http/page/web/lib
    fi
    rm -rf "$made"
}

containers() {
    program
    end_to_end containers python3 tests/e2e/container.py "$target/debug/fileshed"
}

# Sample files of packages, read beside the tools that people trust.
corpus() {
    if ! [ -e "$state/corpus/complete" ]; then
        skip "corpus: its libraries are not installed"
        return
    fi
    program
    end_to_end corpus "$state/corpus/bin/python" -W ignore tests/corpus/run.py
}

# NFSv4.2 itself, in a virtual machine with two servers.
network_storage() {
    local tests
    program
    tests=$(cargo test --no-run --locked -p fileshed-storage --lib --message-format json 2>/dev/null \
        | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
    end_to_end network-storage python3 tests/e2e/network_storage.py "$state/machine" \
        "$target/debug/fileshed" "$tests"
}

# The two commands of README.md on a Debian that has what it names and nothing else.
bare() {
    end_to_end bare tests/e2e/bare.sh
}
