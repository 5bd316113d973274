"""The map of a project's rows: position by features, state, label, and annotator."""

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

# Positions of rows on the map: by the principal axes of their features, or next to similar rows (t-SNE).

MOST = 2_000
"""Maximum number of rows on the map; larger tables are sampled with a seed. A browser draws this many in half a second
(benchmarks/results/pages.md)."""
LEAST = 20
"""Minimum number of rows for t-SNE; with fewer, the axes are enough."""
AXES = 50
"""Number of principal axes that t-SNE uses, if there are more features: later axes are mostly noise, and cost time."""
ROUNDS = 500
"""Rounds of gradient descent; twice as many preserve neighbours no better (benchmarks/results/maps.md)."""
NEAR = 30
"""Perplexity: about the number of neighbours of each row."""


def rows_on_map(n_rows: int) -> IntArray:
    """Return the rows that are drawn, ascending."""
    return np.sort(np.random.default_rng(0).permutation(n_rows)[:MOST])


@room_for_learner()
def features_of(table: LabelTable, rows: IntArray) -> object:
    """Return the features (k, d) of these rows, dense or sparse, fitted on them. Raises NoRoomError."""
    return table.features().fit(table, rows).transform(table, rows)


def principal_axes(X: Any, axes: int = 2) -> tuple[FloatArray, float]:
    """Return (k, axes) float32, the first principal components of X (k, d), and their share of the variance. Missing
    components are 0; if all rows are equal, all are 0."""
    found = np.zeros((X.shape[0], axes), dtype=np.float32)
    size = min(axes, X.shape[1], X.shape[0] - 1)
    if size < 1 or (X.max(axis=0) - X.min(axis=0)).max() == 0:
        return found, 1.0  # one component explains everything
    if sparse.issparse(X) and min(X.shape) <= axes:
        X = X.toarray()
    pca = PCA(size, svd_solver="arpack" if sparse.issparse(X) else "auto", random_state=0)
    found[:, :size] = pca.fit_transform(X)
    return found, float(pca.explained_variance_ratio_.sum())


def more_to_show(X: Any) -> bool:
    """Return whether two axes may be too few for these rows (k, d)."""
    differ = bool((X.max(axis=0) - X.min(axis=0)).max() > 0)
    return X.shape[0] >= LEAST and X.shape[1] > 2 and differ


def beside_neighbors(X: Any, rounds: int = ROUNDS) -> FloatArray:
    """Return (k, 2) float32, the t-SNE of X (k, d), started from the principal axes (van der Maaten and Hinton, JMLR
    2008).

    Call it if there is `more_to_show`. rounds : of gradient descent"""
    reduced: AnyArray = principal_axes(X, AXES)[0] if X.shape[1] > AXES else _dense(X)
    near = min(NEAR, (X.shape[0] - 1) / 3)
    layout = TSNE(perplexity=near, init="pca", random_state=0, max_iter=rounds)
    # On a busy machine several threads wait for one another, and take many times as long.
    with threadpool_limits(1, user_api="openmp"):
        return np.asarray(layout.fit_transform(reduced), np.float32)


def _dense(X: Any) -> AnyArray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


# Layouts of the map with similar rows next to each other: requested by a page, computed by a worker, and cached.
#
# A layout belongs to a table and does not depend on answers. Layouts and requests are files in the folder `cache` of
# the data folder, which may be removed at any time. Without a layout, a map is drawn by the principal axes.

logger = logging.getLogger("winnow")

TASK = "map"
"""The task of the leases of layouts."""
_MADE_AS = 1
"""Version of the layout method: layouts of earlier versions are not shown."""


@dataclass(frozen=True)
class Wish:
    """A request for a layout. project_id : project whose map was opened      table_hash : hash of its table      fault
    : why it cannot be computed"""

    project_id: int
    table_hash: str
    fault: str = ""


def kept(home: Home, table_hash: str, rows: IntArray) -> FloatArray | None:
    """Return (k, 2) the layout of these rows of the table; None if there is none, or it cannot be read."""
    try:
        with np.load(io.BytesIO(_layout(home, table_hash).read_bytes()), allow_pickle=False) as file:
            places, laid = file["places"], file["rows"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    if places.shape != (len(rows), 2) or not np.array_equal(laid, rows) or not np.isfinite(places).all():
        return None
    return np.asarray(places)


def wish(home: Home, project_id: int, table_hash: str) -> Wish:
    """Request a layout of this table from a worker, unless it is already requested. If the disk cannot be written, the
    map can still be viewed."""
    found = _read(path := _wish(home, table_hash))
    if found is not None:
        return found
    found = Wish(project_id, table_hash)
    with suppress(OSError):
        make_folder(path.parent)
        _write(path, found)
    return found


def wishes(home: Home) -> list[Wish]:
    """Return the requests for a worker."""
    found = [_read(path) for path in sorted(_folder(home).glob(f"*-{_MADE_AS}.wish"))]
    return [one for one in found if one is not None and not one.fault]


def fulfil(home: Home, wished: Wish) -> None:
    """Compute and store the layout, and remove the request. Raises errors of reading the table and of writing."""
    table = home.read_table(wished.table_hash)
    rows = rows_on_map(table.n_rows)
    places = beside_neighbors(features_of(table, rows))
    file = io.BytesIO()
    np.savez(file, rows=rows, places=places)
    with whole_file(_layout(home, wished.table_hash)) as whole:
        whole.write(file.getbuffer())
    drop(home, wished)


def note_fault(home: Home, wished: Wish, fault: str) -> None:
    """Note why the layout cannot be computed: it is not tried again. Raises OSError."""
    _write(_wish(home, wished.table_hash), replace(wished, fault=fault))


def drop(home: Home, wished: Wish) -> None:
    """Remove a request."""
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
    except (OSError, ValueError, TypeError):  # missing or damaged: it is requested again
        return None


def _write(path: Path, wished: Wish) -> None:
    with whole_file(path) as file:
        file.write(json.dumps(asdict(wished)).encode())


STATES = ("open", "answered", "given", "held out", "bad")


@dataclass(frozen=True)
class InstanceMap:
    """Arrays over the k rows on the map.

    places : (k, 2) positions: next to similar rows if `laid_out`, else the first two principal components
    states : (k,) number in STATES
    labels : current candidates of each row; if several labels may be right, the labels known to be right
    classes : their names, which `named` numbers
    explained : share of the variance of the features explained by the two components
    coming : a worker will compute the layout      layout_fault : why it cannot, "" if it can
    can_ask : whether this person may choose rows to be asked about (`ask_row`)
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


# Positions do not depend on the answers: computed once for a learner's table, by one thread.
_known: WeakKeyDictionary[Learner, _Places] = WeakKeyDictionary()
_placing = threading.Lock()


def instance_map(seat: Seat) -> InstanceMap:
    """Return the position and the state of each row. The learner is locked only briefly: no question waits."""
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
    """Return whether the layout announced by `coming` is still pending."""
    with seat.reading() as reading:
        project = reading.project
    rows = rows_on_map(project.n_rows)
    return kept(seat.home, project.table_hash, rows) is None and not _fault(seat, project)


def answered_by(seat: Seat, rows: Sequence[int]) -> tuple[str, ...]:
    """Return the annotator of the latest answer to each of these rows that was not withdrawn, or "". Only for people
    who may see everyone's answers."""
    kinds = seat.kind.ANSWERS
    with seat.reading(Right.REVIEW) as reading:
        found = answers.latest_people(reading.session, reading.project.id, kinds, rows)
        names = names_of(reading.session)
    return tuple(names.get(found[row], "") if row in found else "" for row in rows)


def ask_row(seat: Seat, row: int) -> object:
    """Ask this person about a row of the map or, if labels are asked about one by one, about its most uncertain open
    label. Returns the shown question.

    Raises
    NotAllowed : The person does not own the project, and it has blind checks: a refused row would be revealed as one.
    AnswerError, NotSaved, NotFound : As for `workflow.answering.loop.ask_next`.
    """
    with seat.learner(Right.ANSWER) as opened:
        if not may_see_order(opened):
            raise NotAllowed("In a project with blind checks, only the owner chooses which row is asked.")
        on_map, learner = needed(opened.kind, opened.kind.MAP, "map"), opened.learner
        label = None
        if on_map.label_to_ask is not None and 0 <= row < learner.table.n_rows:
            label = on_map.label_to_ask(learner, row)
    return ask_next(seat, row, label)


def _row_states(opened: Opened[Learner]) -> np.ndarray:
    """Return (n,) the number in STATES. Control rows, or rows with control cells, look like all others, since they are
    asked blindly."""
    pool = opened.learner.pool
    states = np.full(len(pool.bad), STATES.index("given"))
    states[pool.answered_rows] = STATES.index("answered")
    states[pool.open_rows] = STATES.index("open")  # answered or not: it can still be asked
    states[pool.test_rows] = STATES.index("held out")
    states[pool.bad] = STATES.index("bad")
    return states


def _place(table: LabelTable) -> _Places:
    """Return the positions by the principal axes of the rows' features, fitted on the rows shown."""
    rows = rows_on_map(table.n_rows)
    X = features_of(table, rows)
    places, explained = principal_axes(X)
    return _Places(rows, places, explained, more_to_show(X))


def _laid_out(seat: Seat, project: Project, found: _Places) -> tuple[_Places, str]:
    """Return the layout computed by a worker, else the axes; and the reason if there will be no layout.

    The reason is "" while a layout is pending, which this call requests, or if the axes already show everything."""
    if found.laid_out or not found.more:
        return found, ""
    places = kept(seat.home, project.table_hash, found.rows)
    if places is not None:
        return replace(found, places=places, laid_out=True), ""
    return found, _fault(seat, project)


def _fault(seat: Seat, project: Project) -> str:
    """Return why no one computes the layout; "" if a worker will, for whom this call leaves the request."""
    if fault := wish(seat.home, project.id, project.table_hash).fault:
        return fault
    with seat.reading() as reading:
        return leases.resting(reading.session, project.id, project.table_hash, TASK) or ""
