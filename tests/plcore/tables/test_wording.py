"""Everything that an import says is English: counts agree with their nouns, over all small files and their first rows.

Messages about each whole file of the hunt are checked in `test_hunt`, which reads it. Tests of the command line check
all their output in the same way (`tests.test_cli.Shell`).
"""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from plcore import LabelTable
from plcore.tables import TableError, TableReading, describe, find_doubts, read_in, read_table, shaped, ways_of
from tests.conftest import ROOT

FOLDERS = [Path(__file__).parent / name for name in ("cases", "readers/cases", "cases/hunt")]
CASES, OF_TOOLS, HUNTED = (sorted(path for path in folder.iterdir() if path.is_file()) for folder in FOLDERS)
_NO_PLURAL = "class|is|has|was|does|needs|holds|stands|names|says|this|as|its|less|species|GB|MB|ms"
WRONG = re.compile(
    rf"(?<![\w.,/:#'\"-])1 (?:test |other |true |more )?(?!(?:{_NO_PLURAL})\b)[a-z]+s\b(?! ago)"
    r"|(?<![\w.,/:#'\"-])1 (?:\w+ )?(?:were|are|have)\b"
    r"|\b(?:\d+[02-9]|[2-9]) (?:row|vote|label|column|file|answer|task) "
)


def check_words(said: Iterable[str]) -> None:
    assert {words for words in said if WRONG.search(words)} == set()


def parts_of(path: Path) -> Iterator[bytes]:
    """The file, and files of its first rows or records alone."""
    data = path.read_bytes()
    yield data
    try:
        if path.suffix in (".csv", ".tsv", ".txt"):
            lines = list(
                csv.reader(io.StringIO(data.decode(), newline=""), delimiter="\t" if b"\t" in data[:200] else ",")
            )
            for count in (2, 3):
                out = io.StringIO(newline="")
                csv.writer(out, delimiter="\t" if b"\t" in data[:200] else ",").writerows(lines[:count])
                yield out.getvalue().encode()
        elif path.suffix == ".jsonl":
            lines_ = data.splitlines(keepends=True)
            yield from (b"".join(lines_[:count]) for count in (1, 2))
        elif path.suffix == ".json":
            value = json.loads(data)
            inner = next(
                (name for name in ("images", "annotations") if isinstance(value, dict) and name in value), None
            )
            if isinstance(value, list):
                yield from (json.dumps(value[:count]).encode() for count in (1, 2))
            elif inner is not None:
                yield from (json.dumps({**value, inner: value[inner][:count]}).encode() for count in (1, 2))
    except (UnicodeDecodeError, csv.Error):
        return


def said_of(reading: TableReading) -> Iterator[str]:
    """All messages about a file that was read."""
    yield from reading.notes
    yield from (words for one in reading.asks for words in one[1:])
    roles = reading.suggest_roles()
    for unlabelled in ("refuse", "all"):
        roles = replace(roles, unlabelled=unlabelled, truth_outside="add")
        try:
            table = LabelTable.from_cells(reading.cells, roles, reading.files, reading.arrays)
        except TableError as error:
            yield str(error)
            continue
        yield str(describe(table, reading.format))
        yield from map(str, find_doubts(table))
        return  # every row has a label, so "all" adds nothing


def all_said(data: bytes, name: str) -> Iterator[str]:
    try:
        reading = read_table(data, name)
        yield from said_of(shaped(reading))
        for way in ways_of(reading):
            for value in way.options:
                yield from said_of(shaped(read_in(reading, {way.name: value})))
    except TableError as error:
        yield str(error)


@pytest.mark.parametrize(
    "path",
    [*CASES, *OF_TOOLS, *(pytest.param(path, marks=pytest.mark.proof) for path in HUNTED)],
    ids=lambda path: path.name,
)
def test_counts_agree_with_their_words(path: Path) -> None:
    for data in parts_of(path):
        check_words(all_said(data, path.name))


@pytest.mark.parametrize("path", HUNTED[::4], ids=lambda path: path.name)
def test_counts_agree_with_their_words_in_first_rows(path: Path) -> None:
    for data in list(parts_of(path))[1:]:
        check_words(all_said(data, path.name))


@pytest.mark.parametrize(
    ("words", "is_wrong"),
    [
        ("1 rows have no vector", True),
        ("In 1 rows the true label is outside", True),
        ("1 test questions accept several", True),
        ("1 file were left out", True),
        ("21 row of 3", False),
        ("Asked: which candidate is right in 1 row.", False),
        ("1 class is made of other classes", False),
        ("Row 1 holds", False),
        ("11 rows are there", False),
        ("MegaDetector JSON: 2 row ", True),
    ],
)
def test_wrong_words_are_found(words: str, is_wrong: bool) -> None:
    assert (WRONG.search(words) is not None) is is_wrong


SPEAKING = [
    path
    for room in ("app.py", "cli.py", "worker.py", "db", "pages", "web", "winnow_labels", "workflow")
    for path in sorted((ROOT / room).rglob("*.py") if (ROOT / room).is_dir() else [ROOT / room])
]
"""The modules of the app that make messages; those of plcore are covered by all files above."""
COUNTED = re.compile(
    r"^0 (?!(?:by|of|several|whose) )(?:[a-z]+ )?(?:rows|votes|labels|columns|files|answers|projects|entries"
    r"|questions|fits|folds|people|persons|annotators|cells|tasks|items|sheets|others|words|groups|backups|problems|days"
    r"|hours|minutes|pictures|recordings)\b"
)


def test_messages_format_their_counts_with_a_function() -> None:
    """A number before a fixed plural is wrong for 1, and other tests may never use 1."""
    found = []
    for path in SPEAKING:
        for text in ast.walk(ast.parse(path.read_text())):
            if isinstance(text, ast.JoinedStr):
                found += [
                    f"{path.relative_to(ROOT)}:{text.lineno}: {ast.unparse(value.value)} {behind.value.split()[0]}"
                    for value, behind in pairwise(text.values)
                    if isinstance(value, ast.FormattedValue)
                    and isinstance(behind, ast.Constant)
                    and is_count(value)
                    and COUNTED.match(f"0{behind.value}")
                ]
    assert found == []


def is_count(value: ast.FormattedValue) -> bool:
    """Whether it may be a number: no name in quotes, and no limit that the program sets."""
    shown = re.sub(r" / \d+$", "", ast.unparse(value.value))
    return value.conversion == -1 and not shown.rpartition(".")[2].isupper()
