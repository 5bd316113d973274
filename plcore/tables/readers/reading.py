"""The result of every format's reader (text cells and their roles), and column names that identify a tool."""

from __future__ import annotations

import datetime
import json
import math
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from plcore.arrays.words import counted, listed, quoted
from plcore.tables.columns import Finder
from plcore.tables.features.embeddings import Vectors
from plcore.tables.media.file_tree import IMAGE_ENDINGS, RECORDINGS, FileTree
from plcore.tables.media.files import MediaFiles
from plcore.tables.problems import MAX_PROBLEMS, Problem, refusal, table_error
from plcore.tables.roles.cells import named_labels
from plcore.tables.roles.roles import Roles
from plcore.tables.roles.sample import is_embedding_name
from plcore.tables.roles.suggestion import suggest_roles
from plcore.tables.text.arrow import frame_of
from plcore.tables.text.csv import LINE_INDEX, name_problems, storable, with_index
from plcore.tables.text.frames import frame_as_text, numbers_as_text

MAX_NUMBERS = 200_000_000
"""Maximum number of values in a column of vectors: 800 MB."""


@dataclass(frozen=True)
class TableReading:
    """The content of a file.

    Attributes
    ----------
    cells : (n_rows, n_columns) DataFrame of str; its index is named `line` if the rows have lines in a file
    format : the format in words: "Excel workbook, sheet 'Birds'"
    roles : roles of the columns as given by the format; None if they must be guessed
    files : images and recordings that came with the table; None if there are none
    notes : a sentence for each part that was left out or interpreted
    arrays : by name, vector columns (n_rows, d) in addition to the text columns
    typed : whether the source distinguishes text from missing values
    groups : groups of classes by name (a genus and its species), if the format has them
    asks : name, message and fix of each doubt about the whole file that stops its import until the user confirms the
        reading
    others : other readings of the same files by their kind of item, created on request; empty if read from storage
    """

    cells: pd.DataFrame
    format: str
    roles: Roles | None = None
    files: MediaFiles | None = None
    notes: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    arrays: Mapping[str, Vectors] = field(default_factory=dict)
    typed: bool = False
    asks: tuple[tuple[str, str, str], ...] = ()
    others: Mapping[str, Callable[[], TableReading]] = field(default_factory=dict)

    def suggest_roles(self) -> Roles:
        """Return the roles given by the format, or a guess. A column of vectors is the embedding."""
        roles = self.roles
        if roles is None:
            roles = roles_with(self.cells, self.files, typed=self.typed)
        if roles.id is not None and roles.id in (roles.image, roles.audio):
            roles = replace(roles, id=None)  # a table of scores names its rows by their pictures
        if roles.embedding is not None or not self.arrays:
            return roles
        name = next(filter(is_embedding_name, self.arrays), next(iter(self.arrays)))
        return replace(roles, embedding=name, image_features=False, sound_features=False)


def roles_with(cells: pd.DataFrame, files: MediaFiles | None, *, typed: bool = False) -> Roles:
    """Guess the roles of a table that came with these files. typed : as in `suggest_roles`"""
    completed: Callable[[str], str] = str if files is None else files.completed
    return suggest_roles(cells, files=files is not None, typed=typed, completed=completed)


_SHOWN = (
    "text", "more_texts", "image", "more_images", "audio", "start", "end", "embedding", "image_features",
    "sound_features", "source", "numbers", "categories", "caption",
)  # fmt: skip


def own_roles(
    cells: pd.DataFrame, original: Sequence[str], own: Roles, *, files: bool = False, typed: bool = False
) -> Roles:
    """Return the roles of a table that Winnow wrote.

    Those of labels, votes, true labels and ids are in the file; those of the original columns are guessed.

    original : the original columns      own : the roles in the file
    files, typed : as in `suggest_roles`
    """
    others = [name for name in original if name not in (own.id, *own.label_columns)]
    if not others:
        return own
    guess = suggest_roles(cells[others], files=files, typed=typed)
    found = replace(own, **{name: getattr(guess, name) for name in _SHOWN})
    labels = set(named_labels(cells, own, Finder(None)).labels.unique().to_pylist()) if own.candidates else set()
    # Votes and true labels, no matter their names: as features they would reveal every answer.
    categories = tuple(name for name in found.categories if not set(cells[name].str.strip()) <= {*labels, ""})
    return replace(found, categories=categories)


def refusing(message: str, fix: str) -> Callable[..., TableReading]:
    """Return a reader for files that are recognised only to refuse them with this message."""

    def read(*_file: object) -> TableReading:
        raise refusal(message, fix)

    return read


def check_vectors(name: str, n_rows: int, width: int) -> None:
    """Raise TableError if a vector column has too many numbers; call this before allocating the column."""
    if n_rows * width > MAX_NUMBERS:
        message = f"the vectors in {name!r} have {n_rows * width:,} numbers; at most {MAX_NUMBERS:,} are allowed."
        raise refusal(message, "Make them shorter, by principal components, say, or import fewer rows.")


def text_table(
    names: Sequence[str], columns: Sequence[Sequence[str] | pa.LargeStringArray], lines: Sequence[int] | None = None
) -> pd.DataFrame:
    """Build the cells from text columns and their names.

    lines : file line in which each row starts, or its row in a sheet; None if there are none
    Raises TableError: no rows, names empty or duplicate, text that cannot be stored.
    """
    names = with_index(names)
    problems = name_problems(names)
    if problems:
        raise table_error(problems)
    n_rows = len(columns[0]) if columns else 0
    if not n_rows:
        raise refusal("The file has no data rows.", "Add at least one data row.")
    arrays = []
    for place, column in enumerate(columns):
        try:
            arrays.append(column if isinstance(column, pa.Array) else pa.array(column, pa.large_string()))
        except UnicodeEncodeError:
            message, fix = "the text holds half of a character (a lone surrogate).", "Correct the text."
            bad = [row for row, text in enumerate(column) if not storable(str(text))][:MAX_PROBLEMS]
            at = [None if lines is None else lines[row] for row in bad]
            raise table_error(
                Problem(row + 1, line, names[place], message, fix) for row, line in zip(bad, at, strict=True)
            ) from None
    frame = frame_of(arrays, names)
    if lines is not None:
        frame.index = pd.Index(lines, name=LINE_INDEX)
    return frame


def cells_of(columns: Mapping[str, Sequence[object]]) -> pd.DataFrame:
    """Convert values by column to text cells, as in `plcore.tables.text.frames`."""
    return frame_as_text(pd.DataFrame({name: pd.Series(list(v), dtype=object) for name, v in columns.items()}))


def json_candidates(column: str, **roles: Any) -> Roles:
    """Return roles with this column as candidates, a JSON list of class names in each cell."""
    return Roles(candidates=column, form="json", **roles)


def column_text(values: Sequence[object]) -> Sequence[str] | pa.LargeStringArray:
    """Return the text of each value of a column; ten times as fast if all have one type, the usual case."""
    kinds = set(map(type, values))
    if kinds <= {str}:
        return values
    if kinds <= {float, type(None)}:
        return numbers_as_text(np.array(values, dtype=np.float64))
    return [cell_text(value) for value in values]


def cell_text(value: object) -> str:
    """Return the text of a value: '' for None and NaN, whole numbers without a point, `true` and `false`, dates in ISO
    8601, lists and objects as JSON."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, float):
        return "" if value is None else float_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(plain(value), ensure_ascii=False)
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value:f}" if value.is_finite() else ""
    return str(value)


def float_text(value: float) -> str:
    """Return the shortest text that reads back as this number, whole ones without a point; '' for NaN."""
    if math.isnan(value):
        return ""
    text = repr(value)
    return text.removesuffix(".0")


def plain(value: object) -> object:
    """Return the value in JSON types: unsupported values as text, NaN as null."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return None if math.isnan(value) else value if math.isfinite(value) else repr(value)
    return value if value is None or isinstance(value, (bool, int)) else cell_text(value)


def plain_name(name: object) -> str:
    """Return a column name in lower case, without surrounding spaces and Kaleidoscope's trailing star."""
    return str(name).strip().rstrip("*").rstrip().lower()


def by_plain_name(names: Iterable[object]) -> dict[str, str]:
    """Map plain names to columns; of several with the same plain name, the first."""
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(plain_name(name), str(name))
    return found


@dataclass(frozen=True)
class Fingerprint:
    """Column names that together identify one tool, in lower case, as `plain_name` returns them.

    needs : names that are always present
    starts : prefixes; at least one name begins with each
    one_of : groups of names; at least one name of each group is present
    never : names that identify another tool
    """

    needs: frozenset[str]
    starts: tuple[str, ...] = ()
    one_of: tuple[frozenset[str], ...] = ()
    never: frozenset[str] = frozenset()

    def matches(self, names: Iterable[object]) -> bool:
        """Whether a file with these names was written by the tool."""
        present = {plain_name(name) for name in names}
        return (
            self.needs <= present
            and self.never.isdisjoint(present)
            and all(any(name.startswith(start) for name in present) for start in self.starts)
            and all(not group.isdisjoint(present) for group in self.one_of)
        )

    def check(self, names: Iterable[object], tool: str) -> None:
        """Raise TableError if a file with these names was not written by the tool."""
        given = [str(name) for name in names]
        if not self.matches(given):
            missing = sorted(self.needs - {plain_name(name) for name in given})
            lack = f", and {listed(missing)} {'are' if len(missing) > 1 else 'is'} missing" if missing else ""
            raise refusal(
                f"The columns are not those of a {tool} file: they are {listed(given)}{lack}.",
                "Import the file as the tool wrote it.",
            )


def names(*of: str) -> frozenset[str]:
    """Return a set of names, to declare a fingerprint."""
    return frozenset(of)


def texts_of(cells: pd.DataFrame, column: str | None) -> list[str]:
    """Return the stripped cells of a column; empty ones if there is no such column."""
    return [""] * len(cells) if column is None else cells[column].str.strip().tolist()


def number_in(text: str) -> float | None:
    """Return the number that a text is, as Python reads it; None for other text."""
    try:
        return float(text)
    except ValueError:
        return None


def moment_in(text: str) -> float | None:
    """Return the seconds since 1970 of an ISO 8601 date and time, in UTC if it has no zone, which may be written " UTC"
    as by Zooniverse; None for other text."""
    try:
        when = datetime.datetime.fromisoformat(text.removesuffix(" UTC"))
        return (when if when.tzinfo is not None else when.replace(tzinfo=datetime.UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


_DECIMAL_COMMA = re.compile(r"^(\d+),(\d+)$")
_NO_SCORE = ("", "NA", "NaN", "nan")


def scores_of(cells: pd.DataFrame, column: str | None, what: str = "a score") -> list[float | None]:
    """Return the scores from 0 to 1 in a column, with decimal points or commas; None for empty cells.

    what : the expected content, for messages. Raises TableError for other cells.
    """
    finder, found = Finder.of(cells), []
    for row, text in enumerate(texts_of(cells, column)):
        score = None if text in _NO_SCORE else number_in(_DECIMAL_COMMA.sub(r"\1.\2", text))
        if text not in _NO_SCORE and (score is None or not 0 <= score <= 1):
            finder.add(row, column, f"expected {what} from 0 to 1, got {quoted(text)}.", "Correct the cell.")
        found.append(score)
    finder.refuse()
    return found


def first_named(columns: Mapping[str, str], *options: str) -> str | None:
    """Return the first of these plain names that the file has, as written in the file."""
    return next((columns[name] for name in options if name in columns), None)


def lines_of(cells: pd.DataFrame) -> list[int] | None:
    """Return the file line where each row begins, if known."""
    return cells.index.tolist() if cells.index.name == LINE_INDEX else None


def read_media(archive: FileTree) -> TableReading:
    """Read images or recordings without a table, whichever are more: a row for each, in the order of their paths, with
    its folder inside the folder that all share."""
    names = sorted(archive.names())
    images, recordings = (
        [name for name in names if name.lower().endswith(endings)] for endings in (IMAGE_ENDINGS, RECORDINGS)
    )
    items, what = (images, "image") if len(images) >= len(recordings) else (recordings, "recording")
    cells = {"file": items}
    folders = [PurePosixPath(name).parent for name in items]
    shared = posixpath.commonpath(folders)
    notes = []
    if len(set(folders)) > 1:
        cells["folder"] = [str(one.relative_to(shared)) for one in folders]
        notes.append(
            "The folders of the files are in column 'folder': if they are labels, choose it as the true label."
        )
    if left := sorted(set(names) - set(items)):
        notes.append(f"Not read: {listed(left, 5)}.")
    form = f"{archive.what} of {counted(len(items), what)}"
    made = text_table(list(cells), list(cells.values()))
    return TableReading(made, form, files=MediaFiles(archive), notes=tuple(notes))
