#!/usr/bin/env bash
# Tests fileshed in a real Open WebUI: see run.py. The program is $FILESHED_BIN, or is built.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

# The distribution's Python has the distribution's selenium.
python=/usr/bin/python3
[ -x "$python" ] || python=$(command -v python3) || {
    echo "SKIP: Open WebUI: there is no Python"
    exit 0
}
exec env PYTHONDONTWRITEBYTECODE=1 "$python" "$here/run.py" "$@"
