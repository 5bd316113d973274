"""Files and values as no one would write them: each a right one, changed by its bytes or by its structure."""

from __future__ import annotations

import csv
import io
import json
import random
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

# fmt: off
ODD: list[Any] = [
    None, True, 0, -1, 1e308, 2**63, 10**400, "", " ", "nan", "Infinity", "\0", "\ud800", "=1+1", "a|b", {}, [],
    "é" * 300, [[]], [None], {"": ""}, {"a": {"a": {"a": []}}}, "1,5", "[", '{"a":', "x" * 70_000, "\u202e", "1e999",
]
BYTES = [b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"\n", b",", b"[" * 2_000, b"\xed\xa0\x80", b"-1", b"9" * 400]
# fmt: on


def mutate_bytes(data: bytes, dice: random.Random) -> bytes:
    """The file with a few places changed, cut, doubled, swapped or filled in."""
    for _ in range(dice.choice((1, 1, 2, 5))):
        begin, end = sorted(dice.randrange(len(data) + 1) for _ in range(2))
        end = min(end, begin + dice.choice((1, 8, 200, len(data))))
        way = dice.randrange(5)
        middle = {0: b"", 1: data[begin:end] * 2, 2: dice.choice(BYTES), 3: data[begin:end][::-1]}.get(way)
        data = data[:begin] if middle is None else data[:begin] + middle + data[end:]
    return data


def mutate_value(value: Any, dice: random.Random) -> Any:
    """A value of JSON with one thing in it changed, somewhere."""
    if isinstance(value, dict) and value and dice.random() < 0.85:
        key, changed = dice.choice(list(value)), dict(value)
        match dice.randrange(5):
            case 0:
                del changed[key]
            case 1:
                changed[str(dice.choice(ODD))[:2_000]] = changed.pop(key)
            case _:
                changed[key] = mutate_value(value[key], dice)
        return changed
    if isinstance(value, list) and value and dice.random() < 0.85:
        at = dice.randrange(len(value))
        return [*value[:at], *dice.choice(([], [value[at]] * 2, [mutate_value(value[at], dice)])), *value[at + 1 :]]
    return dice.choice(ODD)


def mutate_table(text: str, dice: random.Random) -> str:
    """A CSV file with a cell, a column, a row or the separator changed."""
    separator = "\t" if "\t" in text[:500] else ","
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    row, column = dice.randrange(len(rows)), dice.randrange(max(1, len(rows[0])))
    odd = [str(dice.choice(ODD)) if at == column else cell for at, cell in enumerate(rows[row])]
    ways = (
        lambda: [[*one[:column], *one[column + 1 :]] for one in rows],
        lambda: [[*one, *one[column : column + 1]] for one in rows],
        lambda: [*rows[:row], *rows[row + 1 :]],
        lambda: [*rows[:row], odd, *rows[row + 1 :]],
    )
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=dice.choice((separator, separator, ";", "|"))).writerows(dice.choice(ways)())
    return out.getvalue()


def mutate_zip(data: bytes, dice: random.Random) -> bytes:
    """An archive, or a workbook, with one of its files changed; well packed, so that it is read."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        chosen = dice.choice(archive.namelist())
        for name in archive.namelist():
            content = archive.read(name)
            made.writestr(name, mutate_bytes(content, dice) if name == chosen and content else content)
    return out.getvalue()


def mutate(path: Path, data: bytes, dice: random.Random) -> bytes:
    """The file, changed by what it is, or by its bytes alone."""
    if dice.random() < 0.6:
        with suppress(ValueError, csv.Error, zipfile.BadZipFile, IndexError, RecursionError, NotImplementedError):
            if zipfile.is_zipfile(io.BytesIO(data)):
                return mutate_zip(data, dice)
            text = data.decode()
            if path.suffix == ".json":
                return json.dumps(mutate_value(json.loads(text), dice)).encode()
            if path.suffix in (".jsonl", ".ndjson", ".manifest"):
                lines = text.splitlines()
                at = dice.randrange(len(lines))
                lines[at] = json.dumps(mutate_value(json.loads(lines[at]), dice))
                return "\n".join(lines).encode()
            if path.suffix in (".csv", ".tsv", ".txt"):
                return mutate_table(text, dice).encode(errors="surrogatepass")
    return mutate_bytes(data, dice)
