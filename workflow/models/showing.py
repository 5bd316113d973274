"""The models of a project as pages show them: which one is in force since when, the result of a comparison, its
progress."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from db import trained
from plcore.arrays import BOTH, MEANING, WORDS
from plcore.evaluation import exact_interval, wilson_interval
from plcore.loop import FEWEST_ANSWERED as FEWEST_ANSWERED
from plcore.loop import MODEL_ENTRIES, FeatureComparison, ModelComparison, Upkeep
from plcore.loop import ModelFigures as ModelFigures
from workflow import kinds
from workflow.access import Right
from workflow.kinds.adopting import Adoption as Adoption
from workflow.kinds.adopting import read_adoptions
from workflow.models import comparing, leases
from workflow.models.comparing import gain_words
from workflow.models.comparing import short as short

if TYPE_CHECKING:
    from db.trained import Comparison
    from workflow.opened import Reading
    from workflow.seat import Seat


@dataclass(frozen=True)
class ModelStory:
    """The current model, and the earlier ones.

    automatic : whether comparisons choose the model      model : the name of the current one
    models : {name: description}; empty if there is nothing to compare
    adoptions : every change of it, in order
    by_checks : whether the choice used blind checks, which then overrate the chosen model
    gain : the gain from meaning, measured on held-out answered rows; None if not measured, or no gain
    """

    automatic: bool
    model: str
    models: Mapping[str, str]
    adoptions: tuple[Adoption, ...]
    by_checks: bool
    gain: str | None


@dataclass(frozen=True)
class ModelLine:
    """One model. name, words : in settings, and on pages      plain : what it does in plain words, "" without them

    uses_scores : whether it weighs the file's scores      online : whether it is made for large tables, one row at a
        time
    figures : what the latest comparison measured
    interval : 95% interval of the accuracy on blind checks, else of the consistency beyond chance; None without figures
    in_force : whether it is the current model      best : whether the comparison chose it
    """

    name: str
    words: str
    plain: str
    uses_scores: bool
    online: bool
    figures: ModelFigures
    interval: tuple[float, float] | None
    in_force: bool
    best: bool


@dataclass(frozen=True)
class Running:
    """A comparison that waits or runs. done, total : fits; total is 0 before the first

    fitting : the model fitted now, in words      begun : whether a worker has it
    fault : why no worker can take it now
    """

    done: int
    total: int
    fitting: str
    begun: bool
    fault: str | None


@dataclass(frozen=True)
class Done:
    """The latest finished comparison. rows, checks : held out; blind checks among them

    answers : given when it began      fault : why the best model was not adopted
    """

    at: datetime
    rows: int
    checks: int
    answers: int
    seconds: float
    fault: str | None


@dataclass(frozen=True)
class ModelsView:
    """lines : every model, the best first      features : what the latest comparison found about them, None without one

    features_in_force : what the current model learns from, "" if there is none
    by_words, by_meaning : accuracy with built-in features and with meaning, None if not compared
    failed : why the latest comparison failed, None if it did not
    cancelled : whether an owner cancelled it
    """

    story: ModelStory
    lines: tuple[ModelLine, ...]
    features: FeatureComparison | None
    features_in_force: str
    by_words: float | None
    by_meaning: float | None
    running: Running | None
    done: Done | None
    failed: str | None
    cancelled: bool


def models_view(seat: Seat) -> ModelsView:
    """Everything the page shows. Raises NotAllowed unless the person is an owner, NotFound."""
    with seat.reading(Right.OWN) as reading:
        story = _story(reading)
        last = trained.COMPARISONS.latest(reading.session, reading.project.id)
        done = trained.COMPARISONS.latest(reading.session, reading.project.id, trained.DONE)
        found = found_by(done)
        shares = {} if found.features is None else found.features.accuracy
        in_force = "" if found.features is None else kinds.features_of(reading.project)[0]
        return ModelsView(
            story=story,
            lines=_lines(story.models, found, story.model),
            features=found.features,
            features_in_force=in_force,
            by_words=shares.get(WORDS),
            by_meaning=shares.get(in_force if in_force in (BOTH, MEANING) else MEANING),
            running=_running(reading, last, story.models),
            done=None if done is None else _done(done, found),
            failed=last.fault if last is not None and last.state == trained.FAILED else None,
            cancelled=last is not None and last.state == trained.CANCELLED,
        )


def model_story(seat: Seat) -> ModelStory:
    """Return the current model and the earlier ones. Raises NotAllowed, NotFound."""
    with seat.reading() as reading:
        return _story(reading)


def running_now(seat: Seat) -> Running | None:
    """Return the comparison that waits or runs; None if there is none. Raises NotAllowed, NotFound."""
    with seat.reading() as reading:
        last = trained.COMPARISONS.latest(reading.session, reading.project.id)
        return _running(reading, last, kinds.models(reading.project))


def watched(seat: Seat) -> tuple[object, ...]:
    """Return values that change whenever the page has something new to draw, except a comparison's progress.

    Raises NotAllowed, NotFound.
    """
    with seat.reading() as reading:
        last = trained.COMPARISONS.latest(reading.session, reading.project.id)
        state = None if last is None else (last.id, last.state)
        return reading.project.id, state, tuple(sorted(map(str, reading.project.settings.items())))


def _story(reading: Reading) -> ModelStory:
    settings = kinds.read_settings(reading.project)
    adoptions = read_adoptions(reading.session, reading.project)
    done = trained.COMPARISONS.latest(reading.session, reading.project.id, trained.DONE)
    # An owner who chooses a model has seen the figures, too; and a model that stays was chosen as well.
    found = found_by(done)
    looked_at = bool(found.checks) and (settings.is_automatic or bool(adoptions))
    return ModelStory(
        automatic=settings.is_automatic,
        model=settings.model_in_force,
        models=kinds.models(reading.project),
        adoptions=adoptions,
        by_checks=looked_at or any(one.by_checks for one in adoptions),
        gain=None if found.features is None else gain_words(found.features, kinds.features_of(reading.project)[0]),
    )


def found_by(done: Comparison | None) -> ModelComparison:
    """Return the result of a finished comparison; an empty one before the first."""
    if done is None or done.report is None:
        return ModelComparison((), None, 0)
    return ModelComparison.from_json(done.report)


def _lines(models: Mapping[str, str], found: ModelComparison, now: str) -> tuple[ModelLine, ...]:
    """Order the models, the best first, the others by their figures; models without figures in the order of the
    registry."""
    lines = [
        ModelLine(
            name=name,
            words=words,
            plain=entry.plain if entry is not None else "",
            uses_scores=entry is not None and entry.uses_scores,
            online=entry is not None and entry.upkeep is Upkeep.ONLINE,
            figures=found.of(name),
            interval=_interval(found.of(name), found),
            in_force=name == now,
            best=name == found.best,
        )
        for name, words in models.items()
        for entry in [MODEL_ENTRIES.get(name)]
    ]
    return tuple(sorted(lines, key=lambda line: (not line.best, *_rank(line.figures))))


def _rank(figures: ModelFigures) -> tuple[float, float]:
    """Sort key: accuracy if there are blind checks, else consistency, which also breaks ties; models without figures
    come last."""
    accuracy, kappa = figures.accuracy, figures.kappa
    return (
        math.inf if kappa is None else 0.0 if accuracy is None else -accuracy,
        math.inf if kappa is None else -kappa,
    )


def _interval(figures: ModelFigures, found: ModelComparison) -> tuple[float, float] | None:
    if figures.accuracy is not None:
        low, high = exact_interval(round(figures.accuracy * found.checks), found.checks)
        return float(low), float(high)
    inside, kappa = figures.consistency, figures.kappa
    if inside is None or kappa is None or kappa >= 1 or not found.rows:
        return None if kappa is None else (kappa, kappa)
    chance = (inside - kappa) / (1 - kappa)
    if chance >= 1 - 1e-9:  # a label that is a candidate of every row is never wrong: nothing was measured
        return None
    ends = wilson_interval(inside, found.rows)
    return float((ends[0] - chance) / (1 - chance)), float((ends[1] - chance) / (1 - chance))


def _running(reading: Reading, last: Comparison | None, models: Mapping[str, str]) -> Running | None:
    if last is None or not last.unfinished:
        return None
    lease = trained.training(reading.session, reading.project.id, comparing.TASK)
    own = lease if lease is not None and lease.key == str(last.id) else None
    begun = own is not None and leases.is_held(own, datetime.now(UTC))
    fitting = short(models, last.fitting) if last.fitting else ""
    return Running(last.done, last.total, fitting, begun, own.fault if own is not None and own.ended else None)


def _done(done: Comparison, found: ModelComparison) -> Done:
    return Done(
        at=done.ended_at or done.asked_at,
        rows=found.rows,
        checks=found.checks,
        answers=done.answers,
        seconds=done.seconds or 0.0,
        fault=done.fault,
    )
