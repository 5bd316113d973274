"""The map of a project's rows: where each lies by its features, how it stands, what it is, and who answered it."""

from __future__ import annotations

import io
import json
import logging
import threading
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from db import answers
from db.projects import Project
from plcore import LabelTable
from plcore.arrays import AnyArray, FloatArray, IntArray
from plcore.loop import Learner
from workflow.access import NotAllowed, Right
from workflow.answering.loop import ask_next
from workflow.files.stored import make_folder, whole_file
from workflow.kinds import needed
from workflow.kinds.kind import NamedRows
from workflow.models import leases
from workflow.opened import Opened
from workflow.rows.finding import names_of
from workflow.rows.queue import may_see_order
from workflow.seat import Seat
from workflow.server.home import Home, room_for_learner

# Where rows are on the map: by the principal axes of their features, or next to those most like them (t-SNE).

MOST = 2_000
"""Rows on the map; of more, a seeded sample. A browser draws this many in half a second
(benchmarks/results/pages.md)."""
LEAST = 20
"""Rows below which the axes say all."""
AXES = 50
"""Principal axes that t-SNE uses, if there are more features: those after them are noise for the most part, and
cost time."""
ROUNDS = 500
"""For gradient descent; twice as many keep neighbours together no better (benchmarks/results/maps.md)."""
NEAR = 30
"""Perplexity: about how many rows each is to lie alongside."""


def rows_on_map(n_rows: int) -> IntArray:
    """The rows that are drawn, ascending."""
    return np.sort(np.random.default_rng(0).permutation(n_rows)[:MOST])


@room_for_learner()
def features_of(table: LabelTable, rows: IntArray) -> object:
    """(k, d) the features of these rows, dense or sparse, fitted on them. Raises NoRoomError."""
    return table.features().fit(table, rows).transform(table, rows)


def principal_axes(X: Any, axes: int = 2) -> tuple[FloatArray, float]:
    """(k, axes) float32, the first principal components of X (k, d), and the share of the variance that they hold;
    if there are fewer, the others are 0, and of rows that are all alike all are."""
    found = np.zeros((X.shape[0], axes), dtype=np.float32)
    size = min(axes, X.shape[1], X.shape[0] - 1)
    if size < 1 or (X.max(axis=0) - X.min(axis=0)).max() == 0:
        return found, 1.0  # one point says all
    if sparse.issparse(X) and min(X.shape) <= axes:
        X = X.toarray()
    pca = PCA(size, svd_solver="arpack" if sparse.issparse(X) else "auto", random_state=0)
    found[:, :size] = pca.fit_transform(X)
    return found, float(pca.explained_variance_ratio_.sum())


def more_to_show(X: Any) -> bool:
    """Whether two axes may be too few for these rows (k, d)."""
    differ = bool((X.max(axis=0) - X.min(axis=0)).max() > 0)
    return X.shape[0] >= LEAST and X.shape[1] > 2 and differ


def beside_neighbors(X: Any, rounds: int = ROUNDS) -> FloatArray:
    """(k, 2) float32, t-SNE of X (k, d), from the principal axes on (van der Maaten and Hinton, JMLR 2008). Call it
    if there is `more_to_show`. rounds : of gradient descent"""
    reduced: AnyArray = principal_axes(X, AXES)[0] if X.shape[1] > AXES else _dense(X)
    near = min(NEAR, (X.shape[0] - 1) / 3)
    layout = TSNE(perplexity=near, init="pca", random_state=0, max_iter=rounds)
    # On a busy machine several threads wait for one another, and take many times as long.
    with threadpool_limits(1, user_api="openmp"):
        return np.asarray(layout.fit_transform(reduced), np.float32)


def _dense(X: Any) -> AnyArray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


# Layouts of the map in which rows are next to those most like them: wished for by a page, made by a worker, kept.
#
# A layout is of a table, whatever was answered. Both it and the wish for one are files in the folder `cache` of the
# data folder, which may be removed at any time: a map is drawn by the principal axes if there is none.

logger = logging.getLogger("winnow")

TASK = "map"
"""The task of the leases of layouts."""
_MADE_AS = 1
"""Counts the ways in which layouts were made: those of an earlier one are not shown again."""


@dataclass(frozen=True)
class Wish:
    """project_id : whose map someone looked at      table_hash : of its table      fault : why it cannot be made"""

    project_id: int
    table_hash: str
    fault: str = ""


def kept(home: Home, table_hash: str, rows: IntArray) -> FloatArray | None:
    """(k, 2) the layout of these rows of the table; None if there is none, or only one that cannot be read."""
    try:
        with np.load(io.BytesIO(_layout(home, table_hash).read_bytes()), allow_pickle=False) as file:
            places, laid = file["places"], file["rows"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    if places.shape != (len(rows), 2) or not np.array_equal(laid, rows) or not np.isfinite(places).all():
        return None
    return np.asarray(places)


def wish(home: Home, project_id: int, table_hash: str) -> Wish:
    """The wish for a layout of this table, left for a worker if there was none. A disk that cannot be written keeps
    no one from looking at the map."""
    found = _read(path := _wish(home, table_hash))
    if found is not None:
        return found
    found = Wish(project_id, table_hash)
    with suppress(OSError):
        make_folder(path.parent)
        _write(path, found)
    return found


def wishes(home: Home) -> list[Wish]:
    """Searches that a worker can do."""
    found = [_read(path) for path in sorted(_folder(home).glob(f"*-{_MADE_AS}.wish"))]
    return [one for one in found if one is not None and not one.fault]


def fulfil(home: Home, wished: Wish) -> None:
    """Make the layout, keep it, and take the wish away. Raises what reading the table, or writing, raises."""
    table = home.read_table(wished.table_hash)
    rows = rows_on_map(table.n_rows)
    places = beside_neighbors(features_of(table, rows))
    file = io.BytesIO()
    np.savez(file, rows=rows, places=places)
    with whole_file(_layout(home, wished.table_hash)) as whole:
        whole.write(file.getbuffer())
    drop(home, wished)


def note_fault(home: Home, wished: Wish, fault: str) -> None:
    """Note why the layout cannot be made: it is not tried again. Raises OSError."""
    _write(_wish(home, wished.table_hash), replace(wished, fault=fault))


def drop(home: Home, wished: Wish) -> None:
    """Take a wish away."""
    _wish(home, wished.table_hash).unlink(missing_ok=True)


def _folder(home: Home) -> Path:
    return home.cache_dir / "maps"


def _layout(home: Home, table_hash: str) -> Path:
    return _folder(home) / f"{table_hash}-{_MADE_AS}.npz"


def _wish(home: Home, table_hash: str) -> Path:
    return _folder(home) / f"{table_hash}-{_MADE_AS}.wish"


def _read(path: Path) -> Wish | None:
    try:
        return Wish(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # not there, or not what was written: it is wished for again
        return None


def _write(path: Path, wished: Wish) -> None:
    with whole_file(path) as file:
        file.write(json.dumps(asdict(wished)).encode())


STATES = ("open", "answered", "given", "held out", "bad")


@dataclass(frozen=True)
class InstanceMap:
    """Arrays over the k rows on the map.

    places : (k, 2) where they lie: next to those most like them if they are `laid_out`, else their first two
        principal components
    states : (k,) number in STATES
    labels : of each row its candidates now; where several labels may be right, the labels known to be right
    classes : their names, which `named` numbers
    explained : share of the variance of the features that the two components hold
    coming : a worker is to lay them out      layout_fault : why it cannot, "" if nothing keeps it
    can_ask : whether this person may have a row asked that they choose (`ask_row`)
    """

    rows: np.ndarray
    row_ids: tuple[str, ...]
    places: np.ndarray
    states: np.ndarray
    labels: tuple[tuple[str, ...], ...]
    classes: tuple[str, ...]
    named: NamedRows
    explained: float
    laid_out: bool
    coming: bool
    layout_fault: str
    n_rows: int
    can_ask: bool


@dataclass(frozen=True)
class _Places:
    """more : whether two axes may be too few      laid_out : a worker has placed the rows"""

    rows: np.ndarray
    places: np.ndarray
    explained: float
    more: bool
    laid_out: bool = False


# Where a row lies does not depend on the answers: computed once for a learner's table, by one thread.
_known: WeakKeyDictionary[Learner, _Places] = WeakKeyDictionary()
_placing = threading.Lock()


def instance_map(seat: Seat) -> InstanceMap:
    """Where the rows lie, and the state of each. The learner is locked for a moment only: no question waits."""
    with seat.learner() as opened:
        learner, table, project = opened.learner, opened.learner.table, opened.project
    with _placing:
        found = _known.get(learner) or _place(table)
        found, fault = _laid_out(seat, project, found)
        _known[learner] = found
    rows = found.rows.tolist()
    with seat.learner() as opened:
        states = _row_states(opened)[found.rows]
        labels = opened.learner.pool.labels_shown(rows)
        named = needed(opened.kind, opened.kind.MAP, "map").named(opened.learner, rows)
        classes = tuple(opened.learner.classes)
        can_ask = opened.may(Right.ANSWER) and may_see_order(opened)
    return InstanceMap(
        rows=found.rows,
        row_ids=tuple(map(table.id_of, found.rows)),
        places=found.places,
        states=states,
        labels=labels,
        classes=classes,
        named=named,
        explained=found.explained,
        laid_out=found.laid_out,
        coming=found.more and not found.laid_out and not fault and seat.home.settings.workers > 0,
        layout_fault=fault,
        n_rows=table.n_rows,
        can_ask=can_ask,
    )


def is_waited_for(seat: Seat) -> bool:
    """Whether the layout that `coming` speaks of is neither made by now nor given up."""
    with seat.reading() as reading:
        project = reading.project
    rows = rows_on_map(project.n_rows)
    return kept(seat.home, project.table_hash, rows) is None and not _fault(seat, project)


def answered_by(seat: Seat, rows: Sequence[int]) -> tuple[str, ...]:
    """Annotator of the latest answer to each of these rows that was not withdrawn, "" if no one did. For who may see
    everyone's answers."""
    kinds = seat.kind.ANSWERS
    with seat.reading(Right.REVIEW) as reading:
        found = answers.latest_people(reading.session, reading.project.id, kinds, rows)
        names = names_of(reading.session)
    return tuple(names.get(found[row], "") if row in found else "" for row in rows)


def ask_row(seat: Seat, row: int) -> object:
    """Ask this person about a row of the map; where labels are asked one by one, about the open label that is in
    doubt most. Returns the shown question.

    Raises
    NotAllowed : The person does not own the project, which has blind checks: that a row cannot be chosen would show
        that it is one.
    AnswerError, NotSaved, NotFound : As `workflow.answering.loop.ask_next`.
    """
    with seat.learner(Right.ANSWER) as opened:
        if not may_see_order(opened):
            raise NotAllowed("In a project with blind checks the owner alone chooses which row is asked.")
        on_map, learner = needed(opened.kind, opened.kind.MAP, "map"), opened.learner
        label = None
        if on_map.label_to_ask is not None and 0 <= row < learner.table.n_rows:
            label = on_map.label_to_ask(learner, row)
    return ask_next(seat, row, label)


def _row_states(opened: Opened[Learner]) -> np.ndarray:
    """(n,) number in STATES. Control rows, or rows with control cells, look like all others: they are asked blindly."""
    pool = opened.learner.pool
    states = np.full(len(pool.bad), STATES.index("given"))
    states[pool.answered_rows] = STATES.index("answered")
    states[pool.open_rows] = STATES.index("open")  # answered or not: it can still be asked
    states[pool.test_rows] = STATES.index("held out")
    states[pool.bad] = STATES.index("bad")
    return states


def _place(table: LabelTable) -> _Places:
    """Where the rows lie by the principal axes of their features, fitted on the rows shown."""
    rows = rows_on_map(table.n_rows)
    X = features_of(table, rows)
    places, explained = principal_axes(X)
    return _Places(rows, places, explained, more_to_show(X))


def _laid_out(seat: Seat, project: Project, found: _Places) -> tuple[_Places, str]:
    """The layout that a worker has made; if there is none, the axes, and why there will be none: "" while one is
    being made, which is wished for here, or where there is no more to show than the axes do."""
    if found.laid_out or not found.more:
        return found, ""
    places = kept(seat.home, project.table_hash, found.rows)
    if places is not None:
        return replace(found, places=places, laid_out=True), ""
    return found, _fault(seat, project)


def _fault(seat: Seat, project: Project) -> str:
    """Why no one lays out the map; "" where a worker is to, for whom the wish is left here."""
    if fault := wish(seat.home, project.id, project.table_hash).fault:
        return fault
    with seat.reading() as reading:
        return leases.resting(reading.session, project.id, project.table_hash, TASK) or ""
