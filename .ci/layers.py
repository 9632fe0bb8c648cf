#!/usr/bin/env python3
"""Finds circles: of the workspace's crates, of the top-level modules of each crate, and of the
modules beside each other in one folder; and types of the workspace that share a name.

Reads `cargo metadata` on standard input, then the sources. An arrow is a `use` or a path that
begins with `crate`, `self`, `super` or the name of a child module; test code does not count, nor
does what lies between a folder and its own module. Names that a module passes on with `use` lead
to where they are defined. Circles that are known stand in `.ci/circles`, one a line; that list may
only become shorter. `--write` writes it anew, for modules that are moved with their circle. What every
operation has may have the same name everywhere, and so may a crate's alias `Result`, as in the standard
library.
"""

import json
import pathlib
import re
import sys
from collections import defaultdict

from rust_source import blanked, closing, without_tests

KNOWN = pathlib.Path(".ci/circles")
KEYWORDS = {"crate", "self", "super"}
OFTEN = {"Request", "Response", "Result"}
VISIBLE = r"(?:pub(?:\s*\([^)]*\))?\s+)?"
# Types that are declared within a macro, as failures are, are indented by four columns.
TYPE = re.compile(
    rf"^(?:{VISIBLE}(?:struct|enum|union|trait|type)|    {VISIBLE}enum)\s+(\w+)", re.M
)


class Module:
    """A module: where it is, what it passes on, and where it points."""

    def __init__(self, path):
        self.path = path
        self.children = set()
        self.passed_on = {}
        self.globs = []
        self.items = set()
        self.references = []


class Sources:
    """All modules of one crate."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.modules = {}
        self.types = defaultdict(list)
        self.read_file(self.root, (), self.root.parent)

    def read_file(self, file, path, folder):
        original = file.read_text()
        text = without_tests(blanked(original))
        for found in TYPE.finditer(text):
            self.types[found[1]].append(f"{file}:{text.count(chr(10), 0, found.start()) + 1}")
        text = re.sub(r"pub\s*\(\s*in\s[^)]*\)", lambda m: " " * len(m[0]), text)
        self.read_block(file, original, text, 0, len(text), path, folder)

    def read_block(self, file, original, text, begin, end, path, folder):
        module = self.modules[path] = Module(path)
        inner, own = [], list(text)
        for found in re.finditer(r"\bmod\s+(\w+)\s*([;{])", text[begin:end]):
            name, start = found[1], begin + found.start()
            if any(first <= start <= last for first, last in inner):
                continue
            module.children.add(name)
            if found[2] == "{":
                last = closing(text, begin + found.end() - 1)
                inner.append((start, last))
                self.read_block(
                    file, original, text, begin + found.end(), last, path + (name,), folder / name
                )
                continue
            given = re.search(r'#\[path\s*=\s*"([^"]*)"\][^\[;{}]*$', original[:start])
            if given:
                source = file.parent / given[1]
            else:
                source = next(
                    file for file in (folder / f"{name}.rs", folder / name / "mod.rs") if file.exists()
                )
            self.read_file(source, path + (name,), folder / name)
        for first, last in inner:
            own[first : last + 1] = re.sub(r"[^\n]", " ", text[first : last + 1])
        own = "".join(own)[begin:end]
        line = lambda place: text.count("\n", 0, begin + place) + 1
        module.items.update(
            re.findall(r"\b(?:struct|enum|union|trait|type|fn|const|static|macro_rules!)\s+(\w+)", own)
        )
        uses = list(re.finditer(r"\buse\s+([^;]*);", own))
        for found in uses:
            for names, alias in tree(found[1]):
                module.references.append((names, file, line(found.start())))
                if alias == "*":
                    module.globs.append(names)
                elif alias != "_":
                    module.passed_on[alias] = names
        rest = list(own)
        for found in uses:
            rest[found.start() : found.end()] = re.sub(r"[^\n]", " ", found[0])
        rest = "".join(rest)
        for found in re.finditer(r"(?<![\w:.])(\w+)((?:\s*::\s*\w+)+)", rest):
            if found[1] in KEYWORDS or found[1] in module.children:
                names = re.findall(r"\w+", found[0])
                module.references.append((names, file, line(found.start())))

    def absolute(self, path, names):
        """A path as the crate's root sees it; nothing for what is of another crate."""
        names = list(names)
        if names[0] == "crate":
            return names[1:]
        if names[0] == "self":
            return list(path) + names[1:]
        if names[0] == "super":
            base = list(path)
            while names and names[0] == "super":
                base, names = base[:-1], names[1:]
            return base + names
        if names[0] in self.modules[path].children:
            return list(path) + names
        return None

    def passed(self, names, depth=0):
        """The modules that an absolute path names, and the one that defines what it ends at."""
        at = ()
        while names and names[0] in self.modules[at].children and at + (names[0],) in self.modules:
            at, names = at + (names[0],), names[1:]
        if not names or names[0] == "*" or depth > 9:
            return [at]
        module = self.modules[at]
        if names[0] in module.passed_on:
            target = module.passed_on[names[0]]
            further = self.absolute(at, target)
            if further is None:
                return [at] if at else []
            return ([at] if at else []) + self.passed(further + names[1:], depth + 1)
        if names[0] not in module.items:
            for target in module.globs:
                further = self.absolute(at, target)
                if further is not None:
                    found = self.passed(further + names, depth + 1)
                    if found and names[0] in self.modules[found[-1]].items:
                        return ([at] if at else []) + found
        return [at]

    def arrows(self):
        """By folder: which module points to which one beside it, and where."""
        folders = defaultdict(lambda: defaultdict(list))
        for path, module in self.modules.items():
            for names, file, line in module.references:
                absolute = self.absolute(path, names)
                if absolute is None:
                    continue
                for target in self.passed(absolute):
                    same = 0
                    while same < min(len(path), len(target)) and path[same] == target[same]:
                        same += 1
                    if same < min(len(path), len(target)):
                        pair, folder = (path[same], target[same]), path[:same]
                    elif same == 0 and path != target:
                        pair = (path[0], "(root)") if path else ("(root)", target[0])
                        folder = ()
                    else:
                        continue
                    place = f"{file}:{line}: {'::'.join(names)}"
                    if place not in folders[folder][pair]:
                        folders[folder][pair].append(place)
        return folders


def tree(text):
    """The paths of a `use`, each with the name that it gets."""
    text = text.strip()
    braces = text.find("{")
    if braces < 0:
        path, _, alias = text.partition(" as ")
        names = [name.strip() for name in path.strip().removeprefix("::").split("::")]
        if path.strip().startswith("::"):
            return
        own = names[-2] if names[-1] == "self" and len(names) > 1 else names[-1]
        if names[-1] == "self" and len(names) > 1:
            names = names[:-1]
        yield names, alias.strip() or own
        return
    before = text[:braces]
    inner = text[braces + 1 : closing(text, braces)]
    depth, part = 0, ""
    for character in inner + ",":
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            if part.strip():
                yield from tree(before + part.strip())
            part = ""
        else:
            part += character


def circles(arrows):
    """Nodes that reach each other, after Tarjan."""
    nodes = sorted({node for pair in arrows for node in pair})
    following = {node: sorted(b for a, b in arrows if a == node) for node in nodes}
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in following[node]:
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            part = [stack.pop()]
            while part[-1] != node:
                part.append(stack.pop())
            if len(part) > 1:
                found.append(sorted(part))

    for node in nodes:
        if node not in order:
            visit(node)
    return found


def floors(nodes, arrows):
    """The lowest floor on which each node can stand; those of a circle stand on one."""
    together = {node: tuple(part) for part in circles(arrows) for node in part}
    of = lambda node: together.get(node, (node,))

    def floor(part):
        below = {of(b) for a, b in arrows if a in part} - {part}
        return 1 + max(map(floor, below)) if below else 0

    storeys = defaultdict(list)
    for node in sorted(nodes):
        storeys[floor(of(node))].append(node)
    return storeys


sys.setrecursionlimit(10_000)
metadata = json.load(sys.stdin)
here = f"{pathlib.Path.cwd()}/"
members = {
    package["name"]: package
    for package in metadata["packages"]
    if package["id"] in metadata["workspace_members"]
    and not package["manifest_path"].startswith(f"{here}tests/")
}
needs = {
    (name, dependency["name"]): ["Cargo.toml"]
    for name, package in members.items()
    for dependency in package["dependencies"]
    if dependency["kind"] != "dev" and dependency["name"] in members
}
groups = {"crates": needs}
types = defaultdict(list)
for number, storey in sorted(floors(members, needs).items()):
    print(f"floor {number}: {', '.join(storey)}")
for name, package in sorted(members.items()):
    library = [target for target in package["targets"] if "lib" in target["kind"]]
    if not library:
        continue
    sources = Sources(library[0]["src_path"].removeprefix(here))
    for type_name, places in sources.types.items():
        types[type_name] += places
    for folder, arrows in sorted(sources.arrows().items()):
        groups["::".join((name,) + folder)] = arrows
        if not folder:
            print(f"{name}:")
            tops = {path[0] for path in sources.modules if len(path) == 1}
            for number, storey in sorted(floors(tops | {"(root)"}, arrows).items()):
                print(f"  {number}: {', '.join(storey)}")

known = {}
if KNOWN.exists():
    for entry in KNOWN.read_text().splitlines():
        if entry and not entry.startswith("#"):
            group, _, names = entry.partition(": ")
            known.setdefault(group, []).append(set(names.split()))
failed, remaining = False, []
for type_name, places in sorted(types.items()):
    if len(places) > 1 and type_name not in OFTEN:
        failed = True
        print(f"TWICE: rename one of the types {type_name}: {', '.join(places)}")
for group, arrows in sorted(groups.items()):
    expected = known.pop(group, [])
    for circle in circles(arrows):
        within = next((names for names in expected if set(circle) <= names), None)
        remaining.append(f"{group}: {' '.join(circle)}")
        if within is not None and within == set(circle):
            expected.remove(within)
            print(f"known circle in {group}: {' '.join(circle)}")
            continue
        if within is not None:
            expected.remove(within)
            gone = within - set(circle)
            print(f"{KNOWN}: {group}: leave out {' '.join(sorted(gone))}: no longer in the circle")
            failed = True
            continue
        failed = True
        print(f"CIRCLE in {group}: {' '.join(circle)}")
        for (one, other), places in sorted(arrows.items()):
            if one in circle and other in circle:
                print(f"  {one} -> {other}")
                for place in places:
                    print(f"    {place}")
    for names in expected:
        failed = True
        print(f"{KNOWN}: {group}: leave out {' '.join(sorted(names))}: that circle is gone")
for group, entries in known.items():
    for names in entries:
        failed = True
        print(f"{KNOWN}: {group}: leave out {' '.join(sorted(names))}: that circle is gone")
if "--write" in sys.argv[1:]:
    text = KNOWN.read_text() if KNOWN.exists() else ""
    comments = [entry for entry in text.splitlines() if entry.startswith("#")]
    KNOWN.write_text("\n".join(comments + remaining) + "\n")
    sys.exit()
sys.exit(failed)
