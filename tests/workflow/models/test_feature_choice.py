"""The features of a project: chosen with the model by comparisons, and what pages say of the gain."""

from __future__ import annotations

import pandas as pd
import pytest

from plcore import LearnerSettings
from plcore.arrays import BOTH, FEATURE_SETS, MEANING, WORDS
from plcore.loop import FeatureComparison
from plcore.loop.comparison import FEWEST_ANSWERED
from plcore.loop.one_label import comparing as measuring
from tests.plcore.loop.deceived import CLASSES, deceived_table
from tests.workflow.compared import Findings, findings
from tests.workflow.models.test_comparing import adoptions, latest, settings_of
from tests.workflow.world import newest_version, opened
from workflow.answering import loop
from workflow.models import showing
from workflow.models.comparing import ComparingWorker, gain_words
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.slow

__all__ = ["findings"]


@pytest.fixture
def shares(monkeypatch: pytest.MonkeyPatch, findings: Findings) -> dict[int, float]:
    """Accuracies of the sets of features, by their number of columns, as comparisons find them from now on."""
    found: dict[int, float] = {}

    def compare_learners(X: object, candidates: object, learners: list[str], **more: object) -> pd.DataFrame:
        lines = findings.compare_learners(X, candidates, learners, **more)
        if len(learners) == 1:
            lines = lines[lines["learner"] == learners[0]].assign(accuracy=found[X.shape[1]])  # type: ignore[attr-defined]
        return lines

    monkeypatch.setattr(measuring, "compare_learners", compare_learners)
    return found


def project_of(home: Home, owner: int, **settings: object) -> int:
    """A project of `deceived_table`, whose model comparisons choose."""
    given = {"model": "automatic", "train_seconds": 3600.0, "n_neighbors": 4, **settings}
    return managing.create_project(Seat(home, owner), "texts", deceived_table()[0], LearnerSettings(**given))  # type: ignore[arg-type]


def answer(home: Home, owner: int, project: int, n: int) -> None:
    seat, y = Seat(home, owner, project), deceived_table()[1]
    for _ in range(n):
        question = loop.next_question(seat)
        assert question is not None
        loop.submit_answer(seat, question.token, "is", [CLASSES[y[int(question.view.row_id) - 1]]])


def widths() -> dict[str, int]:
    table = deceived_table()[0]
    return {use: table.features(use).fit(table).n_features_ for use in FEATURE_SETS}


def test_comparison_adopts_features_after_forty_answers(
    home: Home, owner: int, findings: Findings, shares: dict[int, float]
) -> None:
    findings.kappas = {"kernelridge": 0.8, "plknn": 0.5}
    project, worker, wide = project_of(home, owner), ComparingWorker(home, "one"), widths()
    shares.update({wide[BOTH]: 0.6, wide[WORDS]: 0.5, wide[MEANING]: 0.95})
    assert worker.look()
    assert settings_of(home, project)["adopted_features"] == BOTH, "consistency does not choose features"
    answer(home, owner, project, FEWEST_ANSWERED)
    assert worker.look()
    stored = settings_of(home, project)
    assert (stored["features"], stored["adopted_features"], stored["adopted"]) == ("automatic", MEANING, "kernelridge")
    _, last = adoptions(home, project)
    assert last.why == "meaning: 95% of 40 answered rows where meaning with built-in features had 60%"
    assert (last.before, last.model, last.by_comparison) == ("kernelridge", "kernelridge", True)
    assert newest_version(home, project) == FEWEST_ANSWERED + 1, "it was trained before it was adopted"
    with opened(home, owner, project) as learner:
        assert learner.settings.features_in_force == MEANING
        assert learner.version_published == FEWEST_ANSWERED + 1
    story = showing.model_story(Seat(home, owner, project))
    assert story.gain == "Meaning: 95% of 40 answered rows where built-in features had 50%."


def test_features_chosen_by_hand_stay(home: Home, owner: int, findings: Findings, shares: dict[int, float]) -> None:
    findings.kappas = {"plknn": 0.5}
    project, worker, wide = project_of(home, owner, features=WORDS), ComparingWorker(home, "one"), widths()
    shares.update({wide[BOTH]: 0.6, wide[WORDS]: 0.5, wide[MEANING]: 0.95})
    answer(home, owner, project, FEWEST_ANSWERED)
    assert worker.look()
    assert latest(home, project).report is not None
    assert settings_of(home, project)["features"] == WORDS
    assert adoptions(home, project) == ()
    with opened(home, owner, project) as learner:
        assert learner.settings.features_in_force == WORDS


def test_owner_changes_features(home: Home, owner: int) -> None:
    project = project_of(home, owner, model="plknn")
    seat = Seat(home, owner, project)
    managing.change_learner(seat, features=MEANING)
    with opened(home, owner, project) as learner:
        assert learner.graph is not None
        by_meaning = learner.graph.neighbors.copy()
    managing.change_learner(seat, features=WORDS)
    with opened(home, owner, project) as learner:
        assert learner.graph is not None
        assert (learner.graph.neighbors != by_meaning).any(), "neighbours stored for other features are not used"


@pytest.mark.parametrize(
    ("in_force", "accuracy", "words"),
    [
        (
            MEANING,
            {BOTH: 0.7, WORDS: 0.6, MEANING: 0.834},
            "Meaning: 83% of 46 answered rows where built-in features had 60%.",
        ),
        (
            BOTH,
            {BOTH: 0.7, WORDS: 0.6, MEANING: 0.8},
            "Meaning with built-in features: 70% of 46 answered rows where built-in features had 60%.",
        ),
        (WORDS, {BOTH: 0.7, WORDS: 0.6, MEANING: 0.8}, None),
        (BOTH, {BOTH: 0.6, WORDS: 0.6, MEANING: 0.8}, None),
        (BOTH, {WORDS: 0.6}, None),
    ],
)
def test_gain_of_features_is_described(in_force: str, accuracy: dict[str, float], words: str | None) -> None:
    assert gain_words(FeatureComparison(accuracy, "kernelridge", 46), in_force) == words
