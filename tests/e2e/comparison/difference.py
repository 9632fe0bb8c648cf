"""Differences between two answers, one line each."""

from __future__ import annotations

import json

from comparison.step import Side, Step
from harness import web

#: What is another value every time.
_VOLATILE = {"modified", "id", "log_path", "pid", "created_at", "prompt"}

#: What is nothing to compare: the bytes that a directory takes on disk.
_OF_DIRECTORIES = {"size"}


def between(step: Step, peer: Side, ours: Side, theirs: web.Response, own: web.Response) -> list[str]:
    if theirs.status != own.status:
        return [f"status {own.status}, not {theirs.status}"]
    kind_of = lambda answer: answer.headers.get("content-type", "").partition(";")[0]
    if kind_of(theirs) != kind_of(own):
        return [f"type {kind_of(own)}, not {kind_of(theirs)}"]
    if kind_of(theirs) != "application/json":
        same = theirs.body == own.body or not step.values
        return [] if same else ["other bytes"]
    expected, seen = [
        json.loads(answer.text.replace(json.dumps(side.kept["home"])[1:-1], "~"))
        for side, answer in ((peer, theirs), (ours, own))
    ]
    # Words of a failure are each server's own.
    values = step.values and theirs.status < 400
    return sorted(set(_compare("", expected, seen, values)))


def _compare(place: str, expected: object, seen: object, values: bool) -> list[str]:
    if isinstance(expected, dict) and isinstance(seen, dict):
        return _compare_fields(place, expected, seen, values)
    if isinstance(expected, list) and isinstance(seen, list):
        if values and len(expected) != len(seen):
            return [f"{place}: {len(seen)} elements, not {len(expected)}"]
        return [line for pair in zip(expected, seen) for line in _compare(f"{place}[]", *pair, values)]
    if _kind(expected) != _kind(seen):
        return [f"{place}: {_kind(seen)}, not {_kind(expected)}"]
    if values and expected != seen:
        return [f"{place}: {json.dumps(seen)[:200]}, not {json.dumps(expected)[:200]}"]
    return []


def _compare_fields(place: str, expected: dict, seen: dict, values: bool) -> list[str]:
    lines = [f"{place}.{name} is missing" for name in expected.keys() - seen.keys()]
    lines += [f"{place}.{name} is more" for name in seen.keys() - expected.keys()]
    for name in expected.keys() & seen.keys():
        is_directory = expected.get("type") == "directory" and name in _OF_DIRECTORIES
        exact = values and name not in _VOLATILE and not is_directory
        lines += _compare(f"{place}.{name}", expected[name], seen[name], exact)
    return lines


def _kind(value: object) -> str:
    kinds = {bool: "boolean", int: "number", float: "number", str: "text", type(None): "null"}
    return kinds.get(type(value), type(value).__name__)
