"""What a kind of project is: everything about a project that depends on what its questions ask."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pandas as pd
    from sqlalchemy.orm import Session

    from db import entries, questions
    from db.projects import Project
    from plcore import LabelTable
    from plcore.common import BoolArray
    from plcore.loop import ClassChange, Learner, Place, StopRules
    from workflow.common.answers import Given
    from workflow.common.figures import StopView
    from workflow.common.found import ReviewList, Search
    from workflow.common.history import Parts
    from workflow.home import Home
    from workflow.shelf import BackgroundTraining


@dataclass(frozen=True)
class KindWords:
    """How pages speak of projects of a kind.

    title : the kind itself      classes : what its classes are called, of several
    finished : said where nothing is open any more
    """

    title: str
    classes: str
    finished: str


class KindSettings(Protocol):
    """What every kind's settings have; plain JSON values, read by the kind."""

    @property
    def by_row(self) -> bool:
        """Whether a question is about a whole row, not about one label of it."""

    @property
    def control_share(self) -> float: ...
    def to_json(self) -> dict[str, Any]: ...


class WorkerSettings(KindSettings, Protocol):
    """Of a project whose model a worker trains."""

    @property
    def train_every(self) -> int: ...
    @property
    def train_seconds(self) -> float: ...


class Kind(Protocol):
    """One folder beside this file; its modules hold the functions, in files of the same names in every kind.

    opened : a `workflow.common.opened.Opened` of a seat, which has checked who may be here
    doors : the seat itself (`workflow.common.opened.Doors`), for what must let the learner go before it is done
    turn : a `workflow.common.turn.Turn`, made by `make_turn`
    """

    NAME: str
    """As it is stored and named in folders."""
    WORDS: KindWords
    CAN_CHANGE_CLASSES: bool
    """Whether classes can be added, renamed and merged."""

    ANSWERS: tuple[str, ...]
    """Kinds of entries that answer; those of the log, not those of the screen (`Turn.ANSWERS`)."""

    # settings.py
    DRAWN: set[str]
    """Names of the settings that decide which rows are held out."""

    def fits(self, table: LabelTable) -> bool:
        """Whether a project of this table is of this kind."""

    def is_stored(self, settings: Mapping[str, Any]) -> bool:
        """Whether these are stored settings of this kind."""

    def read_settings(self, stored: Mapping[str, Any]) -> Any: ...
    def default_settings(self, table: LabelTable, control_share: float) -> Any: ...
    def check_change(self, before: Any, after: Any) -> None: ...

    # build.py
    def first_learner(self, table: LabelTable, settings: Any) -> Learner: ...
    def build_learner(
        self, home: Home, table_hash: str, settings: Any, changes: Sequence[ClassChange] = ()
    ) -> Learner: ...
    def n_to_ask(self, learner: Any) -> int:
        """What a person could be asked about in a new project: ambiguous rows, or labels that are not known."""

    def keep_beside(self, home: Home, table_hash: str, learner: Any) -> None: ...

    # training.py
    def worker_settings(self, settings: Any) -> WorkerSettings | None: ...
    def version_key(self, settings: Any, classes_seq: int) -> str: ...
    def make_trainer(
        self, home: Home, table_hash: str, settings: Any, changes: Sequence[ClassChange]
    ) -> Any: ...
    def background_training(
        self, home: Home, project_id: int, learner: Any, lock: threading.RLock
    ) -> BackgroundTraining: ...

    # counting.py
    def count(
        self, home: Home, session: Session, project: Project, settings: Any, kept: Any
    ) -> tuple[int, int, Any]: ...

    # turn.py, answering.py, correcting.py
    def make_turn(self, opened: Any) -> Any: ...
    def stands_as_before(self, learner: Any, row: int, parts: Parts) -> bool: ...
    def answer(self, turn: Any, question: questions.OpenQuestion, given: Given) -> entries.LogEntry: ...
    def correct(
        self,
        turn: Any,
        row: int,
        token: str,
        given: Given,
        changes: Mapping[str, int],
        log: Sequence[entries.LogEntry],
    ) -> entries.LogEntry: ...

    # reviewing.py
    def find_answers(self, doors: Any, search: Search, page: int) -> ReviewList: ...
    def open_row(self, opened: Any, row: int) -> Any: ...

    # queue.py
    def list_queue(self, opened: Any, search: str) -> Any: ...
    def queue_lines(self, opened: Any) -> Iterator[Sequence[object]]: ...
    def has_blind_checks(self, learner: Any) -> bool: ...

    # progress.py, stopping.py
    DEFAULT_RULES: StopRules

    def read_progress(self, opened: Any, rules: StopRules) -> Any: ...
    def watched(self, doors: Any) -> tuple[Any, ...]: ...
    def stop_view(self, learner: Any, rules: StopRules) -> StopView: ...
    def share_settled(self, learner: Any) -> float: ...

    # exporting.py
    FILES: Mapping[str, Callable[[Any], bytes]]
    """What can be taken away, by name; the table itself first."""

    def sources(self, opened: Any) -> dict[str, int]: ...
    def preview(self, opened: Any, n_rows: int) -> pd.DataFrame: ...

    # mapping.py, truth.py
    def answered_and_open(self, learner: Any) -> tuple[BoolArray, BoolArray]: ...
    def labels_on_map(self, learner: Any, rows: Sequence[int]) -> tuple[tuple[str, ...], ...]: ...
    def hides_truth(self, learner: Any) -> bool: ...
    def true_answer(self, learner: Any, shown: Any) -> Given | None: ...
    def known_places(self, learner: Any) -> list[Place]: ...
