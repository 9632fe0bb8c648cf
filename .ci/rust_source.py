"""Sources of Rust as the checks of this folder read them: without comments, literals and tests."""

import re

ITEM = r"(?:pub|mod|use|fn|impl|struct|enum|trait|type|const|static|unsafe|async|extern|macro_rules)\b"

TOKEN = re.compile(
    r"""//[^\n]*|/\*|b?r(?P<hashes>\#*)"|b?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^\\'])'""", re.S
)


def blanked(text):
    """The text without comments and literals; every line keeps its place."""
    kept, at = [], 0
    while found := TOKEN.search(text, at):
        begin, end = found.span()
        if text.startswith("/*", begin):
            depth = 1
            while depth and (mark := re.compile(r"/\*|\*/").search(text, end)):
                depth += 1 if mark[0] == "/*" else -1
                end = mark.end()
        elif found["hashes"] is not None:
            close = text.find('"' + found["hashes"], end)
            end = close + 1 + len(found["hashes"])
        kept.append(text[at:begin])
        kept.append(re.sub(r"[^\n]", " ", text[begin:end]))
        at = end
    return "".join(kept) + text[at:]


def closing(text, begin):
    """Returns the position at which the bracket that opens at `begin` is closed."""
    depth = 0
    for place in range(begin, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth == 0:
            return place
    return len(text) - 1


def of_tests(text):
    """Beginning and end of everything in a blanked text that only tests have, the last one first."""
    for found in reversed(list(re.finditer(r"#\[cfg\((?:(?:any|all)\()?test\b", text))):
        at = closing(text, found.start() + 1) + 1
        while other := re.compile(r"\s*#\[").match(text, at):
            at = closing(text, other.end() - 1) + 1
        is_item = re.compile(r"\s*" + ITEM).match(text, at)
        while at < len(text) and text[at] not in (";" if is_item else ";,)}"):
            if text[at] in "([{":
                is_block = text[at] == "{"
                at = closing(text, at)
                if is_block and not re.compile(r"\s*(?:;|::)").match(text, at + 1):
                    break
            at += 1
        yield found.start(), at + 1 if at < len(text) and text[at] in ";,}" else at


def without_tests(text):
    """Leaves out what only tests have."""
    for begin, end in of_tests(text):
        blank = re.sub(r"[^\n]", " ", text[begin:end])
        text = text[:begin] + blank + text[end:]
    return text
