// Prints the licences of the packages that are in the bundles, by esbuild's own record of them.

import { readdirSync, readFileSync } from "node:fs";

const packages = new Set();
for (const record of process.argv.slice(2)) {
  for (const input of Object.keys(JSON.parse(readFileSync(record, "utf8")).inputs)) {
    const found = input.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//);
    if (found) packages.add(found[1]);
  }
}
for (const name of [...packages].sort()) {
  const place = `node_modules/${name}`;
  const { version, license } = JSON.parse(readFileSync(`${place}/package.json`, "utf8"));
  const file = readdirSync(place).sort().find((file) => /^licen[cs]e/i.test(file));
  const text = file ? readFileSync(`${place}/${file}`, "utf8").trim() : "";
  process.stdout.write(`${name} ${version} (${license})\n\n${text}\n\n----\n\n`);
}
