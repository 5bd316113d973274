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
    from workflow.rows.finding import ReviewList, Search
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
        """Whether the latest of several people's answers counts, though they may differ."""

    @property
    def model_in_force(self) -> str:
        """The name of the model that answers now."""

    @property
    def is_automatic(self) -> bool:
        """Whether comparisons choose the model."""

    def beginning(self, earlier: Self, seq: int) -> Self:
        """These settings after the earlier ones, from the entry `seq` on."""

    @property
    def control_share(self) -> float:
        """Share of the rows, or cells, drawn as controls, and of the questions that are about one of them."""

    def to_json(self) -> dict[str, Any]:
        """As they are stored."""


class WorkerSettings(KindSettings, Protocol):
    """Settings of a project whose model a worker trains."""

    @property
    def train_every(self) -> int:
        """Answers after which it is trained again."""

    @property
    def train_seconds(self) -> float:
        """Seconds after an answer at which it is trained again, however few answers there are."""


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
    """How pages speak of projects of a kind.

    title : the kind itself      classes : the word for its classes, in the plural
    finished : the sentence if nothing is open any more
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
        """The label that the model is surest of, and the rows with it that this annotator can be asked about together,
        the surest first; or, if it is sure of too few, a sentence that says why there are none.

        barred : rows that are not to be among them
        """

    def may_stand(self, learner: LearnerT_contra, annotator: str, row: int, label: str) -> bool:
        """Whether the row may be put before this annotator together with others, to confirm this label: no one has
        answered it who answers for themselves, it is no blind check, and they have not put it aside."""

    def may_confirm(self, learner: LearnerT_contra, annotator: str, row: int, label: str) -> bool:
        """Whether this annotator can still say so of a row that was put before them."""

    def name_now(self, learner: LearnerT_contra, label: str) -> str:
        """The present name of a class that was named so when the rows were put before someone."""

    def labels_of(self, learner: LearnerT_contra, annotator: str, rows: Sequence[int]) -> Mapping[str, int]:
        """{label: for how many of these rows it can be confirmed}, those first that the model gives most of them."""

    def shares(
        self, learner: LearnerT_contra, rows: Sequence[int], label: str
    ) -> list[tuple[float, str | None]]:
        """For each row, the model's share of this label, as its question would show it, and the label that it gives."""

    def checked(self, learner: LearnerT_contra, at_least: float) -> tuple[int, int]:
        """(right, all) of the rows with a known label, which the model has not learnt from, in which its share of a
        label reaches this much."""


class CandidatePool(Protocol):
    """Rows with candidates: one of them is right. The part of `plcore.loop.one_label.OneLabelPool` that is about them.

    original, first, candidates : (n, m) at import, before any answer, and now
    by_verdict, control_rows : (n,) rows that a reviewer has decided; rows asked as blind checks
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
    """Neighbours that learners of a table wait for, and how far it is to find them.

    share : of the search that is done, in [0, 1]; 0: it has not begun      seconds_left : None if not known
    fault : why they could not be found, "" if nothing failed
    """

    share: float = 0.0
    seconds_left: float | None = None
    fault: str = ""


@dataclass(frozen=True)
class Neighbors(Generic[SettingsT]):
    """Neighbours of many rows, which are found while people answer already. They depend on table and settings.

    find : (home, table_hash, settings, changes, tell) finds and stores them; learners wait for them no more then.
        tell : called with the share that is done
    note : (home, table_hash, settings, finding) stores how far it is      read : the same, None if no one waits
    any_wait : (home) whether any table may wait for neighbours, for the price of one look into a folder
    """

    find: Callable[[Home, str, SettingsT, Sequence[ClassChange], ShareProgress], None]
    note: Callable[[Home, str, SettingsT, FindingNeighbors], None]
    read: Callable[[Home, str, SettingsT], FindingNeighbors | None]
    any_wait: Callable[[Home], bool]


@dataclass(frozen=True)
class WorkerTraining(Generic[SettingsT]):
    """Models that a worker trains.

    settings : of a project whose model a worker trains; None for a project whose model needs none
    version_key : (settings, seq of the latest change of classes or 0) -> the key of the stored versions
    make_trainer : (home, table_hash, settings, changes) -> the trainer, its pool before the first entry
    """

    settings: Callable[[SettingsT], WorkerSettings | None]
    version_key: Callable[[SettingsT, int], str]
    make_trainer: Callable[[Home, str, SettingsT, Sequence[ClassChange]], Trainer]


@dataclass(frozen=True)
class Comparing(Generic[SettingsT]):
    """Models that can be compared, and chosen by the comparison.

    models : their names, with the words for people
    choose : (settings, model, C, automatic) -> the settings with this model in force; raises ValueError for another
        model. automatic : whether comparisons continue choosing
    comparer : (table, settings, changes) -> the comparison for a project, its pool before the first entry
    table_comparer : the same for a table of no project, by its true labels if it has any
    features : settings -> the features in force, one of `plcore.arrays.types.FEATURE_SETS`, and whether comparisons
        choose them
    choose_features : (settings, features) -> the settings with these in force, as long as comparisons choose them
    """

    models: Mapping[str, str]
    choose: Callable[[SettingsT, str, float | None, bool], SettingsT]
    comparer: Callable[[LabelTable, SettingsT, Sequence[ClassChange]], Comparer]
    table_comparer: Callable[[LabelTable], Comparer]
    features: Callable[[SettingsT], tuple[str, bool]]
    choose_features: Callable[[SettingsT, str], SettingsT]


@dataclass(frozen=True)
class Replays(Generic[SettingsT]):
    """Labelling runs that can be replayed.

    random_order : (table, settings, changes) -> a project in random order, its pool before the first entry
    strategies : runs of every strategy on a table of no project
    """

    random_order: Callable[[LabelTable, SettingsT, Sequence[ClassChange]], RandomOrderRuns]
    strategies: Callable[[LabelTable], StrategyReplays]


@dataclass(frozen=True)
class HiddenTruth(Generic[SettingsT, LearnerT, ShownT]):
    """True labels that a table can hide from annotators and model, for a dry run.

    is_hidden : whether the table of the learner hides some
    answer : to a shown question, by the true label; None if it is not known
    places : the open places whose truth is known, blind checks first, in the order of their draw
    doubts : problems of a new project that come from the role of the true labels
    """

    is_hidden: Callable[[LearnerT], bool]
    answer: Callable[[LearnerT, ShownT], Given | None]
    places: Callable[[LearnerT], list[Place]]
    doubts: Callable[[LabelTable, SettingsT], list[Doubt]]


# The queue, the map, and what programs read.


@dataclass(frozen=True)
class Queueing(Generic[OpenedT_contra]):
    """The open rows in the order in which they would be asked.

    listed : (opened, search, held, near, page) -> a page of those that hold these words, with counts. held : which rows
        of the table do, if that was looked up before (`workflow.rows.finding.rows_with`). near : (n,) how near each row
        is in meaning to what is searched for, NaN for rows to leave out; None: the order is that of asking
    rows : all of them      lines : the same as lines of a file, the heading first
    """

    listed: Callable[[OpenedT_contra, str, Mapping[str, BoolArray] | None, FloatArray | None, int], object]
    rows: Callable[[OpenedT_contra], Iterator[object]]
    lines: Callable[[OpenedT_contra], Iterator[Sequence[object]]]


@dataclass(frozen=True)
class ForPrograms(Generic[OpenedT_contra, ShownT, ViewT]):
    """A project in plain values, for programs.

    answers : the kinds of answers that questions take      question : it does not tell whether it is a blind check
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
"""In the place of a class: nothing is known, or nothing may be shown."""


@dataclass(frozen=True)
class NamedRows:
    """Labels of rows, as far as they are known. Arrays over r rows.

    classes : number of the class that each row has, or that the model gives it, else NOTHING
    known : bool, it has it: by the file, people, or both; else the model alone says so
    doubt : how likely the model is to be wrong about the row, in [0, 1]; NaN if it is not asked, or cannot say
    """

    classes: IntArray
    known: BoolArray
    doubt: FloatArray


@dataclass(frozen=True)
class OnMap(Generic[LearnerT]):
    """Map data of rows.

    named : the label that each of these rows has, or that the model gives it; nothing that shows other people's answers
        if people answer for themselves
    label_to_ask : the label of a row that a question would be about, or None; None in its place if questions are about
        whole rows
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
    changes : all changes of the classes in the log      table_hash : names the stored table's file
    """

    NAME: str
    """The name of its folders, and its key in `KINDS` and `pages.parts.kinds.PARTS`."""
    STORED_AS: tuple[str | None, ...]
    """Names of the kind in stored settings; None: settings that name no kind are of this one."""
    WORDS: KindWords
    ANSWERS: tuple[str, ...]
    """Kinds of entries that are answers, in the log; those that a screen can send are `Turn.ANSWERS`."""
    DRAWN: set[str]
    """Names of the settings that decide which rows are held out, and so never change."""
    DEFAULT_RULES: StopRules
    """The stop rules of a project whose owner has set none."""
    FORMATS: Mapping[str, AnyFormat]
    """The formats that the table can be written in, by name; CSV first."""
    GIVEN_BACK: Mapping[str, AnyFormat]
    """Further formats, of tables that came from certain tools; each tells of which (`fits`)."""

    # Capabilities
    TAKES_GROUPS: bool
    """Whether a group of classes can be an answer."""
    CAN_QUALIFY: bool
    """Whether people can be asked known rows before they start: if a row has one right label."""

    @property
    def CLASSES(self) -> Callable[[LearnerT], CandidatePool] | None:  # noqa: N802
        """The pool whose classes can be added, renamed and merged."""

    @property
    def DISPUTES(self) -> Callable[[LearnerT], CandidatePool] | None:  # noqa: N802
        """The pool whose disputes are listed, and resolved there: if a row has one right label."""

    @property
    def BATCHING(self) -> Batching[LearnerT] | None:  # noqa: N802 - a constant of a module, as all in capitals
        """Rows that are confirmed together."""

    @property
    def FORMS(self) -> Callable[[OpenedT_contra], FormsNow] | None:  # noqa: N802
        """Question types, if there are several forms."""

    @property
    def SHORTLISTS(self) -> Callable[[OpenedT_contra], ShortlistView] | None:  # noqa: N802
        """How shortlists do in a project."""

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
        """A project in plain values, for programs."""

    @property
    def HIDDEN_TRUTH(self) -> HiddenTruth[SettingsT, LearnerT, ShownT] | None:  # noqa: N802
        """Dry runs."""

    @property
    def CACHE(self) -> Callable[[Home, str, LearnerT], None] | None:  # noqa: N802
        """Stores, next to the table, what makes the next start faster."""

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
        """The settings if no one has chosen any; see `workflow.kinds.default_settings`."""

    def settle_change(self, before: SettingsT, after: SettingsT) -> SettingsT:
        """The settings of a project that exists, after a change to those of `after`. Raises ValueError."""

    # build.py
    def first_learner(self, table: LabelTable, settings: SettingsT) -> LearnerT:
        """The learner of a new project. Raises ValueError if none can be built, or its model cannot be trained."""

    def build_learner(
        self,
        home: Home,
        table_hash: str,
        settings: SettingsT,
        changes: Sequence[ClassChange] = (),
        checkpoint: Mapping[str, AnyArray] | None = None,
    ) -> LearnerT:
        """The learner of a stored table, before the first entry of its log; or as an earlier one was, of which
        `checkpoint` gave this checkpoint. One that waits for its neighbours is replaced once they are there."""

    def make_pool(
        self, table: LabelTable, settings: SettingsT, changes: Sequence[ClassChange] = ()
    ) -> AnyPool:
        """The rows before the first entry, under these changes of the classes. Raises ClassError."""

    # training.py
    def background_training(
        self, home: Home, project_id: int, learner: LearnerT, lock: FairLock
    ) -> BackgroundTraining:
        """How this learner gets models that are fitted while people answer. lock : the one under which it is used"""

    def give_model(self, home: Home, learner: LearnerT, past: Past) -> None:
        """Give a learner of an earlier state, which has applied the log until then, the model that was in place:
        fitted again. Raises ValueError if it cannot be."""

    # turn.py, answering.py
    def make_turn(self, opened: OpenedT_contra) -> TurnT_co:
        """The turn of the person who has opened the project: it writes answers and corrections."""

    # reviewing.py
    def find_answers(self, doors: DoorsT_contra, search: Search, page: int, size: int) -> ReviewList:
        """A page, from 0, of `size` of the answers that fit the search, the newest first."""

    def open_row(self, opened: OpenedT_contra, row: int) -> object:
        """The row as the Review page shows it, with its history. Raises NotFound."""

    def votes_of(self, learner: LearnerT, log: Sequence[SaidEntry]) -> list[Vote]:
        """The latest vote of each person about each place. log : the entries that were not withdrawn, in order"""

    # progress.py
    def count(
        self, home: Home, session: Session, project: Project, settings: SettingsT, kept: CountedT | None
    ) -> tuple[int, int, CountedT | None]:
        """(answered, open, `kept` for the next count), by table and log, without a learner."""

    def read_progress(self, opened: OpenedT_contra, rules: StopRules) -> ViewT:
        """Everything that the Progress page draws."""

    def watched(self, doors: DoorsT_contra) -> tuple[object, ...]:
        """Values that change whenever the Progress page has something new to draw; the log's latest seq first."""

    def stop_view(self, learner: LearnerT, rules: StopRules) -> StopView:
        """The verdicts of the stop rules."""

    def glance(self, learner: LearnerT, rules: StopRules) -> Glance:
        """How good the project is, for a line of a list of projects; without its picture."""

    # exporting.py
    def snapshot(self, opened: OpenedT_contra) -> Snapshot:
        """The export of the current state; taken quickly, for no one else can use the learner meanwhile."""

    def describe(self, opened: OpenedT_contra, rules: StopRules) -> Described:
        """The facts about the labels for a dataset card, as this kind counts and measures them."""


AnyKind: TypeAlias = Kind[Any, Any, Any, Any, Any, Any, Any, Any]
"""A kind that the caller does not know: what it makes goes back to it alone."""
