"""Requests to both servers, in this order. Each step finds what the earlier ones left."""

from __future__ import annotations

from comparison.step import Step

TABLE = b"city,people\nBern,134\nBasel,175\nZug,31\n"

POEM = "roses are red\nviolets are blue\nroses are roses\nand so are you\n"

#: The longest that a command is waited for.
WAIT = (("wait", "20"),)


def get(name: str, path: str, *query: tuple[str, str], **named) -> Step:
    return Step(name, "GET", path, query, **named)


def post(name: str, path: str, document: object = None, *query: tuple[str, str], **named) -> Step:
    return Step(name, "POST", path, query, document, **named)


def delete(name: str, path: str, *query: tuple[str, str], **named) -> Step:
    return Step(name, "DELETE", path, query, **named)


def write(name: str, path: str, content: object, **named) -> Step:
    return post(name, "/files/write", {"path": path, "content": content}, **named)


def upload(name: str, directory: str, file: tuple[str, bytes, str]) -> Step:
    return Step(name, "POST", "/files/upload", (("directory", directory),), file=file)


def replace(name: str, *replacements: object, path: str = "poem.txt") -> Step:
    return post(name, "/files/replace", {"path": path, "replacements": list(replacements)})


def run(name: str, command: str, *query: tuple[str, str], **named) -> Step:
    return post(name, "/execute", {"command": command}, *query, **named)


DISCOVERY = [
    get("features, to whoever asks", "/api/config", credential=False),
    get("health, to whoever asks", "/health", credential=False),
    get("prompt", "/system"),
    get("information", "/info", values=False),
    get("ports", "/ports"),
    get("no skills", "/skills"),
    get("a skill that is not there", "/skills/read", ("name", "none")),
    get("an address that is not there", "/nowhere"),
    Step("a method that an address has not", "PUT", "/files/list"),
    get("no credential", "/files/list", credential=False),
]

DIRECTORIES = [
    get("where one is", "/files/cwd"),
    get("an empty home", "/files/list"),
    get("a directory that is not there", "/files/list", ("directory", "{home}/none")),
    post("make a directory", "/files/mkdir", {"path": "{home}/a/b"}),
    post("make it again", "/files/mkdir", {"path": "{home}/a/b/"}),
    post("make none", "/files/mkdir", {}),
    post("make one by a number", "/files/mkdir", {"path": 7}),
    post("go there", "/files/cwd", {"path": "{home}/a"}),
    get("be there", "/files/cwd"),
    get("see what is there", "/files/list"),
    post("go nowhere", "/files/cwd", {"path": "{home}/none"}),
    post("go home", "/files/cwd", {"path": "{home}"}),
]

FILES = [
    write("write", "poem.txt", POEM),
    write("write below directories that are not there", "{home}/deep/er/note.md", "# Note\n"),
    write("write over", "{home}/deep/er/note.md", "# Nöte\n"),
    write("write nothing", "empty.txt", ""),
    write("write onto a directory", "{home}/a", "x"),
    write("write below a file", "{home}/poem.txt/x", "x"),
    write("write no text", "number.txt", 7),
    post("write without content", "/files/write", {"path": "x"}),
    post("write without a body", "/files/write"),
    post("write what is no JSON", "/files/write", raw=b'{"path": '),
    get("list", "/files/list", ("directory", "{home}/")),
    get("list a file", "/files/list", ("directory", "{home}/poem.txt")),
    get("read", "/files/read", ("path", "{home}/poem.txt")),
    get("read by a relative path", "/files/read", ("path", "./deep/../poem.txt")),
    get("read an empty file", "/files/read", ("path", "empty.txt")),
    get("read some lines", "/files/read", ("path", "poem.txt"), ("start_line", "2"), ("end_line", "3")),
    get("read from a line on", "/files/read", ("path", "poem.txt"), ("start_line", "3")),
    get("read up to a line", "/files/read", ("path", "poem.txt"), ("end_line", "1")),
    get("read past the end", "/files/read", ("path", "poem.txt"), ("start_line", "90"), ("end_line", "91")),
    get("read backwards", "/files/read", ("path", "poem.txt"), ("start_line", "3"), ("end_line", "2")),
    get("read from line 0", "/files/read", ("path", "poem.txt"), ("start_line", "0")),
    get("read from line -1", "/files/read", ("path", "poem.txt"), ("start_line", "-1")),
    get("read from a word", "/files/read", ("path", "poem.txt"), ("start_line", "two")),
    get("read from null", "/files/read", ("path", "poem.txt"), ("start_line", "null")),
    get("read what is not there", "/files/read", ("path", "none.txt")),
    get("read a directory", "/files/read", ("path", "a")),
    get("read nothing", "/files/read"),
    get("show", "/files/display", ("path", "{home}/poem.txt")),
    get("show what is not there", "/files/display", ("path", "{home}/none.txt")),
    get("show nothing", "/files/display"),
    get("view", "/files/view", ("path", "{home}/poem.txt")),
    get("view what is not there", "/files/view", ("path", "{home}/none.txt")),
    get("view a directory", "/files/view", ("path", "{home}/a")),
    get("serve", "/files/serve{home}/poem.txt"),
    get("serve what is not there", "/files/serve{home}/none.txt"),
]

UPLOADS = [
    upload("upload", "{home}/up", ("cities.csv", TABLE, "text/csv")),
    upload("upload over", "{home}/up/", ("cities.csv", TABLE + b"Chur,37\n", "text/csv")),
    upload("upload an umlaut", "{home}/up", ("Größe 1.txt", b"1", "text/plain")),
    upload("upload a picture", "{home}/up", ("dot.png", b"\x89PNG\r\n\x1a\n\xff\xfe", "image/png")),
    upload("upload what is no text", "{home}/up", ("blob.bin", b"\0\1\2\xff", "application/octet-stream")),
    upload("upload Latin 1", "{home}/up", ("latin.txt", b"\xfcber", "text/plain")),
    upload("upload a name with a way", "{home}/up", ("../out/side.txt", b"x", "text/plain")),
    upload("upload onto a directory", "{home}", ("up", b"x", "text/plain")),
    Step("upload to nowhere", "POST", "/files/upload", file=("x", b"x", "text/plain")),
    post("upload nothing", "/files/upload", None, ("directory", "{home}/up")),
    get("list the uploads", "/files/list", ("directory", "{home}/up")),
    get("read a table", "/files/read", ("path", "up/cities.csv")),
    get("read a picture", "/files/read", ("path", "up/dot.png")),
    get("read what is no text", "/files/read", ("path", "up/blob.bin")),
    get("read Latin 1", "/files/read", ("path", "up/latin.txt")),
    get("view a picture", "/files/view", ("path", "{home}/up/dot.png")),
    get("view what is no text", "/files/view", ("path", "{home}/up/blob.bin")),
    get("view a table", "/files/view", ("path", "{home}/up/cities.csv")),
]

REPLACEMENTS = [
    replace("replace once", {"target": "violets", "replacement": "tulips"}),
    replace("replace what is there twice", {"target": "roses", "replacement": "lilies"}),
    replace("replace all", {"target": "are", "replacement": "were", "allow_multiple": True}),
    replace("replace in some lines", {"target": "roses", "replacement": "x", "start_line": 1, "end_line": 1}),
    replace("replace outside", {"target": "tulips", "replacement": "x", "start_line": 3, "end_line": 4}),
    replace(
        "replace what a replacement made",
        {"target": "blue", "replacement": "green"},
        {"target": "green", "replacement": "yellow"},
    ),
    replace(
        "replace all or nothing",
        {"target": "yellow", "replacement": "white"},
        {"target": "none", "replacement": "white"},
    ),
    replace("replace what is not there", {"target": "none", "replacement": "x"}),
    replace("replace nothing"),
    replace("replace in a file that is not there", {"target": "a", "replacement": "b"}, path="none.txt"),
    replace("replace in a directory", {"target": "a", "replacement": "b"}, path="a"),
    replace("replace in what is no text", {"target": "a", "replacement": "b"}, path="up/latin.txt"),
    replace("replace from line 0", {"target": "and", "replacement": "and", "start_line": 0}),
    replace("replace without a replacement", {"target": "a"}),
    post("replace by no list", "/files/replace", {"path": "poem.txt", "replacements": "x"}),
    get("read what came of it", "/files/read", ("path", "poem.txt")),
]

SEARCHES = [
    write("write a source", "src/main.py", "import os\n\ndef main():\n    print('Roses')\n"),
    write("write another", "src/lib/tool.py", "# roses\nROSES = 1\n"),
    write("write a hidden one", ".hidden/roses.txt", "roses\n"),
    get("grep", "/files/grep", ("query", "ros[ae]s"), ("path", "src")),
    get("grep all letters", "/files/grep", ("query", "roses"), ("path", "src"), ("case_insensitive", "true")),
    get("grep a text", "/files/grep", ("query", "main("), ("path", "src"), ("regex", "false")),
    get("grep a file", "/files/grep", ("query", "people"), ("path", "up/cities.csv")),
    get(
        "grep some files",
        "/files/grep",
        ("query", "o"),
        ("path", "src"),
        ("include", "main*"),
        ("include", "*.md"),
    ),
    get("grep names", "/files/grep", ("query", "import"), ("path", "src"), ("match_per_line", "false")),
    get("grep a bit", "/files/grep", ("query", "e"), ("path", "up/cities.csv"), ("max_results", "2")),
    get("grep in vain", "/files/grep", ("query", "nothing like this"), ("path", "src")),
    get("grep by what is no expression", "/files/grep", ("query", "("), ("path", "src")),
    get("grep nowhere", "/files/grep", ("query", "x"), ("path", "none")),
    get("grep nothing", "/files/grep"),
    get("grep for 0 results", "/files/grep", ("query", "x"), ("max_results", "0")),
    get("grep for 501 results", "/files/grep", ("query", "x"), ("max_results", "501")),
    get("glob", "/files/glob", ("pattern", "*.py"), ("path", "src")),
    get("glob below", "/files/glob", ("pattern", "lib/*"), ("path", "src")),
    get("glob directories", "/files/glob", ("pattern", "*"), ("path", "src"), ("type", "directory")),
    get("glob files", "/files/glob", ("pattern", "*"), ("path", "deep"), ("type", "file")),
    get("glob but", "/files/glob", ("pattern", "*"), ("path", "up"), ("exclude", "*.csv"), ("exclude", "d*")),
    get("glob a bit", "/files/glob", ("pattern", "*"), ("path", "up"), ("max_results", "2")),
    get("glob nowhere", "/files/glob", ("pattern", "*"), ("path", "none")),
    get("glob a file", "/files/glob", ("pattern", "*"), ("path", "poem.txt")),
    get("glob of another kind", "/files/glob", ("pattern", "*"), ("type", "socket")),
    get("glob nothing", "/files/glob"),
    get("search", "/files/search", ("query", "tool")),
    get("search everything", "/files/search", ("query", ""), ("path", "src")),
    get("search directories", "/files/search", ("query", "l"), ("path", "src"), ("type", "directory")),
    get("search hidden", "/files/search", ("query", "roses"), ("show_hidden", "true")),
    get("search without hidden", "/files/search", ("query", "roses")),
    get("search one", "/files/search", ("query", "t"), ("limit", "1")),
    get("search for 101", "/files/search", ("query", "t"), ("limit", "101")),
    get("search nowhere", "/files/search", ("query", "t"), ("path", "none")),
    get("matches", "/files/matches", ("query", "roses"), ("path", "src")),
    get("matches of names", "/files/matches", ("query", "MAIN")),
    get("matches with hidden", "/files/matches", ("query", "roses"), ("show_hidden", "true")),
    get("matches on pages", "/files/matches", ("query", "e"), ("path", "src"), ("limit", "1")),
    get("matches past the end", "/files/matches", ("query", "roses"), ("offset", "50")),
    get("matches of blanks", "/files/matches", ("query", "  ")),
    get("matches nowhere", "/files/matches", ("query", "x"), ("path", "none")),
    get("matches from -1", "/files/matches", ("query", "x"), ("offset", "-1")),
]

COMPARISONS = [
    write("write one", "one.txt", "a\nb c d\ne\n"),
    write("write the other", "two.txt", "a\nb x d\ne\nf\n"),
    write("write with blanks", "three.txt", "a\nb  c d\ne\n"),
    post("compare", "/files/compare", {"original": "one.txt", "revised": "two.txt"}),
    post("compare the same", "/files/compare", {"original": "one.txt", "revised": "one.txt"}),
    post(
        "compare without blanks",
        "/files/compare",
        {"original": "one.txt", "revised": "three.txt", "ignore_whitespace": True},
    ),
    post("compare with nothing", "/files/compare", {"original": "one.txt", "revised": "none.txt"}),
    post("compare what is no text", "/files/compare", {"original": "one.txt", "revised": "up/blob.bin"}),
    post("compare one", "/files/compare", {"original": "one.txt"}),
]

CHANGES = [
    post("move", "/files/move", {"source": "{home}/one.txt", "destination": "{home}/a/moved.txt"}),
    post("move a directory", "/files/move", {"source": "{home}/deep/", "destination": "{home}/a/deep"}),
    post("move onto a file", "/files/move", {"source": "{home}/two.txt", "destination": "{home}/three.txt"}),
    post("move nothing", "/files/move", {"source": "{home}/none", "destination": "{home}/x"}),
    post("move to nowhere", "/files/move", {"source": "{home}/two.txt", "destination": "{home}/none/x"}),
    post("move a directory into itself", "/files/move", {"source": "{home}/a", "destination": "{home}/a/b/a"}),
    post("move without an end", "/files/move", {"source": "{home}/two.txt"}),
    get("list what moved", "/files/list", ("directory", "{home}/a")),
    post("pack", "/files/archive", {"paths": ["{home}/a", "{home}/two.txt"]}, values=False),
    post("pack nothing", "/files/archive", {"paths": []}),
    post("pack what is not there", "/files/archive", {"paths": ["{home}/none"]}),
    post("pack no list", "/files/archive", {"paths": "x"}),
    delete("delete", "/files/delete", ("path", "{home}/two.txt")),
    delete("delete again", "/files/delete", ("path", "{home}/two.txt")),
    delete("delete a directory", "/files/delete", ("path", "{home}/a/")),
    delete("delete nothing", "/files/delete"),
    get("list what is left", "/files/list", ("directory", "{home}")),
]

COMMANDS = [
    get("no processes", "/execute"),
    run("run", "echo out; echo more", *WAIT),
    run("run to a failure", "exit 7", *WAIT),
    run("run what is not there", "no-such-program", *WAIT, values=False),
    run("run a pipe", "printf 'b\\na\\n' | sort && echo done", *WAIT),
    run("run and keep a file", "echo kept > kept.txt", *WAIT),
    get("read what it kept", "/files/read", ("path", "kept.txt")),
    post("run elsewhere", "/execute", {"command": "ls", "cwd": "{home}/src"}, *WAIT),
    post("run with a variable", "/execute", {"command": "echo $X", "env": {"X": "7"}}, *WAIT),
    post("run by its end", "/execute", {"command": "seq 3"}, *WAIT, ("tail", "1"), values=False),
    post("run nothing", "/execute", {}),
    post("run a number", "/execute", {"command": 7}),
    post("run with a number", "/execute", {"command": "true", "env": {"X": 7}}),
    run("wait too long", "true", ("wait", "301")),
    run("wait for a word", "true", ("wait", "long")),
    run("wait for less than nothing", "true", ("wait", "-1")),
    run("see 0 entries", "true", ("tail", "0")),
    run("start", "read line; echo got $line; exit 3", keep=("id", "process"), values=False),
    get("look at it", "/execute/{process}/status", values=False),
    post("tell it something", "/execute/{process}/input", {"input": "this\\n"}),
    get("wait for its end", "/execute/{process}/status", *WAIT, values=False),
    get("read on", "/execute/{process}/status", ("offset", "100")),
    post("tell it too late", "/execute/{process}/input", {"input": "more"}),
    post("tell it nothing", "/execute/{process}/input", {}),
    delete("kill it too late", "/execute/{process}"),
    run("start another", "sleep 1000", keep=("id", "process"), values=False),
    delete("kill it", "/execute/{process}"),
    get("see it dead", "/execute/{process}/status", values=False),
    delete("kill it again", "/execute/{process}", ("force", "true")),
    get("look at nothing", "/execute/none/status"),
    post("tell nobody", "/execute/none/input", {"input": "x"}),
    delete("kill nobody", "/execute/none"),
    get("look from -1", "/execute/{process}/status", ("offset", "-1")),
    get("processes", "/execute", values=False),
]

SHELLS = [
    get("no shells", "/api/terminals"),
    get("output of no shell", "/api/terminals/user/output"),
    post("input for no shell", "/api/terminals/user/input", {"input": "x"}),
    post("open a shell", "/api/terminals", {}, keep=("id", "shell")),
    get("shells", "/api/terminals"),
    get("a shell", "/api/terminals/{shell}"),
    get("a shell that is not there", "/api/terminals/none"),
    delete("close it", "/api/terminals/{shell}"),
    delete("close it again", "/api/terminals/{shell}"),
]

STEPS = [
    *DISCOVERY,
    *DIRECTORIES,
    *FILES,
    *UPLOADS,
    *REPLACEMENTS,
    *SEARCHES,
    *COMPARISONS,
    *CHANGES,
    *COMMANDS,
    *SHELLS,
]
