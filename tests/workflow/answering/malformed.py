"""Answers that no page of ours sends."""

from __future__ import annotations

from typing import Any

PRESS: dict[str, Any] = {
    "kind": "is",
    "labels": [],
    "token": "",
    "shown": None,
    "seq": None,
    "note": "",
    "flagged": False,
}
"""A well-formed one."""

NO_OBJECTS: tuple[Any, ...] = ([], "is", 3, True, 1.5, [PRESS], {})
WRONG: tuple[tuple[str, Any], ...] = (
    *(("kind", one) for one in (None, 3, True, [], {}, ["is"], "\0", "i\ud800", "x" * 20_000)),
    *(("labels", one) for one in (None, "ant", {"ant": 1}, 7, [None], [3], [["ant"]], [{}], ["\ud800"])),
    *(("labels", one) for one in (["ant\0"], ["x" * 20_000], ["ant"] * 20_000)),
    *(("token", one) for one in (5, [], {}, True, "\0", "\udfff", "t" * 20_000, 1e308)),
    *(("shown", one) for one in (5, [], {}, False, "\0", "\ud800")),
    *(("seq", one) for one in ("1", 1.5, float("nan"), float("inf"), True, -1, 2**31, 10**400, [], {}, "\0")),
    *(("note", one) for one in (5, [], {}, True, "half \ud83d of it", "NUL \0", "\x1b[2J", "\u202e", "n" * 2001)),
    *(("flagged", one) for one in (None, 1, "true", [], float("nan"))),
)
"""(the part of the answer, its replacement)"""


def malformed() -> list[tuple[str, Any]]:
    """(what is wrong, what was sent), all of which are refused"""
    nested: Any = []
    for _ in range(500):
        nested = [nested]
    missing = [{key: value for key, value in PRESS.items() if key != gone} for gone in PRESS]
    deep = [PRESS | {part: nested} for part in PRESS]
    wrong = [PRESS | {part: value} for part, value in WRONG]
    return [(ascii(one)[:60], one) for one in (*NO_OBJECTS, *missing, *deep, *wrong)]
