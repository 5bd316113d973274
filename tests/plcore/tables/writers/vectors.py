"""Code shared by the tests of exported label vectors: tables of any labels and cells."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
from hypothesis import strategies as st

from plcore import LabelTable
from plcore.loop.label_vectors import LabelVectorExport
from plcore.loop.label_vectors.export import SOURCES
from plcore.tables.writers.disambiguated import LabelVectorTable
from tests.plcore.tables.writers.tables import CLASS_NAMES, TEXTS, lists_of


@st.composite
def vector_tables(draw: st.DrawFn) -> LabelVectorTable:
    """Rows with ids or numbers; labels of any text, in columns or in lists; cells of any value."""
    labels = draw(CLASS_NAMES.filter({"text", "name"}.isdisjoint))
    n = draw(st.integers(1, 4))
    values = np.array(draw(rows_of(n, len(labels), st.sampled_from([-1, 0, 1]))), dtype=np.int8)
    values[-1] = np.arange(len(labels)) % 2  # every label is named
    shares = np.array(draw(rows_of(n, len(labels), st.floats(0, 1) | st.just(np.nan))))
    predicted = np.array(draw(rows_of(n, len(labels), st.sampled_from([-1, 0, 1]))), dtype=np.int8)
    origins = np.array(draw(rows_of(n, len(labels), st.integers(0, len(SOURCES) - 1))), dtype=np.int8)
    numbered, in_columns = draw(st.booleans()), draw(st.booleans())
    ids = tuple(str(row + 1) if numbered else f"r{row}" for row in range(n))
    cells = {} if numbered else {"name": list(ids)}
    cells["text"] = draw(st.lists(TEXTS, min_size=n, max_size=n))
    replaced = tuple(f"column of {name}" for name in labels) if in_columns else ()
    cells |= {name: ["0"] * n for name in replaced}
    found = LabelVectorExport(ids, labels, values, shares, predicted, origins)
    return LabelVectorTable(found, pd.DataFrame(cells, dtype="str"), replaced)


def rows_of(n: int, width: int, each: st.SearchStrategy) -> st.SearchStrategy:
    return lists_of(lists_of(each, width), n)


def origins_of(sources: npt.ArrayLike) -> npt.NDArray[np.int8]:
    """The places in SOURCES of these words."""
    return np.vectorize(SOURCES.index, otypes=[np.int8])(sources)


def small_vectors(n_rows: int = 3) -> LabelVectorTable:
    """Pictures with sea and sand."""
    cells = np.resize(np.array([[1, 0], [-1, 1], [-1, -1]], dtype=np.int8), (n_rows, 2))
    shares = np.resize([[1, 0], [0.75, 1], [0.5, np.nan]], (n_rows, 2))
    predicted = np.resize(np.array([[-1, -1], [1, -1], [0, -1]], dtype=np.int8), (n_rows, 2))
    origins = np.resize(origins_of([["given", "person"], ["model", "truth"], ["model", "bad"]]), (n_rows, 2))
    names = tuple(f"n{row}" for row in range(n_rows))
    frame = pd.DataFrame({"name": names, "sea": "", "text": "a b", "sand": "0"}, dtype="str")
    return LabelVectorTable(
        LabelVectorExport(names, ("sea", "sand"), cells, shares, predicted, origins), frame, ("sea", "sand")
    )


def same_vectors(table: LabelVectorTable, read: LabelTable) -> None:
    """Whether what was read has the same ids and, label by label, the same cells."""
    assert read.ids.tolist() == list(table.found.ids)
    assert set(read.classes) == set(table.found.labels)
    places = [read.classes.index(name) for name in table.found.labels]
    assert read.label_vectors[:, places].tolist() == table.found.cells.tolist()
