#!/usr/bin/env python3
"""Holds the dependencies to the lists of deny.toml where cargo-deny is not installed.

Reads `cargo metadata` on standard input: licences, banned crates and sources.
"""

import json
import re
import sys
import tomllib

with open("deny.toml", "rb") as file:
    policy = tomllib.load(file)
allowed = set(policy["licenses"]["allow"])
banned = {entry["crate"] for entry in policy["bans"]["deny"]}
registries = {f"registry+{url}" for url in policy["sources"]["allow-registry"]}


def fits(expression):
    """Returns True if the allowed licenses satisfy an SPDX expression."""
    tokens = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))

    def alternatives():
        met = conjunction()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            met = conjunction() or met
        return met

    def conjunction():
        met = term()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            met = term() and met
        return met

    def term():
        token = tokens.pop(0)
        if token == "(":
            met = alternatives()
            tokens.pop(0)
            return met
        if tokens and tokens[0] == "WITH":
            tokens.pop(0)
            token = f"{token} WITH {tokens.pop(0)}"
        return token in allowed

    return alternatives()


faults = []
packages = json.load(sys.stdin)["packages"]
for package in packages:
    name = f"{package['name']} {package['version']}"
    source = package["source"]
    if source is None:
        continue
    if source not in registries:
        faults.append(f"{name}: comes from {source}")
    if package["name"] in banned:
        faults.append(f"{name}: is banned")
    if not fits(package["license"] or "none"):
        faults.append(f"{name}: licence {package['license']}")
for fault in faults:
    print(fault)
print(f"{len(packages)} packages, {len(faults)} faults")
sys.exit(1 if faults else 0)
