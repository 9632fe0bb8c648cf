#!/usr/bin/env bash
# Makes the bundles of the page's libraries: bundle.sh DIRECTORY. What it needs comes from the npm
# registry, as package-lock.json says, into a directory that is kept. The same input gives the same
# bytes, so what is committed in ../web/lib can be compared.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
build=${CARGO_TARGET_DIR:-$here/../../../../target}/page-libraries
mkdir -p "$build"
cp "$here"/{package.json,package-lock.json,core.js,markdown.js,formulas.js,editor.js,tus.js,licences.mjs} "$build"
cd "$build"
npm ci --silent --no-audit --no-fund --ignore-scripts
for name in core markdown formulas editor tus; do
    node_modules/.bin/esbuild "$name.js" --bundle --minify --format=esm --target=es2022 \
        --legal-comments=none --log-level=warning --metafile="$name.json" --outfile="$out/$name.js"
done
node licences.mjs core.json markdown.json formulas.json editor.json tus.json >"$out/licences.txt"
