"""A kind of project: a core of functions that every kind has, and capabilities that it declares or leaves None."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeAlias, TypeVar

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.answers import SaidEntry
    from db.projects import Project
    from plcore import LabelTable
    from plcore.arrays import AnyArray, BoolArray, FloatArray, IntArray, ShareProgress
    from plcore.evaluation import ScoredCandidates
    from plcore.loop import ClassChange, ClassMap, Learner, Place, StopRules
    from plcore.loop.one_label import Comparer, RandomOrderRuns, StrategyReplays, Trainer, View
    from plcore.tables import Doubt
    from workflow.answering.asked import FormsNow, Given
    from workflow.exporting.snapshot import AnyFormat, Described, Past, Snapshot
    from workflow.kinds.shortlists import ShortlistView
    from workflow.log.reading import AnyPool, Vote
    from workflow.projects.figures import Glance, StopView
    from workflow.rows.finding import QueueSearch, ReviewList, Search
    from workflow.server.home import Home
    from workflow.server.jobs import FairLock
    from workflow.server.shelf import BackgroundTraining

# Settings that all kinds have in common.


class KindSettings(Protocol):
    """The settings that all kinds have in common. Their values are plain JSON."""

    @property
    def by_row(self) -> bool:
        """Whether a question is about a whole row, not about one label of it."""

    @property
    def is_latest_of_several(self) -> bool:
        """Whether the latest of several annotators' answers counts, even if they differ."""

    @property
    def model_in_force(self) -> str:
        """The name of the model that predicts now."""

    @property
    def is_automatic(self) -> bool:
        """Whether comparisons choose the model."""

    def beginning(self, earlier: Self, seq: int) -> Self:
        """Return these settings after the earlier ones, in force from the entry `seq` on."""

    @property
    def control_share(self) -> float:
        """Share of the rows, or cells, drawn as controls, and of the questions that are about one of them."""

    def to_json(self) -> dict[str, Any]:
        """Return the settings as they are stored."""


class WorkerSettings(KindSettings, Protocol):
    """Settings of a project whose model a worker trains."""

    @property
    def train_every(self) -> int:
        """Number of answers after which the model is trained again."""

    @property
    def train_seconds(self) -> float:
        """Seconds after an answer until the model is trained again, however few answers there are."""


SettingsT = TypeVar("SettingsT", bound=KindSettings)
LearnerT = TypeVar("LearnerT", bound="Learner")
LearnerT_contra = TypeVar("LearnerT_contra", bound="Learner", contravariant=True)
OpenedT_contra = TypeVar("OpenedT_contra", contravariant=True)
DoorsT_contra = TypeVar("DoorsT_contra", contravariant=True)
TurnT_co = TypeVar("TurnT_co", covariant=True)
ShownT = TypeVar("ShownT")
ViewT = TypeVar("ViewT")
CountedT = TypeVar("CountedT", bound="AnyPool")


@dataclass(frozen=True)
class KindWords:
    """The words for projects of a kind, on pages.

    title : the kind itself      classes : the word for its classes, in the plural
    finished : the sentence once nothing is open
    """

    title: str
    classes: str
    finished: str

    @property
    def short(self) -> str:
        """The title without its explanation."""
        return self.title.partition(":")[0]


# Capabilities: a kind declares each under its name in `Kind`, in capitals; None means that the kind lacks it.


class Batching(Protocol[LearnerT_contra]):
    """Rows that are confirmed together.

    learner : of the kind      annotator : the person who is to confirm, as the learner names them
    rows : by number
    """

    def find_sure(
        self, learner: LearnerT_contra, annotator: str, barred: Collection[int]
    ) -> tuple[str, list[int]] | str:
        """Return the label that the model is most confident of, and the rows with it that this annotator can confirm
        together, most confident first. If there are too few, return a sentence that says why.

        barred : rows to leave out
        """

    def may_stand(self, learner: LearnerT_contra, annotator: str, row: int, label: str) -> bool:
        """Whether the row may be shown to this annotator in a batch, to confirm this label: no independent annotator
        has answered it, it is not a blind check, and they have not deferred it."""

    def may_confirm(self, learner: LearnerT_contra, annotator: str, row: int, label: str) -> bool:
        """Whether this annotator can still confirm the label of a row that they were shown."""

    def name_now(self, learner: LearnerT_contra, label: str) -> str:
        """Return the present name of a class that had this name when the rows were shown."""

    def labels_of(self, learner: LearnerT_contra, annotator: str, rows: Sequence[int]) -> Mapping[str, int]:
        """Return {label: number of these rows it can be confirmed for}, the labels most often predicted first."""

    def shares(self, learner: LearnerT_contra, rows: Sequence[int], label: str) -> list[tuple[float, str | None]]:
        """Return, for each row, the model's share of this label as its question would show it, and the predicted
        label."""

    def checked(self, learner: LearnerT_contra, at_least: float) -> tuple[int, int]:
        """Return (right, all) of the rows with a known label, which the model was not trained on, whose share of the
        predicted label is at least this."""


class CandidatePool(Protocol):
    """Rows with candidates, one of which is right. The part of `plcore.loop.one_label.OneLabelPool` that is about them.

    original, first, candidates : (n, m) at import, before any answer, and now
    by_verdict, control_rows : (n,) rows decided by a reviewer; rows asked as blind checks
    """

    class_map: ClassMap
    classes: tuple[str, ...]
    original: BoolArray
    first: BoolArray
    candidates: BoolArray
    by_verdict: BoolArray
    control_rows: BoolArray

    def disputed(self) -> Mapping[int, float]: ...
    def views(self, row: int) -> Sequence[View]: ...
    def names(self, mask: BoolArray) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class FindingNeighbors:
    """Neighbours that learners of a table wait for, and the progress of finding them.

    share : share of the search that is done, in [0, 1]; 0 before it begins      seconds_left : None if unknown
    fault : why they could not be found, "" if nothing failed
    """

    share: float = 0.0
    seconds_left: float | None = None
    fault: str = ""


@dataclass(frozen=True)
class Neighbors(Generic[SettingsT]):
    """Neighbours of many rows, found in the background while people answer. They depend on table and settings.

    find : (home, table_hash, settings, changes, tell) finds and stores them, which ends the learners' wait.
        tell : called with the share that is done
    note : (home, table_hash, settings, finding) stores the progress      read : returns the progress, None if no
        learner waits
    any_wait : (home) whether any table may wait for neighbours, for the cost of listing one folder
    """

    find: Callable[[Home, str, SettingsT, Sequence[ClassChange], ShareProgress], None]
    note: Callable[[Home, str, SettingsT, FindingNeighbors], None]
    read: Callable[[Home, str, SettingsT], FindingNeighbors | None]
    any_wait: Callable[[Home], bool]


@dataclass(frozen=True)
class WorkerTraining(Generic[SettingsT]):
    """Models that a worker trains.

    settings : those of a project whose model a worker trains; None for all other projects
    version_key : (settings, seq of the latest change of classes or 0) -> the key of the stored versions
    make_trainer : (home, table_hash, settings, changes) -> the trainer, its pool before the first entry
    """

    settings: Callable[[SettingsT], WorkerSettings | None]
    version_key: Callable[[SettingsT, int], str]
    make_trainer: Callable[[Home, str, SettingsT, Sequence[ClassChange]], Trainer]


@dataclass(frozen=True)
class Comparing(Generic[SettingsT]):
    """Models that can be compared, and chosen by a comparison.

    models : {name: description}
    choose : (settings, model, C, automatic) -> the settings with this model in force; raises ValueError for another
        model. automatic : whether comparisons may still change the model
    comparer : (table, settings, changes) -> the comparison for a project, its pool before the first entry
    table_comparer : the same for a table of no project, by its true labels if it has any
    features : settings -> the features in force, one of `plcore.arrays.types.FEATURE_SETS`, and whether comparisons
        choose them
    choose_features : (settings, features) -> the settings with these in force, as long as comparisons choose them
    strategies : {name: description} of all, for any model
    """

    models: Mapping[str, str]
    choose: Callable[[SettingsT, str, float | None, bool], SettingsT]
    comparer: Callable[[LabelTable, SettingsT, Sequence[ClassChange]], Comparer]
    table_comparer: Callable[[LabelTable], Comparer]
    features: Callable[[SettingsT], tuple[str, bool]]
    choose_features: Callable[[SettingsT, str], SettingsT]
    strategies: Mapping[str, str]


@dataclass(frozen=True)
class Replays(Generic[SettingsT]):
    """Labelling runs that can be replayed.

    random_order : (table, settings, changes) -> runs of a project in random order, with its pool before the first entry
    strategies : runs of every strategy on a table of no project
    """

    random_order: Callable[[LabelTable, SettingsT, Sequence[ClassChange]], RandomOrderRuns]
    strategies: Callable[[LabelTable], StrategyReplays]


@dataclass(frozen=True)
class HiddenTruth(Generic[SettingsT, LearnerT, ShownT]):
    """True labels that a table can hide from annotators and model, for a dry run.

    is_hidden : whether the learner's table hides true labels
    answer : to a shown question, by the true label; None if it is not known
    places : the open places whose truth is known, blind checks first, in the order they were drawn
    doubts : problems of a new project that come from the role of the true labels
    """

    is_hidden: Callable[[LearnerT], bool]
    answer: Callable[[LearnerT, ShownT], Given | None]
    places: Callable[[LearnerT], list[Place]]
    doubts: Callable[[LabelTable, SettingsT], list[Doubt]]


# The queue, the map, and the API.


@dataclass(frozen=True)
class Queueing(Generic[OpenedT_contra]):
    """The open rows in the order they would be asked.

    listed : (opened, search) -> a page of the rows that match the search, with counts
    rows : all of them      lines : the same as lines of a file, header first
    """

    listed: Callable[[OpenedT_contra, QueueSearch], object]
    rows: Callable[[OpenedT_contra], Iterator[object]]
    lines: Callable[[OpenedT_contra], Iterator[Sequence[object]]]


@dataclass(frozen=True)
class ForPrograms(Generic[OpenedT_contra, ShownT, ViewT]):
    """A project as plain values, for the API.

    answers : the kinds of answers that questions take      question : does not reveal whether it is a blind check
    figures : the progress, one measure with its curve
    predictions : the label of each of these rows, and the shares
    take_predictions : the same of all rows as they are at this moment: a function of rows, for when the learner is not
        open any more
    """

    answers: Sequence[str]
    question: Callable[[ShownT], Mapping[str, object]]
    figures: Callable[[ViewT], Mapping[str, object]]
    predictions: Callable[[OpenedT_contra, Sequence[int]], Sequence[Mapping[str, object]]]
    take_predictions: Callable[[OpenedT_contra], Callable[[Sequence[int]], Sequence[Mapping[str, object]]]]


NOTHING = -1
"""In place of a class: nothing is known, or nothing may be shown."""


@dataclass(frozen=True)
class NamedRows:
    """Labels of rows, as far as they are known. Arrays over r rows.

    classes : number of each row's known or predicted class, else NOTHING
    known : bool, True if the class comes from the file, people, or both; False if only the model predicts it
    doubt : how likely the model is to be wrong about the row, in [0, 1]; NaN if it is not asked or has no prediction
    """

    classes: IntArray
    known: BoolArray
    doubt: FloatArray


@dataclass(frozen=True)
class OnMap(Generic[LearnerT]):
    """Map data of rows.

    named : the known or predicted label of each of these rows; with independent answers, nothing that shows other
        people's answers
    label_to_ask : returns the label of a row that a question would be about, or None; None in place of the function if
        questions are about whole rows
    """

    named: Callable[[LearnerT, Sequence[int]], NamedRows]
    label_to_ask: Callable[[LearnerT, int], str | None] | None


class Kind(Protocol[SettingsT, LearnerT, OpenedT_contra, DoorsT_contra, TurnT_co, ShownT, ViewT, CountedT]):
    """One folder next to this file; its modules hold the functions, in files of the same names in every kind.

    SettingsT, LearnerT : those of the kind (`plcore.loop`)
    OpenedT_contra, DoorsT_contra, TurnT_co : with this learner; `workflow.kinds.typed` says which (they import this)
    ShownT : a question as a page shows it      ViewT : what its Progress page draws
    CountedT : a pool that has applied the log so far, for the next count

    opened : its seat has checked the rights of the person
    doors : the seat itself, for work that opens the learner for a part of it only
    changes : all changes of the classes in the log      table_hash : hash that names the stored table's file
    """

    NAME: str
    """The name of its folders, and its key in `KINDS` and `pages.parts.kinds.PARTS`."""
    STORED_AS: tuple[str | None, ...]
    """Names of the kind in stored settings; None stands for settings that name no kind."""
    WORDS: KindWords
    ANSWERS: tuple[str, ...]
    """The log's kinds of entries that are answers; those that a screen can send are `Turn.ANSWERS`."""
    DRAWN: set[str]
    """Names of the settings that decide which rows are held out, and so never change."""
    DEFAULT_RULES: StopRules
    """The stop rules of a project whose owner has set none."""
    FORMATS: Mapping[str, AnyFormat]
    """The formats that the table can be written in, by name; CSV first."""
    GIVEN_BACK: Mapping[str, AnyFormat]
    """Further formats, for tables from certain annotation tools; each checks whether it `fits`."""

    # Capabilities
    TAKES_GROUPS: bool
    """Whether a group of classes can be an answer."""
    CAN_QUALIFY: bool
    """Whether annotators can be asked known rows before they start: if a row has one right label."""

    @property
    def CLASSES(self) -> Callable[[LearnerT], CandidatePool] | None:  # noqa: N802
        """The pool, if its classes can be added, renamed and merged."""

    @property
    def DISPUTES(self) -> Callable[[LearnerT], CandidatePool] | None:  # noqa: N802
        """The pool, if its disputes can be listed and resolved: if a row has one right label."""

    @property
    def BATCHING(self) -> Batching[LearnerT] | None:  # noqa: N802 - a constant of a module, as all in capitals
        """Rows that are confirmed together."""

    @property
    def FORMS(self) -> Callable[[OpenedT_contra], FormsNow] | None:  # noqa: N802
        """Question types, if there are several forms."""

    @property
    def SHORTLISTS(self) -> Callable[[OpenedT_contra], ShortlistView] | None:  # noqa: N802
        """How well shortlists do in a project."""

    @property
    def SCORES(self) -> Callable[[LearnerT], ScoredCandidates | None] | None:  # noqa: N802
        """The scored candidates of a table, and their labels by people; None for a table without scores."""

    @property
    def QUEUE(self) -> Queueing[OpenedT_contra] | None:  # noqa: N802
        """The open rows in the order in which they would be asked."""

    @property
    def MAP(self) -> OnMap[LearnerT] | None:  # noqa: N802
        """Map data of rows."""

    @property
    def PROGRAMS(self) -> ForPrograms[OpenedT_contra, ShownT, ViewT] | None:  # noqa: N802
        """A project as plain values, for the API."""

    @property
    def HIDDEN_TRUTH(self) -> HiddenTruth[SettingsT, LearnerT, ShownT] | None:  # noqa: N802
        """Dry runs."""

    @property
    def CACHE(self) -> Callable[[Home, str, LearnerT], None] | None:  # noqa: N802
        """Function that stores data next to the table to speed up the next start."""

    @property
    def NEIGHBORS(self) -> Neighbors[SettingsT] | None:  # noqa: N802
        """Neighbours that a worker finds, if learners wait for them."""

    @property
    def WORKER(self) -> WorkerTraining[SettingsT] | None:  # noqa: N802
        """Models that a worker trains."""

    @property
    def COMPARING(self) -> Comparing[SettingsT] | None:  # noqa: N802
        """Models that are compared."""

    @property
    def REPLAYS(self) -> Replays[SettingsT] | None:  # noqa: N802
        """Labelling runs."""

    # settings.py
    def fits(self, table: LabelTable) -> bool:
        """Whether a project of this table is of this kind."""

    def read_settings(self, stored: Mapping[str, object]) -> SettingsT:
        """The settings as they were stored. Raises ValueError."""

    def default_settings(self, table: LabelTable, control_share: float) -> SettingsT:
        """Return the default settings; see `workflow.kinds.default_settings`."""

    def settle_change(self, before: SettingsT, after: SettingsT) -> SettingsT:
        """Return the settings of an existing project after a change to those of `after`. Raises ValueError."""

    # build.py
    def first_learner(self, table: LabelTable, settings: SettingsT) -> LearnerT:
        """Return the learner of a new project. Raises ValueError if none can be built, or its model cannot be
        trained."""

    def build_learner(
        self,
        home: Home,
        table_hash: str,
        settings: SettingsT,
        changes: Sequence[ClassChange] = (),
        checkpoint: Mapping[str, AnyArray] | None = None,
    ) -> LearnerT:
        """Return the learner of a stored table, before the first entry of its log or in the state of this checkpoint. A
        learner that waits for its neighbours is replaced once they are found."""

    def make_pool(self, table: LabelTable, settings: SettingsT, changes: Sequence[ClassChange] = ()) -> AnyPool:
        """Return the rows before the first entry, under these changes of the classes. Raises ClassError."""

    # training.py
    def background_training(self, home: Home, project_id: int, learner: LearnerT, lock: FairLock) -> BackgroundTraining:
        """How this learner gets models fitted in the background while people answer. lock : the lock that guards the
        learner"""

    def give_model(self, home: Home, learner: LearnerT, past: Past) -> None:
        """Refit the model that was in place at an earlier state of the log, for a learner that has applied the log up
        to then. Raises ValueError if it cannot be fitted."""

    # turn.py, answering.py
    def make_turn(self, opened: OpenedT_contra) -> TurnT_co:
        """Return the turn of the person who opened the project: it writes answers and corrections."""

    # reviewing.py
    def find_answers(self, doors: DoorsT_contra, search: Search, page: int, size: int) -> ReviewList:
        """Return a page, from 0, of `size` of the answers that match the search, newest first."""

    def count_answers(self, doors: DoorsT_contra) -> int:
        """How many answers `find_answers` lists in all; quick enough for every drawing of a page."""

    def open_row(self, opened: OpenedT_contra, row: int) -> object:
        """The row as the Review page shows it, with its history. Raises NotFound."""

    def votes_of(self, learner: LearnerT, log: Sequence[SaidEntry]) -> list[Vote]:
        """Return the latest vote of each person about each place. log : the entries that were not withdrawn, in
        order"""

    # progress.py
    def count(
        self, home: Home, session: Session, project: Project, settings: SettingsT, kept: CountedT | None
    ) -> tuple[int, int, CountedT | None]:
        """Return (answered, open, `kept` for the next count), from table and log, without a learner."""

    def read_progress(self, opened: OpenedT_contra, rules: StopRules) -> ViewT:
        """Everything that the Progress page draws."""

    def watched(self, doors: DoorsT_contra) -> tuple[object, ...]:
        """Return values that change whenever the Progress page has something new to draw; the log's latest seq
        first."""

    def stop_view(self, learner: LearnerT, rules: StopRules) -> StopView:
        """The verdicts of the stop rules."""

    def glance(self, learner: LearnerT, rules: StopRules) -> Glance:
        """Return the quality of the project, for a line of a list of projects; without its picture."""

    # exporting.py
    def snapshot(self, opened: OpenedT_contra) -> Snapshot:
        """Take the export of the current state; quick, because no one else can use the learner meanwhile."""

    def describe(self, opened: OpenedT_contra, rules: StopRules) -> Described:
        """The facts about the labels for a dataset card, as this kind counts and measures them."""


AnyKind: TypeAlias = Kind[Any, Any, Any, Any, Any, Any, Any, Any]
"""A kind unknown to the caller, who passes the kind's own objects back to it only."""
