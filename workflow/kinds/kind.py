"""The protocol of a kind of project: everything that depends on what its questions are about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from workflow.kinds.mapping import MapsRows

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db import entries, questions
    from db.answers import SaidEntry
    from db.projects import Project
    from plcore import Entry, LabelTable
    from plcore.common import AnyArray, BoolArray
    from plcore.evaluation import ScoredCandidates
    from plcore.loop import ClassChange, Learner, Place, StopRules
    from plcore.tables import Doubt, FileFormat
    from workflow.common.answers import Given
    from workflow.common.asked import FormsNow
    from workflow.common.fair_lock import FairLock
    from workflow.common.figures import StopView
    from workflow.common.found import ReviewList, Search
    from workflow.common.glance import Glance
    from workflow.common.history import Parts
    from workflow.common.shortlists import ShortlistView
    from workflow.common.snapshot import Past, Snapshot
    from workflow.common.votes import Vote
    from workflow.home import Home
    from workflow.kinds.batching import Batching
    from workflow.kinds.kind_settings import WorkerSettings
    from workflow.kinds.kind_words import KindWords
    from workflow.outgoing.described import Described
    from workflow.shelf import BackgroundTraining


class Kind(MapsRows, Protocol):
    """One folder beside this file; its modules hold the functions, in files of the same names in every kind.

    opened : a `workflow.common.opened.Opened`, whose seat has checked what the person may do
    doors : the seat itself (`workflow.common.opened.Doors`), for work that opens the learner for a part of it only
    turn : a `workflow.common.turn.Turn`, made by `make_turn`
    learner, settings : those of the kind (`plcore.loop`)      changes : all changes of the classes in the log
    table_hash : names the stored table's file
    """

    NAME: str
    """The name of its folders, and its key in `KINDS` and `pages.parts.kinds.PARTS`."""
    WORDS: KindWords
    CAN_CHANGE_CLASSES: bool
    """Whether classes can be added, renamed and merged."""
    TAKES_GROUPS: bool
    """Whether a group of classes can be an answer."""
    CAN_QUALIFY: bool
    """Whether people can be asked known rows before they start: where a row has one right label."""
    HAS_DISPUTES: bool
    """Whether rows that several people disagree on are listed, and settled there: where a row has one right label."""
    BATCHING: Batching | None
    """How rows are confirmed together; None where each question is its own."""
    COMPARED: Mapping[str, str]
    """The models that a worker compares, with their words; empty where there is nothing to compare."""

    REPLAYS_RANDOM_ORDER: bool
    """Whether a worker estimates what random order would have reached (`plcore.loop.one_label.RandomOrderRuns`)."""

    ANSWERS: tuple[str, ...]
    """Kinds of entries that are answers, in the log; those that a screen can send are `Turn.ANSWERS`."""

    # settings.py
    DRAWN: set[str]
    """Names of the settings that decide which rows are held out, and so never change."""

    def fits(self, table: LabelTable) -> bool:
        """Whether a project of this table is of this kind."""

    def is_stored(self, settings: Mapping[str, Any]) -> bool:
        """Whether these are stored settings of this kind."""

    def read_settings(self, stored: Mapping[str, Any]) -> Any:
        """The settings as they were stored. Raises ValueError."""

    def default_settings(self, table: LabelTable, control_share: float) -> Any:
        """The settings where nobody has chosen any; see `workflow.kinds.default_settings`."""

    def doubts(self, table: LabelTable, settings: Any) -> list[Doubt]:
        """What is odd about a new project of this table with these settings, beyond the table itself."""

    def settle_change(self, before: Any, after: Any) -> Any:
        """The settings of a project that exists, after a change to those of `after`. Raises ValueError."""

    # build.py
    def first_learner(self, table: LabelTable, settings: Any) -> Learner:
        """The learner of a new project. Raises ValueError where none can be built, or its model not be trained."""

    def build_learner(
        self,
        home: Home,
        table_hash: str,
        settings: Any,
        changes: Sequence[ClassChange] = (),
        checkpoint: Mapping[str, AnyArray] | None = None,
    ) -> Learner:
        """The learner of a stored table, before the first entry of its log; or where an earlier one stood, of which
        `checkpoint_of` gave this checkpoint."""

    def checkpoint_of(self, learner: Any) -> dict[str, AnyArray]:
        """What another learner of the same table, settings and changes goes on from."""

    def n_to_ask(self, learner: Any) -> int:
        """How much a person could be asked about in a new project: ambiguous rows, or labels that are not known."""

    def keep_beside(self, home: Home, table_hash: str, learner: Any) -> None:
        """Store, beside the table, what makes the next start faster."""

    # training.py
    def worker_settings(self, settings: Any) -> WorkerSettings | None:
        """The settings where a worker trains the model; None where none does."""

    def version_key(self, settings: Any, classes_seq: int) -> str:
        """The key under which versions of the model are stored. classes_seq : of the latest change of classes, or 0"""

    def make_trainer(self, home: Home, table_hash: str, settings: Any, changes: Sequence[ClassChange]) -> Any:
        """What a worker trains the model with; asked for only where `worker_settings` gives some."""

    def background_training(
        self, home: Home, project_id: int, learner: Any, lock: FairLock
    ) -> BackgroundTraining:
        """How this learner gets models that are fitted while people answer. lock : the one under which it is used"""

    def give_model(self, home: Home, learner: Any, past: Past) -> None:
        """Let a learner of an earlier state, which has taken in the log until then, have the model that was in place:
        fitted anew. Raises ValueError where it cannot be."""

    # comparing.py
    def model_of(self, settings: Any) -> str:
        """The name of the model in force."""

    def is_automatic(self, settings: Any) -> bool:
        """Whether comparisons choose the model."""

    def choose_model(self, settings: Any, model: str, C: float | None, *, automatic: bool) -> Any:
        """The settings with this model in force. automatic : whether comparisons go on choosing

        Raises ValueError where the kind has no such model.
        """

    def make_comparer(self, table: LabelTable, settings: Any, changes: Sequence[ClassChange] = ()) -> Any:
        """What the models of a project are compared with. Raises ValueError where none are COMPARED."""

    def make_table_comparer(self, table: LabelTable) -> Any:
        """The same for a table that belongs to no project: its true labels may choose. Raises ValueError."""

    def make_table_replays(self, table: LabelTable) -> Any:
        """What replays labelling runs on a table that belongs to no project. Raises ValueError."""

    def make_random_order(self, table: LabelTable, settings: Any, changes: Sequence[ClassChange] = ()) -> Any:
        """What replays a project in random order, its pool before the first entry. Raises ValueError: nothing does."""

    # counting.py
    def count(
        self, home: Home, session: Session, project: Project, settings: Any, kept: Any
    ) -> tuple[int, int, Any]:
        """(answered, open, what to give as `kept` at the next count), by table and log, without a learner."""

    # replaying.py
    def make_pool(self, table: LabelTable, settings: Any, changes: Sequence[ClassChange] = ()) -> Any:
        """How every row stands before the first entry, under these changes of the classes. Raises ClassError."""

    def labels_at(self, pool: Any, entry: Entry) -> tuple[str, ...]:
        """What the log stores as `before`, or `after`, of an entry where the pool stands there."""

    # turn.py, answering.py, correcting.py
    def make_turn(self, opened: Any) -> Any:
        """The turn of the person who has opened the project."""

    def stands_as_before(self, learner: Any, row: int, parts: Parts, annotator: str) -> bool:
        """Whether the row's labels are what they were before one press. parts : the entries that the press stored"""

    def answer(self, turn: Any, question: questions.OpenQuestion, given: Given) -> entries.LogEntry:
        """Write the entries of an answer; the last of them. Raises StaleQuestion, AnswerError."""

    def correct(
        self,
        turn: Any,
        row: int,
        token: str,
        given: Given,
        changes: Mapping[str, int],
        log: Sequence[entries.LogEntry],
    ) -> entries.LogEntry:
        """Write the entries of a correction; the last of them. log : every entry about the row

        Raises StaleQuestion, AnswerError.
        """

    # reviewing.py
    def find_answers(self, doors: Any, search: Search, page: int) -> ReviewList:
        """A page, from 0, of the answers that fit the search, the newest first."""

    def open_row(self, opened: Any, row: int) -> Any:
        """The row as the Review page shows it, with its history. Raises NotFound."""

    # queue.py
    def list_queue(self, opened: Any, search: str, held: Mapping[str, BoolArray] | None = None) -> Any:
        """The first open rows that hold these words, in asking order, with counts. held : which rows of the table do,
        where that was looked up before (`workflow.common.table_words.rows_with`)."""

    def queue_rows(self, opened: Any) -> Iterator[Any]:
        """The whole queue, as what `list_queue` gives of it."""

    def queue_lines(self, opened: Any) -> Iterator[Sequence[object]]:
        """The whole queue as lines of a file, the heading first."""

    def has_blind_checks(self, learner: Any) -> bool:
        """Whether there are controls, which the queue leaves out."""

    # progress.py, stopping.py
    DEFAULT_RULES: StopRules
    """The stop rules where nobody has set any."""

    def read_progress(self, opened: Any, rules: StopRules) -> Any:
        """Everything that the Progress page draws."""

    def watched(self, doors: Any) -> tuple[Any, ...]:
        """Values that change whenever the Progress page has something new to draw; the log's latest seq first."""

    def stop_view(self, learner: Any, rules: StopRules) -> StopView:
        """What the stop rules say now."""

    def share_settled(self, learner: Any) -> float:
        """The share, in [0, 1], that the question card tells."""

    def shortlist_view(self, opened: Any) -> ShortlistView | None:
        """How shortlists stand in the project; None where questions have none."""

    # glance.py
    def glance(self, learner: Any, rules: StopRules) -> Glance:
        """How good the project is, for a line of a list of projects; without its picture."""

    # exporting.py
    FORMATS: Mapping[str, FileFormat[Any]]
    """The formats that the table can be written in, by name; CSV first."""
    GIVEN_BACK: Mapping[str, FileFormat[Any]]
    """Further formats, of tables that came from certain tools; each tells of which (`fits`)."""

    def snapshot(self, opened: Any) -> Snapshot:
        """What is exported, as it stands now; taken quickly, for nobody else can use the learner meanwhile."""

    # describing.py
    def describe(self, opened: Any, rules: StopRules) -> Described:
        """What a dataset card says of the labels, as this kind counts and measures them."""

    # showing.py
    def get_ready(self, opened: Any) -> None:
        """Do now what the next question would otherwise take longer for."""

    # telling.py
    def tell_question(self, shown: Any) -> dict[str, Any]:
        """A question as programs have it, in plain values that do not tell whether it is a blind check. shown : as
        `make_turn` shows it"""

    def tell_figures(self, view: Any) -> dict[str, Any]:
        """What `read_progress` gives, as programs have it, in plain values: one measure with its curve."""

    def tell_predictions(self, opened: Any, rows: Sequence[int]) -> list[dict[str, Any]]:
        """Of each of these rows the label as it stands, and the shares, in plain values."""

    # forms.py
    def forms_now(self, opened: Any) -> FormsNow | None:
        """What is known of the forms in which questions are put; None where there is one form only."""

    # scores.py
    def scores_given(self, learner: Any) -> ScoredCandidates | None:
        """The scored candidates of the table and what people have made of them; None where it has no scores."""

    # voting.py
    def votes_of(self, learner: Any, log: Sequence[SaidEntry]) -> list[Vote]:
        """What each person says of each place at last. log : the entries that were not withdrawn, in order"""

    # similar.py, truth.py; mapping.py is `MapsRows`
    def shown_to_all(self, learner: Any) -> BoolArray:
        """(n,) a new array: rows whose answered labels anybody may see beside a question; no blind check among them."""

    def blind_checks(self, learner: Any) -> BoolArray:
        """(n,) rows that are, or have, a blind check."""

    def answered_labels(self, learner: Any, row: int) -> tuple[str, ...]:
        """The labels that people have given such a row."""

    def hides_truth(self, learner: Any) -> bool:
        """Whether the table holds true labels that neither people nor the model see."""

    def true_answer(self, learner: Any, shown: Any) -> Given | None:
        """What somebody who knows the truth would answer to a shown question; None where it is not known."""

    def known_places(self, learner: Any) -> list[Place]:
        """The open places whose truth is known, controls in the order of their draw first."""
