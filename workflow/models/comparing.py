"""Comparisons of projects' models in the background: when one is due, by one worker at a time, adopting the best.

If the owner lets Winnow choose, models are compared before the first answer, again when answers or blind checks have
grown by half, and when the features have changed. Owners can start a comparison at any time; if they have chosen a
model themselves, only they change it.
"""

from __future__ import annotations

import dataclasses
import shutil
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from db import answers, entries, projects, trained
from plcore.arrays import BOTH, MEANING, WORDS, counted
from plcore.blocks import RunnerError
from plcore.loop import CONTROL, EntryKind, ModelComparison
from plcore.tables import read_encoded_columns
from workflow import kinds
from workflow.kinds.adopting import CHECKS, COMPARISON, change_settings, left_to_comparisons
from workflow.log.reading import follow, read_class_changes
from workflow.models import leases, training
from workflow.models.training import Due, WorkCancelled, attempt
from workflow.models.waiting import Away, find_waiting, request_due_work
from workflow.server.jobs import blocks_folder, cluster_blocks
from workflow.server.shelf import trim

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy.orm import Session

    from db.projects import Project
    from db.trained import Comparison
    from plcore.loop import FeatureComparison, ModelFigures
    from plcore.loop.one_label import Comparer
    from workflow.kinds.kind import KindSettings
    from workflow.server.home import Home

TASK = "compare"
"""The task name of comparisons' leases. Trainings have other leases, and continue meanwhile."""
LEAST_NEW = 10
"""Answers, or blind checks, that must be new: half of a few is reached soon and means little."""
BUDGET = 300.0
"""CPU seconds for one comparison; models not reached within them have no figures."""
KILLED = (
    "The comparison was ended from outside twice, perhaps because memory ran out. Fix: give the machine more memory, "
    "or cancel it and choose a model yourself. It is next tried in an hour."
)
FITS = "comparison-"
"""Prefix of the folder of a comparison's fits, before its id."""
TOLD_EVERY = 1.0
"""Seconds between two reports of a comparison's progress."""


@dataclass(frozen=True)
class Counts:
    """Content of a project's log. answers : not withdrawn      checks : those to blind checks among them"""

    seq: int
    answers: int
    checks: int


def is_due(last: Counts | None, now: Counts) -> bool:
    """Whether an automatic comparison is due: the first, or because answers or blind checks have grown by half.

    last : what the previous comparison saw, however it ended; None: there was none
    """
    if last is None:
        return True
    grown = (now.answers - last.answers, last.answers), (now.checks - last.checks, last.checks)
    return any(new >= max(LEAST_NEW, old / 2) for new, old in grown)


def count(session: Session, project: Project) -> Counts:
    """Count the current content of a project's log."""
    given = kinds.answers(project)
    return Counts(
        entries.last_seq(session, project.id),
        answers.count(session, project.id, given),
        answers.count(session, project.id, given, strategy=CONTROL),
    )


def ask(session: Session, project: Project, asked_by: int | None) -> int:
    """Request a comparison of the project's models; returns its id, or that of the unfinished one."""
    now = count(session, project)
    return trained.COMPARISONS.ask(
        session, project.id, asked_by=asked_by, asked_at=datetime.now(UTC), **dataclasses.asdict(now)
    )


def has_due_work(home: Home, *, quiet: bool = False) -> bool:
    """Whether a worker is needed: to train a model, or to compare some. quiet : as in `training.has_models_to_train`"""
    return training.has_models_to_train(home, quiet=quiet) or any(_find(home))


def count_waiting(home: Home) -> int:
    """Return the number of comparisons that are due or under way."""
    due, under_way = _find(home)
    return len(due) + len(under_way)


def _find(home: Home) -> tuple[list[Project], list[Comparison]]:
    return find_waiting(home, kinds.models, trained.COMPARISONS.latest, partial(_has_news, home))


def _has_news(home: Home, session: Session, project: Project, last: Comparison | None) -> bool:
    """Whether comparisons choose the model, and one `is_due`, or since the latest began a person let them choose or the
    features changed."""
    if not kinds.read_settings(project).is_automatic:
        return False
    if last is None:
        return True
    if left_to_comparisons(session, project) > last.seq:
        return True
    if _features_changed(home, session, project.id, last.seq):
        return True
    if entries.last_seq(session, project.id) - last.seq < LEAST_NEW:
        return False  # do not count after every answer
    return is_due(Counts(last.seq, last.answers, last.checks), count(session, project))


def _features_changed(home: Home, session: Session, project_id: int, since: int) -> bool:
    """Whether a column was encoded, or its vectors were removed, after this entry of the log."""
    tables = [
        table
        for one in entries.about_project(session, project_id)
        if one.seq > since and one.kind == EntryKind.ROWS
        for table in one.before + one.after
    ]
    if not tables:
        return False
    before, after = (read_encoded_columns(home.table_path(table)) for table in (tables[0], tables[-1]))
    return before != after


def make_comparer(home: Home, project_id: int) -> tuple[Comparer, Counts]:
    """Return the comparison of a project's models, after every entry of its log; and the content of that log.

    Raises ValueError if its kind has nothing to compare.
    """
    with home.database.read() as session:
        project = projects.get(session, project_id)
        changes = read_class_changes(session, project.id)
    comparer = kinds.make_comparer(home, project, changes)
    with home.database.read() as session:
        follow(session, project.id, comparer.pool, comparer.pool.apply)
        return comparer, count(session, project)


class ComparingWorker(training.Worker):
    """A worker that trains what is due and then runs the comparisons. The setting `cluster` names what computes the
    fits."""

    def __init__(self, home: Home, name: str) -> None:
        super().__init__(home, name)
        self._away = Away()

    def look(self) -> bool:
        """Do the work of `workflow.models.training.Worker.look`, then the comparisons."""
        if seen := super().look():
            self.compare_due()
        return seen

    def compare_due(self) -> None:
        """Run every comparison that is due or requested."""
        self._clear_ended()
        for one in request_due_work(self.home, _find(self.home), ask, trained.COMPARISONS.get):
            self.go_on()
            if self._away.is_due:
                self.compare(one)

    def compare(self, asked: Comparison) -> ModelComparison | None:
        """Run one comparison and adopt its choice if it may choose. None if another worker has it, it was cancelled, or
        it failed.
        """
        with leases.hold(self.home, asked.project_id, self.name, str(asked.id), TASK, KILLED) as lease:
            if lease is None:
                return None
            begun = time.monotonic()

            def fail(fault: str) -> None:
                with self.home.database.write() as session:
                    trained.COMPARISONS.end(session, asked.id, trained.FAILED, datetime.now(UTC), fault=fault)

            done = None
            with attempt(fail, f"The models of project {asked.project_id} cannot be compared."):
                try:
                    found = self._measure(asked)
                except RunnerError as error:  # no cluster to compute the fits; finished fits stay
                    lease.fault = f"{error} The comparison waits for it. {self._away.missed()}"
                    return None
                except _FeaturesChanged:  # it restarts at the next look
                    shutil.rmtree(self._folder(asked), ignore_errors=True)
                    return None
                self._close(asked, found, time.monotonic() - begun)
                done = found
            shutil.rmtree(self._folder(asked), ignore_errors=True)
            return done

    def _folder(self, asked: Comparison) -> Path:
        """Return the folder of fits computed elsewhere; a restarted comparison continues there."""
        return blocks_folder(self.home.settings) / f"{FITS}{asked.id}"

    def _clear_ended(self) -> None:
        """Remove the fits of comparisons that ended without a worker: cancelled while they waited for a cluster."""
        for folder in blocks_folder(self.home.settings).glob(f"{FITS}*"):
            with self.home.database.read() as session:
                one = trained.COMPARISONS.get(session, int(folder.name.removeprefix(FITS)))
            if one is None or not one.unfinished:
                shutil.rmtree(folder, ignore_errors=True)

    def _measure(self, asked: Comparison) -> ModelComparison:
        told, before = -TOLD_EVERY, -1

        def tell(done: int, total: int, model: str) -> None:
            nonlocal told, before
            self.go_on()
            if done != before:  # not inside a fit
                before = done
                trim()
                with ThreadPoolExecutor(1) as aside:  # count only the models' CPU time in this thread
                    aside.submit(self.meanwhile).result()
                with self.home.database.read() as session:
                    if _features_changed(self.home, session, asked.project_id, now.seq):
                        raise _FeaturesChanged
            if time.monotonic() - told < TOLD_EVERY:
                return
            told = time.monotonic()
            with self.home.database.write() as session:
                if not trained.COMPARISONS.note(session, asked.id, done, total, fitting=model):
                    raise WorkCancelled

        with cluster_blocks(self.home.settings, self._folder(asked), patience=0) as blocks:
            self._away.there()
            comparer, now = make_comparer(self.home, asked.project_id)
            with self.home.database.write() as session:
                if not trained.COMPARISONS.begin(session, asked.id, **dataclasses.asdict(now)):
                    raise WorkCancelled
            found: ModelComparison = comparer.compare(tell, BUDGET, blocks)
        return found

    def _close(self, asked: Comparison, found: ModelComparison, seconds: float) -> None:
        """End the comparison, and adopt its choice in the same transaction."""
        with self.home.database.read() as session:
            project = projects.get(session, asked.project_id)
            earlier = trained.COMPARISONS.latest(session, project.id, trained.DONE)
        chosen = _choice(project, found, first=earlier is None)
        fault = None if chosen is None else self._train_first(project, chosen)
        with self.home.database.write() as session:
            entries.lock(session, project.id)
            now, report = datetime.now(UTC), found.to_json()
            if not trained.COMPARISONS.end(
                session, asked.id, trained.DONE, now, report=report, seconds=seconds, fault=fault
            ):
                raise WorkCancelled
            # If someone has changed the settings meanwhile, keep their change.
            kept = projects.get(session, project.id).settings == project.settings
            if chosen is not None and fault is None and kept:
                change_settings(
                    session,
                    project,
                    chosen.settings,
                    person_id=project.created_by,
                    why=chosen.why,
                    score=chosen.score,
                    strategy=CHECKS if found.checks else COMPARISON,
                )

    def _train_first(self, project: Project, chosen: ComparisonChoice) -> str | None:
        """Train the model to adopt, so that it predicts from its first moment on; returns why it cannot be adopted,
        None if it can."""
        adopted = dataclasses.replace(project, settings=chosen.settings.to_json())
        settings = kinds.worker_settings(adopted)
        if settings is None:
            return None
        with self.home.database.read() as session:
            seq = entries.last_seq(session, project.id)
            changes = read_class_changes(session, project.id)
        key = kinds.version_key(adopted, changes[-1].seq if changes else 0)
        name = short(kinds.models(project), chosen.settings.model_in_force)
        fault = f"{name} was best, but cannot be trained on all rows:"
        while True:
            with leases.hold(self.home, project.id, self.name, key) as lease:
                if lease is not None:
                    try:
                        self.fit(Due(adopted, settings, key, seq))
                    except ValueError as error:
                        return f"{fault} {error}"
                    return None
            with self.home.database.read() as session:
                why = leases.resting(session, project.id, key)
            if why is not None:
                return f"{fault} {why}"
            self._stop.wait(training.POLL)  # another worker trains the project with its old model
            self.go_on()


class _FeaturesChanged(Exception):  # noqa: N818 - not an error
    """The features of the project changed while its models were compared."""


@dataclass(frozen=True)
class ComparisonChoice:
    """A change by a comparison. why : in words      score : the figure of the new choice"""

    settings: KindSettings
    why: str
    score: float | None


def _choice(project: Project, found: ModelComparison, *, first: bool) -> ComparisonChoice | None:
    """Return the model and the features that the comparison chooses; None if the current ones stay. first : whether it
    is the first comparison"""
    settings = kinds.read_settings(project)
    if not settings.is_automatic:
        return None
    now = settings.model_in_force
    reasons: list[str] = []
    score: float | None = None
    model = found.choice(None if first else now) or now
    if model != now:
        best = found.of(model)
        settings = kinds.with_model(project, model, best.C, automatic=True)
        reasons.append(words_of(found, model, now, kinds.models(project)))
        score = best.accuracy if found.checks else best.kappa
    before, is_left = kinds.features_of(project)
    if found.features is not None and is_left and (after := found.features.choice(before)) != before:
        settings = kinds.with_features(project, settings, after)
        reasons.append(feature_words(found.features, after, before))
        score = found.features.accuracy[after] if score is None else score
    return ComparisonChoice(settings, "; ".join(reasons), score) if reasons else None


FEATURES = {BOTH: "meaning with built-in features", WORDS: "built-in features", MEANING: "meaning"}
"""Names of feature sets on pages."""


def gain_words(found: FeatureComparison, in_force: str) -> str | None:
    """Say how much better the current features are than the built-in ones; None if they are not."""
    shares = found.accuracy
    if not {in_force, WORDS} <= set(shares) or shares[in_force] <= shares[WORDS]:
        return None
    words = feature_words(found, in_force, WORDS)
    return f"{words[0].upper()}{words[1:]}."


def feature_words(found: FeatureComparison, features: str, other: str) -> str:
    """Compare two feature sets in words: "meaning: 83% of 46 answered rows where built-in features had 60%"."""
    shares = [f"{100 * found.accuracy[use]:.0f}%" for use in (features, other)]
    rows = counted(found.rows, "answered row")
    return f"{FEATURES[features]}: {shares[0]} of {rows} where {FEATURES[other]} had {shares[1]}"


def short(models: Mapping[str, str], model: str) -> str:
    """Return the display name of a model, without its explanation."""
    return str(models.get(model, model)).partition(":")[0]


def words_of(found: ModelComparison, model: str, other: str, models: Mapping[str, str]) -> str:
    """Say why a model replaced another: its figure, with that of the other in brackets."""

    def figure(one: ModelFigures) -> str:
        value = one.accuracy if found.checks else one.kappa
        return "not measured" if value is None else f"{100 * value:.0f}%"

    of_what = f"by {found.checks:,} blind checks" if found.checks else "consistency with the candidates, beyond chance"
    return f"{figure(found.of(model))} {of_what} ({short(models, other)} {figure(found.of(other))})"
