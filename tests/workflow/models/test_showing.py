"""The models of a project as pages show them."""

from __future__ import annotations

import pytest

from plcore.evaluation import exact_interval
from plcore.loop import MODEL_ENTRIES
from tests.workflow.compared import Findings, findings
from tests.workflow.kinds.one_label.test_progress import answer_truly
from tests.workflow.vector_world import vector_project
from tests.workflow.world import annotator, small_project
from workflow.access import NotAllowed
from workflow.models import choosing, showing
from workflow.models.comparing import ComparingWorker
from workflow.seat import Seat
from workflow.server.home import Home

__all__ = ["findings"]


def test_before_the_first_comparison_there_are_no_figures(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner, model="automatic"))
    view = showing.models_view(seat)
    assert [line.name for line in view.lines] == list(MODEL_ENTRIES)
    assert all(line.figures.kappa is None and not line.best for line in view.lines)
    assert [line.name for line in view.lines if line.in_force] == ["plknn"]
    assert (view.done, view.running, view.failed, view.cancelled) == (None, None, None, False)
    assert (view.story.automatic, view.story.model, view.story.adoptions) == (True, "plknn", ())


def test_the_best_comes_first_and_those_not_measured_last(home: Home, owner: int, findings: Findings) -> None:
    findings.kappas = {"plsvc": 0.7, "plknn": 0.5, "clpl": 0.71}
    seat = Seat(home, owner, small_project(home, owner, model="automatic"))
    ComparingWorker(home, "one").look()
    view = showing.models_view(seat)
    names = [line.name for line in view.lines]
    assert names[:3] == ["plsvc", "clpl", "plknn"]
    assert sorted(names) == sorted(MODEL_ENTRIES)
    first = view.lines[0]
    assert first.best
    assert first.in_force
    assert (first.figures.kappa, first.interval, first.figures.seconds) == (0.7, None, 0.25)
    assert view.done is not None
    assert (view.done.rows, view.done.checks, view.done.answers, view.done.fault) == (40, 0, 0, None)


def test_accuracy_by_blind_checks_has_its_interval(home: Home, owner: int, findings: Findings) -> None:
    project = small_project(home, owner, model="automatic", control_share=0.5, test_share=0.0)
    answer_truly(home, owner, project, 45)
    findings.accuracies = {"clpl": 0.75}
    ComparingWorker(home, "one").look()
    view = showing.models_view(Seat(home, owner, project))
    assert view.done is not None
    n = view.done.checks
    assert n >= 10
    low, high = exact_interval(round(0.75 * n), n)
    assert view.lines[0].interval == (float(low), float(high))
    assert view.lines[-1].interval is None


def test_checks_flatter_what_they_chose_whoever_took_it(home: Home, owner: int, findings: Findings) -> None:
    project = small_project(home, owner, model="plknn", control_share=0.5, test_share=0.0)
    seat, worker = Seat(home, owner, project), ComparingWorker(home, "one")
    answer_truly(home, owner, project, 45)
    assert not showing.model_story(seat).by_checks
    choosing.compare_now(seat)
    worker.look()
    assert not showing.model_story(seat).by_checks, "nobody has chosen by them"
    choosing.adopt(seat, "clpl")
    assert showing.model_story(seat).by_checks, "by a person who has seen the figures"

    stays = small_project(home, owner, "stays", model="automatic", control_share=0.5, test_share=0.0)
    answer_truly(home, owner, stays, 45)
    findings.kappas = {"plknn": 0.8, "clpl": 0.5}
    worker.look()
    story = showing.model_story(Seat(home, owner, stays))
    assert (story.adoptions, story.by_checks) == ((), True), "the one in force was chosen to stay"


def test_the_page_has_news_when_a_comparison_or_the_settings_change(
    home: Home, owner: int, findings: Findings
) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    seen = [showing.watched(seat)]
    choosing.compare_now(seat)
    seen.append(showing.watched(seat))
    waiting = showing.running_now(seat)
    assert waiting is not None
    assert (waiting.begun, waiting.total, waiting.fault) == (False, 0, None)
    choosing.cancel(seat)
    seen.append(showing.watched(seat))
    assert showing.models_view(seat).cancelled
    choosing.adopt(seat, "clpl")
    seen.append(showing.watched(seat))
    assert len(set(seen)) == 4
    assert showing.watched(seat) == seen[-1]


def test_annotators_see_what_answers_and_no_comparison(home: Home, owner: int) -> None:
    project = small_project(home, owner, model="automatic")
    ada = Seat(home, annotator(home, owner, "Ada"), project)
    with pytest.raises(NotAllowed):
        showing.models_view(ada)
    assert showing.model_story(ada).automatic


def test_label_vectors_have_nothing_to_choose_from(home: Home, owner: int) -> None:
    view = showing.models_view(Seat(home, owner, vector_project(home, owner)))
    assert view.lines == ()
    assert not view.story.models
    assert not view.story.automatic
