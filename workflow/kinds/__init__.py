"""The kinds of project, and what the rest of the house asks of a project whatever its kind.

A new kind is a folder here with the functions of `Kind`, a folder of the same name in `pages/parts`, and its name in
KINDS. Nothing outside asks which kind a project is: it asks the kind to do its part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plcore import LabelTable
from workflow.kinds import label_vectors, one_label
from workflow.kinds.kind import Kind
from workflow.kinds.kind_settings import KindSettings, WorkerSettings
from workflow.kinds.kind_words import KindWords

if TYPE_CHECKING:
    from db.projects import Project
    from plcore.loop import ClassChange, StopRules
    from workflow.home import Home

__all__ = [
    "KINDS",
    "Kind",
    "KindSettings",
    "KindWords",
    "WorkerSettings",
    "answers",
    "changed_settings",
    "default_settings",
    "is_automatic",
    "kind_name",
    "kind_of",
    "make_comparer",
    "make_random_order",
    "make_table_comparer",
    "make_table_replays",
    "make_trainer",
    "model_of",
    "models",
    "of_settings",
    "of_table",
    "read_settings",
    "replays_random_order",
    "stop_rules",
    "version_key",
    "with_model",
    "words",
    "worker_settings",
]

KINDS: Mapping[str, Kind] = {one_label.NAME: one_label, label_vectors.NAME: label_vectors}
"""Every kind by its name."""


def kind_of(project: Project) -> Kind:
    """The kind of a stored project. Raises LookupError for one that this version does not know."""
    for kind in KINDS.values():
        if kind.is_stored(project.settings):
            return kind
    raise LookupError(
        f"Project {project.id} is of a kind that this version of Winnow does not know: "
        f"{project.settings.get('kind')!r}. Fix: start the version that made it."
    )


def of_table(table: LabelTable) -> Kind:
    """The kind of a project of this table."""
    return next(kind for kind in KINDS.values() if kind.fits(table))


def of_settings(settings: KindSettings) -> Kind:
    """The kind that has such settings."""
    return next(kind for kind in KINDS.values() if kind.is_stored(settings.to_json()))


def kind_name(project: Project) -> str:
    """The name of the project's kind."""
    return kind_of(project).NAME


def words(project: Project) -> KindWords:
    """How pages speak of the project."""
    return kind_of(project).WORDS


def default_settings(table: LabelTable, control_share: float) -> Any:
    """The settings of a project of this table where nobody has chosen any.

    control_share : share of the rows, or cells, drawn as controls where the table holds too little truth to measure by
    """
    return of_table(table).default_settings(table, control_share)


def read_settings(project: Project) -> Any:
    """The project's settings. Raises ValueError."""
    return kind_of(project).read_settings(project.settings)


def changed_settings(project: Project, changes: Mapping[str, Any]) -> Any:
    """The project's settings with some changed. Raises ValueError where one may not be, or not be changed."""
    kind = kind_of(project)
    if fixed := sorted(set(changes) & kind.DRAWN):
        raise ValueError(
            f"{fixed[0]} is fixed when a project is made: the rows drawn by it have been asked about, or kept from "
            "the model. Fix: import the table as a new project."
        )
    before = kind.read_settings(project.settings)
    return kind.settle_change(before, with_changes(kind, before, changes))


def with_changes(kind: Kind, before: KindSettings, changes: Mapping[str, Any]) -> Any:
    """Settings of a kind with some changed. Raises ValueError for one that there is not, or that may not be."""
    known = before.to_json()  # an earlier version may not have stored all that there are
    if unknown := sorted(set(changes) - set(known)):
        raise ValueError(f"A project has no setting {unknown[0]!r}. It has {', '.join(sorted(known))}.")
    return kind.read_settings({**known, **changes})


def stop_rules(project: Project) -> StopRules:
    """The project's stop rules; those of its kind where nobody has set any."""
    default = kind_of(project).DEFAULT_RULES
    return default if project.stop_rules is None else default.from_json(project.stop_rules)


def worker_settings(project: Project) -> WorkerSettings | None:
    """The settings of a project whose model a worker trains; None for all others."""
    kind = kind_of(project)
    return kind.worker_settings(kind.read_settings(project.settings))


def version_key(project: Project, classes_seq: int) -> str:
    """The key under which versions of the project's model are stored.

    classes_seq : seq of the latest change of its classes, 0 before the first
    """
    kind = kind_of(project)
    return kind.version_key(kind.read_settings(project.settings), classes_seq)


def make_trainer(home: Home, project: Project, changes: Sequence[ClassChange]) -> Any:
    """The trainer of the project's model, for a worker. changes : of its classes, all of them"""
    kind = kind_of(project)
    return kind.make_trainer(home, project.table_hash, kind.read_settings(project.settings), changes)


def answers(project: Project) -> tuple[str, ...]:
    """The kinds of entries that are answers in the project's log."""
    return kind_of(project).ANSWERS


def models(project: Project) -> Mapping[str, str]:
    """The models that can be compared for the project, with their words; empty where its kind has none."""
    return kind_of(project).COMPARED


def model_of(project: Project) -> str:
    """The name of the model in force."""
    kind = kind_of(project)
    return kind.model_of(kind.read_settings(project.settings))


def is_automatic(project: Project) -> bool:
    """Whether comparisons choose the project's model."""
    kind = kind_of(project)
    return kind.is_automatic(kind.read_settings(project.settings))


def with_model(project: Project, model: str, C: float | None, *, automatic: bool) -> Any:
    """The project's settings with this model in force. automatic : whether comparisons go on choosing

    Raises ValueError where its kind has no such model.
    """
    kind = kind_of(project)
    return kind.choose_model(kind.read_settings(project.settings), model, C, automatic=automatic)


def make_comparer(home: Home, project: Project, changes: Sequence[ClassChange]) -> Any:
    """What compares the project's models, its pool before the first entry. changes : of its classes, all of them

    Raises ValueError where there is nothing to compare.
    """
    kind = kind_of(project)
    table = home.read_table(project.table_hash)
    return kind.make_comparer(table, kind.read_settings(project.settings), changes)


def make_table_comparer(table: LabelTable) -> Any:
    """The same for a table that belongs to no project. Raises ValueError."""
    return of_table(table).make_table_comparer(table)


def make_table_replays(table: LabelTable) -> Any:
    """What replays labelling runs on a table that belongs to no project. Raises ValueError."""
    return of_table(table).make_table_replays(table)


def replays_random_order(project: Project) -> bool:
    """Whether a worker estimates what random order would have reached in the project."""
    return kind_of(project).REPLAYS_RANDOM_ORDER


def make_random_order(home: Home, project: Project, changes: Sequence[ClassChange]) -> Any:
    """What replays the project in random order, its pool before the first entry. changes : of its classes, all of them

    Raises ValueError where nothing does.
    """
    kind = kind_of(project)
    table = home.read_table(project.table_hash)
    return kind.make_random_order(table, kind.read_settings(project.settings), changes)
