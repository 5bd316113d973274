"""Code shared by the tests of formats: candidates as they were read, and tables of any labels, sets and answers."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from plcore import LabelTable, TableError
from plcore.arrays.words import forbidden_in_name
from plcore.tables.readers.reading import TableReading
from plcore.tables.roles.cells import as_labels
from plcore.tables.writers import disambiguated as disambiguated_module
from plcore.tables.writers import npz, parquet, verdicts
from plcore.tables.writers.disambiguated import Disambiguated, silent

MAY = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
"""Any character that a file can hold."""

NAMED = st.characters(
    exclude_categories=["Cs"], exclude_characters="".join(filter(forbidden_in_name, map(chr, range(0x3000))))
)
"""Any character that the name of a class can hold."""

LABELS = st.text(NAMED, min_size=1, max_size=6).filter(lambda text: text == text.strip())
TEXTS = st.text(MAY, max_size=8)
WEIGHTS = st.floats(1e-6, 1e6, allow_nan=False)
HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
"""Any value that JSON can hold."""


def candidates(reading: TableReading) -> list[Any]:
    """The candidates of each row: a list of names, or names with weights."""
    assert (reading.roles.candidates, reading.roles.form) == ("candidates", "json")
    return [json.loads(cell) for cell in reading.cells["candidates"]]


def sources(reading: TableReading) -> list[Any]:
    cells = reading.cells.get("sources", [""] * len(reading.cells))
    return [json.loads(cell) if cell else {} for cell in cells]


def ends_when_listener_raises(write: Callable[..., object], *given: object) -> None:
    """Check that writing stops as soon as the listener, its last argument, raises."""

    def stop(rows: int) -> None:
        raise InterruptedError(rows)

    with pytest.raises(InterruptedError):
        write(*given, stop)


def in_small_pieces(patch: pytest.MonkeyPatch) -> None:
    """Write 800 rows at once."""
    for module in (disambiguated_module, npz, parquet, verdicts):
        patch.setattr(module, "PIECE_ROWS", 800)


def noted(reading: TableReading, *words: str) -> bool:
    """Whether one of the notes has all these words."""
    return any(all(word in note for word in words) for note in reading.notes)


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    """Cells of text, as a reader of CSV gives them."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pd.DataFrame({name: pd.Series([str(row.get(name, "")) for row in rows], dtype="str") for name in names})


def broken_at(record: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of a record with this value at one place of it."""
    broken = deepcopy(record)
    inside: Any = broken
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    return broken


def read_or_refuse(read: Callable[..., Any], *given: Any) -> Any:
    """The reading; None if it is refused with a message, as it must be if anything is wrong."""
    try:
        return read(*given)
    except TableError as error:
        if not error.problems or not all(problem.message and problem.fix for problem in error.problems):
            raise AssertionError("a refusal without words") from error
        return None


def opens(reading: TableReading) -> LabelTable:
    """The table made from it, whose ids, numbers and text are in order."""
    assert reading.roles is not None
    return LabelTable.from_cells(reading.cells, replace(reading.roles, truth=None))


def is_label(text: str) -> bool:
    """Whether it may be the name of a class: labels in cells are put into this form when they are read."""
    clean = as_labels(pa.array([text], pa.large_string()))[0].as_py()
    return bool(clean) and clean == text.strip() == text


CLASS_NAMES = (
    st.lists(
        st.text(NAMED, min_size=1, max_size=6).filter(is_label)
        | st.text("ab|;,/:0.\"'[]", min_size=1, max_size=5).filter(is_label)
        | st.sampled_from(["NA", "None", "nan", "null", "1", "0", "true", "02", "007", "-1", "1e3", "0.5"])
        | st.sampled_from(["1.0", "2.0", "-1.00", "True", "FALSE"]),
        min_size=2,
        max_size=4,
        unique=True,
    )
    | st.lists(st.sampled_from(["1", "1.0", "2.0", "3"]), min_size=2, max_size=4, unique=True)
    | st.permutations(["True", "FALSE"])
).map(tuple)
"""Names of classes with any text, often with separators, or another spelling of a number."""


@st.composite
def disambiguated(
    draw: st.DrawFn,
    *,
    names: st.SearchStrategy[Sequence[str]] = st.lists(LABELS, min_size=2, max_size=4, unique=True),  # noqa: B008
    weighted: bool | None = None,
    answered: bool = True,
) -> Disambiguated:
    """A small table of classes with any of these names, any candidates, any weights, and any answers that name
    labels."""
    n_rows = draw(st.integers(1, 4))
    classes = tuple(draw(names))
    before, some = (sets(draw, n_rows, len(classes)) for _ in range(2))
    after = before & some
    after[~after.any(axis=1)] = before[~after.any(axis=1)]
    weights = None
    if draw(st.booleans()) if weighted is None else weighted:
        weights = before * np.reshape(draw(lists_of(WEIGHTS, before.size)), before.shape)
    answers = []
    for place in range(draw(st.integers(0, 4)) if answered else 0):
        labels = draw(st.lists(st.sampled_from(classes), min_size=1, max_size=2, unique=True))
        answers.append(
            {
                "row": draw(st.integers(0, n_rows - 1)),
                "person": draw(st.sampled_from(["ann", "bob"])),
                "kind": "is" if len(labels) == 1 else "among",
                "labels": labels,
                "at": f"2026-01-01T00:00:{place:02d}+00:00",
                "seconds": draw(st.none() | st.floats(0, 100)),
                "model_version": draw(st.none() | st.just("v1")),
            }
        )
    return Disambiguated(
        ids=np.array(draw(lists_of(st.text("abcé1", min_size=1, max_size=4), n_rows, unique=True)), dtype=object),
        cells=pd.DataFrame({"text": draw(lists_of(TEXTS, n_rows))}, dtype="str"),
        classes=classes,
        candidates_before=before,
        candidates_after=after,
        weights=weights,
        label=np.full(n_rows, -1),
        source=np.array([""] * n_rows, dtype=object),
        probability=np.full(n_rows, np.nan),
        answers=answers,
    )


def lists_of(each: st.SearchStrategy[Any], size: int, **more: bool) -> st.SearchStrategy[list[Any]]:
    return st.lists(each, min_size=size, max_size=size, **more)


def sets(draw: st.DrawFn, n_rows: int, n_classes: int) -> npt.NDArray[np.bool_]:
    """(n_rows, n_classes) at least one class in every row."""
    numbers = draw(lists_of(st.integers(1, 2**n_classes - 1), n_rows))
    return (np.array(numbers)[:, None] >> np.arange(n_classes) & 1).astype(bool)


@st.composite
def decided(draw: st.DrawFn) -> Disambiguated:
    """A table of any labels, sets, weights and answers, with labels of any source; rows by id or by number."""
    table = draw(disambiguated(names=CLASS_NAMES))
    n = len(table.ids)
    table.candidates_before[-1] = table.candidates_after[-1] = True  # every class occurs: one alone is refused
    if table.weights is not None:
        table.weights[-1] = draw(lists_of(WEIGHTS, len(table.classes)))
    source = draw(lists_of(st.sampled_from(["given", "person", "necessary", "model", "truth", "open"]), n))
    label = [
        -1 if name == "open" else draw(st.sampled_from(np.flatnonzero(row).tolist()))
        for name, row in zip(source, table.candidates_after, strict=True)
    ]
    share = [np.nan if name == "open" else draw(st.floats(0, 1)) for name in source]
    answers = table.answers
    if draw(st.booleans()):
        skip = {"person": "cy", "kind": "skip", "labels": [], "at": "2026-01-02", "seconds": 2.5, "model_version": None}
        answers = [*answers, {"row": 0, **skip}]
    numbered = draw(st.booleans())
    ids = np.array([str(row + 1) for row in range(n)], dtype=object) if numbered else table.ids
    cells = table.cells if numbered else table.cells.assign(name=pd.Series([f" {name}" for name in ids], dtype="str"))
    return replace(
        table, ids=ids, cells=cells, label=np.array(label), probability=np.array(share),
        source=np.array(source, dtype=object), answers=answers, model_version=draw(st.none() | st.just("3")),
    )  # fmt: skip


def small_table(n_rows: int = 3) -> Disambiguated:
    """Rows p, q, r (or numbered ones) of wren, robin and film, answered, open and by a model."""
    names = ["p", "q", "r"] if n_rows == 3 else [f"n{row}" for row in range(n_rows)]
    before = np.resize(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool), (n_rows, 3))
    after = before.copy()
    after[0] = [True, False, False]
    answer = {"row": 0, "person": "ann", "kind": "is", "labels": ["wren"], "at": "2026-01-01T00:00:00+00:00"}
    return Disambiguated(
        np.array(names, dtype=object),
        pd.DataFrame({"name": names, "text": (["some words", "b,\n", "c "] * n_rows)[:n_rows]}, dtype="str"),
        ("wren", "robin", "film"),
        before,
        after,
        before * np.array([0.5, 0.25, 0.25]),
        np.resize([0, -1, 1], n_rows),
        np.resize(np.array(["person", "open", "model"], dtype=object), n_rows),
        np.resize([1, np.nan, 0.75], n_rows),
        [{**answer, "seconds": 1.5, "model_version": "2"}],
        "3",
        probabilities=np.resize([[1.0, 0, 0], [0.2, 0.5, 0.3], [0, 0.75, 0.25]], (n_rows, 3)),
    )


def written(write: Callable[..., None], table: Any, tell: Callable[[int], None] = silent) -> bytes:
    """The bytes of the written file."""
    file = io.BytesIO()
    write(table, file, tell)
    return file.getvalue()


def same_candidates(table: Disambiguated, read: LabelTable) -> None:
    """Check that the reading has the same ids, and for every row the same candidates with the same weights."""
    assert read.ids.tolist() == table.ids.tolist()
    weights = read.candidate_weights
    for row, left in enumerate(table.weighted()):
        found = {read.classes[place]: place for place in np.flatnonzero(read.candidates[row])}
        assert found.keys() == left.keys()
        even = len(set(left.values())) == 1
        if weights is None:
            assert even
        elif table.weights is not None:
            assert {name: weights[row, place] for name, place in found.items()} == left
