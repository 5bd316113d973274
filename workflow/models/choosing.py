"""The choice of a project's model: compare all models, cancel a comparison, choose one, return to automatic choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from db import trained
from plcore.arrays import StepProgress, check_choice
from plcore.blocks import BlockError, BlockProgress, RunnerError
from plcore.loop import ModelComparison as ModelComparison
from plcore.loop.one_label import StrategyRuns
from workflow import kinds
from workflow.access import Right
from workflow.kinds.adopting import AUTOMATIC, change_settings
from workflow.models import comparing
from workflow.models.showing import found_by
from workflow.server.jobs import cluster_blocks, open_blocks

if TYPE_CHECKING:
    from plcore import LabelTable
    from plcore.loop.one_label import Comparer
    from workflow.seat import Seat
    from workflow.server.settings import Settings


class CannotCompare(ValueError):  # noqa: N818 - what a page says, not a fault
    """There is nothing to compare, or these rows cannot measure it."""


def compare_now(seat: Seat) -> None:
    """Have a worker compare the models; does nothing if a comparison was already requested or is running.

    Raises
    CannotCompare : Projects of this kind have only one model.
    NotAllowed : The person is not an owner.
    NotSaved, NotFound
    """
    with seat.owning() as owning:
        if not kinds.models(owning.project):
            raise CannotCompare("Projects of this kind have no models to compare. Progress names the model in use.")
        comparing.ask(owning.session, owning.project, seat.person_id)


def cancel(seat: Seat) -> None:
    """Cancel the comparison that waits or runs; its worker stops soon. Harmless if there is none.

    Raises NotAllowed, NotSaved, NotFound.
    """
    with seat.owning() as owning:
        last = trained.COMPARISONS.latest(owning.session, owning.project.id)
        if last is not None:
            trained.COMPARISONS.end(owning.session, last.id, trained.CANCELLED, datetime.now(UTC))


def adopt(seat: Seat, model: str) -> None:
    """Use this model from now on, with the parameter that the latest comparison found. Comparisons no longer change the
    model until `back_to_automatic`. Idempotent.

    Raises
    ValueError : There is no such model.
    NotAllowed : The person is not an owner.
    NotSaved, NotFound
    """
    with seat.owning() as owning:
        session, project = owning.session, owning.project
        found = found_by(trained.COMPARISONS.latest(session, project.id, trained.DONE))
        settings = kinds.with_model(project, model, found.of(model).C, automatic=False)
        check_choice("model", model, tuple(kinds.models(project)))  # no plug-in's model that is not there
        change_settings(session, project, settings, person_id=seat.person_id)


def back_to_automatic(seat: Seat) -> None:
    """Let comparisons choose the model again; the current one stays until they do, and a comparison is due at once.
    Idempotent.

    Raises NotAllowed, NotSaved, NotFound, and ValueError if there is nothing to choose from.
    """
    with seat.owning() as owning:
        settings = kinds.changed_settings(owning.project, {"model": AUTOMATIC})
        change_settings(owning.session, owning.project, settings, person_id=seat.person_id)


def measure(seat: Seat, progress: StepProgress | None = None, settings: Settings | None = None) -> ModelComparison:
    """Compare the models of the project now, and store nothing.

    progress : called between fits with (fits done, fits in all, name of the model)
    settings : settings whose `cluster` computes the fits, None: those of the home
    Raises CannotCompare, NotAllowed unless the person is an owner, NotFound.
    """
    with seat.reading(Right.OWN) as reading:
        project_id = reading.project.id
    return _measure(lambda: comparing.make_comparer(seat.home, project_id)[0], settings or seat.home.settings, progress)


def measure_table(
    table: LabelTable, progress: StepProgress | None = None, settings: Settings | None = None
) -> ModelComparison:
    """Compare the models like `measure`, on a table of no project; by its true labels, if it has any. settings : None:
    compute the fits in this process

    Raises CannotCompare.
    """
    return _measure(lambda: kinds.make_table_comparer(table), settings, progress)


def _measure(make: Callable[[], Comparer], settings: Settings | None, progress: StepProgress | None) -> ModelComparison:
    try:
        comparer = make()
        with cluster_blocks(settings) as blocks:
            return comparer.compare(progress, blocks=blocks)
    except (ValueError, BlockError, RunnerError) as error:
        raise CannotCompare(f"The models cannot be compared: {error}") from error


# Labelling runs replayed on a table with known truth, to choose a strategy before anyone is asked.


class CannotSimulate(ValueError):  # noqa: N818 - what a command says, not a fault
    """Runs cannot be replayed on these rows, or the runner is unavailable."""


def replay_table(
    settings: Settings,
    table: LabelTable,
    strategies: Sequence[str],
    *,
    progress: BlockProgress | None = None,
    **options: Any,
) -> StrategyRuns:
    """Replay each strategy on a table outside any project, with the named runner; see
    `plcore.evaluation.replay_in_blocks` for the options. Raises CannotSimulate."""
    try:
        replays = kinds.make_table_replays(table)
        with open_blocks(settings) as blocks:
            found: StrategyRuns = replays.replay(blocks, strategies, progress=progress, **options)
    except (ValueError, BlockError, RunnerError) as error:
        raise CannotSimulate(f"The runs cannot be replayed: {error}") from error
    return found
