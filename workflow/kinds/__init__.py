"""The kinds of project, and the functions that the other packages call for a project of any kind.

A new kind is a folder here with the functions of `Kind`, a folder of the same name in `pages/parts`, and an entry in
KINDS and PARTS. Code outside never checks which kind a project is: it calls the kind's functions, or checks for a
capability.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from plcore.arrays import check_choice
from workflow.access import NotFound
from workflow.kinds import label_vectors, one_label
from workflow.kinds.kind import (
    AnyKind,
    Comparing,
    CountedT,
    FindingNeighbors,
    Kind,
    KindSettings,
    KindWords,
    LearnerT,
    Neighbors,
    SettingsT,
    ShownT,
    ViewT,
    WorkerSettings,
    WorkerTraining,
)

if TYPE_CHECKING:
    from db.projects import Project
    from plcore import LabelTable
    from plcore.arrays import ShareProgress
    from plcore.loop import ClassChange, StopRules
    from plcore.loop.one_label import Comparer, RandomOrderRuns, StrategyReplays, Trainer
    from plcore.tables import Doubt
    from workflow.answering.history import AboutRow
    from workflow.answering.turn import Turn
    from workflow.opened import Doors, Opened
    from workflow.server.home import Home


AskedT = TypeVar("AskedT", bound="AboutRow")
CapabilityT = TypeVar("CapabilityT")


def typed(
    kind: Kind[
        SettingsT, LearnerT, Opened[LearnerT], Doors[LearnerT], Turn[LearnerT, AskedT, ShownT], ShownT, ViewT, CountedT
    ],
) -> AnyKind:
    """Return the same kind. mypy infers its types here, and checks that all its functions agree on them."""
    return kind


KINDS: Mapping[str, AnyKind] = {one_label.NAME: typed(one_label), label_vectors.NAME: typed(label_vectors)}
"""Every kind by its name."""


def needed(kind: AnyKind, capability: CapabilityT | None, name: str) -> CapabilityT:
    """Return the capability of the kind. name : in words, for users      Raises NotFound if the kind lacks it."""
    if capability is None:
        raise NotFound(f"Projects of {kind.WORDS.short} have no {name}.")
    return capability


def kind_of(project: Project) -> AnyKind:
    """Return the kind of a stored project. Raises LookupError if this version does not know it."""
    for kind in KINDS.values():
        if is_stored(kind, project.settings):
            return kind
    raise LookupError(
        f"Project {project.id} is of a kind that this version of Winnow does not know: "
        f"{project.settings.get('kind')!r}. Fix: start the version that made it."
    )


def is_stored(kind: AnyKind, settings: Mapping[str, object]) -> bool:
    """Whether these are stored settings of the kind."""
    return settings.get("kind") in kind.STORED_AS


def of_table(table: LabelTable) -> AnyKind:
    """The kind of a project of this table."""
    return next(kind for kind in KINDS.values() if kind.fits(table))


def of_settings(settings: KindSettings) -> AnyKind:
    """The kind that has such settings."""
    return next(kind for kind in KINDS.values() if is_stored(kind, settings.to_json()))


def kind_name(project: Project) -> str:
    """The name of the project's kind."""
    return kind_of(project).NAME


def words(project: Project) -> KindWords:
    """How pages refer to the project."""
    return kind_of(project).WORDS


def default_settings(table: LabelTable, control_share: float) -> KindSettings:
    """Return the default settings of a project of this table.

    control_share : share of the rows, or cells, drawn as controls if the table has too few true labels to measure
        accuracy
    """
    settings: KindSettings = of_table(table).default_settings(table, control_share)
    return settings


def read_settings(project: Project) -> KindSettings:
    """The project's settings. Raises ValueError."""
    settings: KindSettings = kind_of(project).read_settings(project.settings)
    return settings


def changed_settings(project: Project, changes: Mapping[str, object]) -> KindSettings:
    """Return the project's settings with some changed. Raises ValueError if a change is not allowed."""
    kind = kind_of(project)
    if fixed := sorted(set(changes) & kind.DRAWN):
        raise ValueError(
            f"{fixed[0]} is fixed when a project is made: the rows drawn by it have been asked about, or kept from "
            "the model. Fix: import the table as a new project."
        )
    before = kind.read_settings(project.settings)
    settings: KindSettings = kind.settle_change(before, with_changes(kind, before, changes))
    return settings


LATEST_OF_SEVERAL = (
    "Several annotators answer a row, and the latest answer counts. It overrides all earlier answers: one mistake "
    "undoes the agreement of the others."
)
LATEST_FIX = "Combine answers by majority (fold=majority) or by how right each person is (fold=dawid-skene)."
"""Question to an owner who sets both."""


def with_changes(kind: AnyKind, before: KindSettings, changes: Mapping[str, object]) -> KindSettings:
    """Return settings of a kind with some changed. Raises ValueError for an unknown setting or a value that is not
    allowed.

    If a change asks for two or more annotators per row and names no rule, their answers are combined by majority.
    """
    from plcore.loop.one_label import AUTOMATIC  # loads the models, which a list of projects does not need

    known = before.to_json()  # an earlier version may have stored only some of them
    if unknown := sorted(set(changes) - set(known)):
        raise ValueError(f"A project has no setting {unknown[0]!r}. It has {', '.join(sorted(known))}.")
    after: KindSettings = kind.read_settings({**known, **changes})
    if "overlap" in changes and "fold" not in changes and after.is_latest_of_several:
        after = kind.read_settings({**known, **changes, "fold": "majority"})
    if kind.COMPARING is not None:
        models, strategies = kind.COMPARING.models, kind.COMPARING.strategies
        for name, there in (("adopted", models), ("model", models), ("strategy", strategies)):
            # Settings may name what a plug-in had that is not there.
            if name in changes and changes[name] not in (known[name], AUTOMATIC):
                check_choice(name, changes[name], tuple(there))
    return after


def latest_doubts(settings: KindSettings) -> list[Doubt]:
    """Whether the latest of several people's answers counts."""
    from plcore.tables import Doubt  # imports all table readers, which a list of projects does not need

    return [Doubt("latest-answer", LATEST_OF_SEVERAL, LATEST_FIX)] if settings.is_latest_of_several else []


def stop_rules(project: Project) -> StopRules:
    """Return the project's stop rules; those of its kind if the owner has set none."""
    default = kind_of(project).DEFAULT_RULES
    return default if project.stop_rules is None else default.from_json(project.stop_rules)


def worker_settings(project: Project) -> WorkerSettings | None:
    """The settings of a project whose model a worker trains; None for all others."""
    kind = kind_of(project)
    return None if kind.WORKER is None else kind.WORKER.settings(kind.read_settings(project.settings))


def version_key(project: Project, classes_seq: int) -> str:
    """Return the key under which a worker stores versions of the project's model. Raises LookupError if no worker
    trains it.

    classes_seq : seq of the latest change of its classes, 0 before the first
    """
    return _worker(project).version_key(read_settings(project), classes_seq)


def make_trainer(home: Home, project: Project, changes: Sequence[ClassChange]) -> Trainer:
    """The trainer of the project's model, for a worker. changes : of its classes, all of them

    Raises LookupError if no worker trains it.
    """
    return _worker(project).make_trainer(home, project.table_hash, read_settings(project), changes)


def _worker(project: Project) -> WorkerTraining[KindSettings]:
    kind = kind_of(project)
    if kind.WORKER is None:
        raise LookupError(
            f"No worker trains models of {kind.WORDS.short}. Fix: ask `worker_settings` of project {project.id} first."
        )
    return kind.WORKER


def finding(home: Home, project: Project) -> FindingNeighbors | None:
    """Return the progress of finding the neighbours that the project's learner waits for; None if it waits for none."""
    kind = kind_of(project)
    if kind.NEIGHBORS is None:
        return None
    return kind.NEIGHBORS.read(home, project.table_hash, kind.read_settings(project.settings))


def any_project_waits(home: Home) -> bool:
    """Whether any project may wait for neighbours: faster than asking each."""
    return any(kind.NEIGHBORS is not None and kind.NEIGHBORS.any_wait(home) for kind in KINDS.values())


def note_finding(home: Home, project: Project, now: FindingNeighbors) -> None:
    """Store the progress of finding neighbours. Raises OSError, and as `find_neighbors`."""
    _neighbors(project).note(home, project.table_hash, read_settings(project), now)


def find_neighbors(home: Home, project: Project, changes: Sequence[ClassChange], tell: ShareProgress) -> None:
    """Find and store the neighbours that the project's learner waits for. changes : of its classes, all of them

    Raises LookupError if its kind has none, and what reading the table, or writing, raises.
    """
    _neighbors(project).find(home, project.table_hash, read_settings(project), changes, tell)


def _neighbors(project: Project) -> Neighbors[KindSettings]:
    kind = kind_of(project)
    if kind.NEIGHBORS is None:
        raise LookupError(
            f"Projects of {kind.WORDS.short} need no neighbours. Fix: ask `finding` of project {project.id} first."
        )
    return kind.NEIGHBORS


def answers(project: Project) -> tuple[str, ...]:
    """Return the kinds of entries that are answers in the project's log."""
    return kind_of(project).ANSWERS


def models(project: Project) -> Mapping[str, str]:
    """The models that can be compared for the project, with their descriptions; empty if its kind has none."""
    comparing = kind_of(project).COMPARING
    return {} if comparing is None else comparing.models


def with_model(project: Project, model: str, C: float | None, *, automatic: bool) -> KindSettings:
    """Return the project's settings with this model in force. automatic : whether comparisons may still change the
    model

    Raises ValueError if its kind has no such model.
    """
    comparing = _comparing(kind_of(project), f"{model!r} cannot be adopted")
    settings: KindSettings = comparing.choose(read_settings(project), model, C, automatic)
    return settings


def features_of(project: Project) -> tuple[str, bool]:
    """The features that the project's models learn from, one of `plcore.arrays.types.FEATURE_SETS`, and whether
    comparisons choose them. Raises ValueError if its kind has nothing to compare."""
    return _comparing(kind_of(project), NOTHING_TO_COMPARE).features(read_settings(project))


def with_features(project: Project, settings: KindSettings, features: str) -> KindSettings:
    """Settings of the project with these features in force, as long as comparisons choose them. Raises ValueError."""
    chosen: KindSettings = _comparing(kind_of(project), NOTHING_TO_COMPARE).choose_features(settings, features)
    return chosen


def make_comparer(home: Home, project: Project, changes: Sequence[ClassChange]) -> Comparer:
    """Return the comparison of the project's models, with its pool before the first entry. changes : of its classes,
    all of them

    Raises ValueError if there is nothing to compare.
    """
    comparing = _comparing(kind_of(project), NOTHING_TO_COMPARE)
    return comparing.comparer(home.read_table(project.table_hash), read_settings(project), changes)


def make_table_comparer(table: LabelTable) -> Comparer:
    """Return the comparison of models on a table that belongs to no project. Raises ValueError."""
    return _comparing(of_table(table), NOTHING_TO_COMPARE).table_comparer(table)


NOTHING_TO_COMPARE = "there is nothing to compare"


def _comparing(kind: AnyKind, refused: str) -> Comparing[KindSettings]:
    if kind.COMPARING is None:
        raise ValueError(f"Projects of {kind.WORDS.short} have no choice of models: {refused}.")
    return kind.COMPARING


def make_table_replays(table: LabelTable) -> StrategyReplays:
    """Return the labelling runs to replay on a table that belongs to no project. Raises ValueError if its kind has
    none."""
    kind = of_table(table)
    if kind.REPLAYS is None:
        raise ValueError(f"Labelling runs of {kind.WORDS.short} are not replayed.")
    return kind.REPLAYS.strategies(table)


def replays_random_order(project: Project) -> bool:
    """Whether a worker estimates how the project would have gone in random order."""
    return kind_of(project).REPLAYS is not None


def make_random_order(home: Home, project: Project, changes: Sequence[ClassChange]) -> RandomOrderRuns:
    """Return the runs of the project in random order, with its pool before the first entry. changes : of its classes,
    all of them

    Raises ValueError if its kind has no such runs.
    """
    kind = kind_of(project)
    if kind.REPLAYS is None:
        raise ValueError(f"Random order is not estimated for {kind.WORDS.short}.")
    return kind.REPLAYS.random_order(home.read_table(project.table_hash), read_settings(project), changes)
