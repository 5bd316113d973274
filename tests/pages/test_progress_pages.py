"""Progress and Map as their scripts draw them."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from db import projects, trained
from pages.parts import charts, map_chart, progress_parts
from pages.parts.one_label import progress as progress_part
from plcore import LearnerSettings
from plcore.kernel.file_scores import ScorePool, ScoreRule
from plcore.loop.one_label.file_scores import FileScores
from plcore.loop.stopping import StopRules
from tests.pages.conftest import Open, by_label, press, what_is_left, words
from tests.workflow.kinds.one_label.test_progress import answer_truly, table_of
from tests.workflow.world import annotator, answer_next, small_project
from workflow import demos
from workflow.answering import loop, oracle
from workflow.kinds import FindingNeighbors
from workflow.kinds.one_label import build
from workflow.kinds.one_label.progress import ProgressView
from workflow.models import leases, neighbors, training
from workflow.models.neighbors import NeighborWorker
from workflow.models.random_order import RandomOrderWorker
from workflow.projects import managing, progress, standing
from workflow.rows import reviewing
from workflow.seat import Seat
from workflow.server.home import Home


def open_more_figures(test: AppTest, project: int) -> None:
    test.session_state[f"more-figures-{project}"] = True
    test.run()
    assert not test.exception


def metrics(test: AppTest) -> dict[str, str]:
    return {one.label: one.value for one in test.metric}


def test_truth_and_controls_are_both_shown(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, control_share=0.5)
    answer_truly(home, owner, project, 60)
    test = show(owner, "progress.py", project=str(project))
    assert metrics(test)["Accuracy"].endswith("%")
    assert metrics(test)["By controls"].endswith("%")
    assert "answered blind checks" in words(test)
    assert len(test.get("plotly_chart")) == 1, "the curve waits for no other chart"
    open_more_figures(test, project)
    assert len(test.get("plotly_chart")) == 5
    assert len(test.get("download_button")) == 5


def test_accuracy_comes_from_controls_without_truth(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, control_share=0.5, test_share=0.0)
    answer_truly(home, owner, project, 60)
    shown = metrics(show(owner, "progress.py", project=str(project)))
    assert shown["Accuracy"].endswith("%")
    assert "By controls" not in shown


def test_figure_from_too_few_rows_is_hidden(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, control_share=0.9, test_share=0.05)
    for answers in (0, 1):
        answer_truly(home, owner, project, answers)
    test = show(owner, "progress.py", project=str(project))
    assert not {"Accuracy", "By controls"} & set(metrics(test))
    said = words(test)
    assert "too few rows to measure: 3 of 10" in said
    assert "too few answered blind checks to measure: 1 of 10" in said
    assert "Measured on 1 answered blind check and" in said


def test_home_annotate_and_progress_show_same_numbers(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    question = loop.next_question(Seat(home, owner, project))
    assert question is not None
    answer_truly(home, owner, project, 3)
    opened = reviewing.open_row(Seat(home, owner, project), question.view.row)
    two = list(opened.imported[:2])
    reviewing.correct(Seat(home, owner, project), question.view.row, opened.token, "among", two)
    now = standing.standing(Seat(home, owner, project))
    assert (now.answered, now.left) == (2, managing.get_project(Seat(home, owner, project)).n_to_ask - 2)
    assert what_is_left(show(owner, "progress.py", project=str(project))) == f"answered 2, open {now.left}"
    page = show(owner, "home.py", project=str(project))
    assert f"2 of {2 + now.left} answered" in words(page)
    assert {demo.title for demo in demos.ALL} <= {one.label for one in page.button}, "demos stay with own projects"


def test_progress_shows_sure_and_excluded_rows_and_weakest_classes(home: Home, owner: int, show: Open) -> None:
    apart = managing.create_project(Seat(home, owner), "apart", table_of("apart"), LearnerSettings(n_neighbors=4))
    asked = loop.next_question(Seat(home, owner, apart))
    assert asked is not None
    loop.submit_answer(Seat(home, owner, apart), asked.token, "bad")
    now = progress.read_progress(Seat(home, owner, apart))
    assert what_is_left(show(owner, "progress.py", project=str(apart))) == (
        f"answered 0, open, but sure without asking {now.sure}, open {now.left - now.sure}, excluded as bad items 1"
    )
    alike = managing.create_project(Seat(home, owner), "alike", table_of("like ants"), LearnerSettings(n_neighbors=4))
    test = show(owner, "progress.py", project=str(alike))
    weakest = progress.read_progress(Seat(home, owner, alike)).weakest
    assert "Where it is weakest" in words(test)
    assert [one.proto.alt for one in test.get("plotly_chart")][-1].startswith(
        f"Classes predicted worst: {weakest[0].label} {100 * weakest[0].share:.0f}%"
    )


def test_progress_shows_disputed_rows_and_those_that_wait_for_others(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, overlap=2, fold="majority", test_share=0.0)
    ada, ben = (Seat(home, annotator(home, owner, name), project) for name in ("Ada", "Ben"))
    left = managing.get_project(ada).n_to_ask
    for seat, answers in ((ada, (0, 0, 0)), (ben, (0, 1))):  # agreed on the first, not on the second
        for choice in answers:
            question = loop.next_question(seat)
            assert question is not None
            loop.submit_answer(seat, question.token, "is", [sorted(question.choices)[choice]])
    assert what_is_left(show(owner, "progress.py", project=str(project))) == (
        f"answered 1, disputed 1, waiting for another annotator 1, open {left - 3}"
    )


@pytest.mark.parametrize(("role", "leads"), [("annotator", True), ("viewer", False)])
def test_progress_leads_on_to_next_question(home: Home, owner: int, show: Open, role: str, leads: bool) -> None:
    project, number = small_project(home, owner), annotator(home, owner, "Ada", role)
    test = show(number, "progress.py", project=str(project))
    assert ("Start answering" in {one.label for one in test.button}) is leads
    if leads:
        answer_next(home, number, project)
        assert "Continue answering" in {one.label for one in test.run().button}


def test_setting_goal_keeps_other_stop_rules(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    progress.change_stop_rules(Seat(home, owner, project), StopRules(budget=7))
    answer_truly(home, owner, project, 6)
    test = show(owner, "progress.py", project=str(project))
    test.number_input(key=f"goal-{project}").set_value(99.0)
    press(test, "Set the goal")
    assert progress.stop_view(Seat(home, owner, project)).rules == StopRules(budget=7, goal=0.99)
    assert "**Goal 99%.** It is too early for an estimate." in words(test)
    press(test, "Save")
    assert progress.stop_view(Seat(home, owner, project)).rules.goal == 0.99, "the panel leaves it alone"
    press(test, "No goal")
    assert progress.stop_view(Seat(home, owner, project)).rules.goal is None
    ada = annotator(home, owner, "ada")
    buttons = show(ada, "progress.py", project=str(project)).button
    assert not {"Set the goal", "Estimate now"} & {one.label for one in buttons}


def test_random_order_is_shown_after_its_estimate(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, test_share=0.5)
    answer_truly(home, owner, project, 12)
    test = show(owner, "progress.py", project=str(project))
    assert "Not known yet. It is estimated after the first 20 answers." in words(test)
    press(test, "Estimate now")
    assert "Winnow is estimating" in words(test)
    RandomOrderWorker(home, "test").look()
    test = show(owner, "progress.py", project=str(project))
    assert "here it took 12." in words(test)
    assert "random order, estimated" in test.get("plotly_chart")[0].proto.spec
    assert "Re-estimate" in {one.label for one in test.button}


def test_without_truth_and_controls_accuracy_is_unknown(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, test_share=0.0)
    answer_truly(home, owner, project, 3)
    test = show(owner, "progress.py", project=str(project))
    assert metrics(test)["Accuracy"] == "unknown"
    assert "No accuracy curve yet" in words(test)


def test_project_waiting_for_neighbours_shows_progress(
    home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "graph_takes_long", lambda _pool: True)
    project = small_project(home, owner, control_share=0.3)

    def said() -> list[str]:
        return [bar.proto.text for bar in show(owner, "progress.py", project=str(project)).get("progress")]

    assert said() == ["Finding neighbours. Until then, questions come at random."]
    assert "Neighbours are still being found." in words(show(owner, "progress.py", project=str(project)))
    with home.database.read() as session:
        stored = projects.get(session, project)
    settings = LearnerSettings.from_json(stored.settings)
    build.note_finding(home, stored.table_hash, settings, FindingNeighbors(0.4, 90.0))
    assert said() == ["Finding neighbours: 40%, about 2 minutes left. Until then, questions come at random."]
    with leases.hold(home, project, "one", stored.table_hash, neighbors.TASK) as lease:
        assert lease is not None
        lease.fault = "No space left"
    test = show(owner, "progress.py", project=str(project))
    assert "The neighbours could not be found: No space left Until then" in words(test)
    NeighborWorker(home, "test").find_neighbors()
    assert said() == []


def test_untrained_model_shows_unknown_accuracy(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, control_share=0.3, model="clpl", strategy="margin")
    test = show(owner, "progress.py", project=str(project))
    assert metrics(test)["Accuracy"] == "unknown"
    assert "waits for its first training" in words(test)
    (due,) = training.due(home)
    training.Worker(home, "test").train(due)
    test = show(owner, "progress.py", project=str(project))
    assert metrics(test)["Accuracy"].endswith("%")
    assert "waits for its first" not in words(test)


def test_progress_says_when_measuring_of_changed_model_began(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    answer_truly(home, owner, project, 6)
    assert "Measured since" not in words(show(owner, "progress.py", project=str(project)))
    managing.change_learner(Seat(home, owner, project), model="plsvc", strategy="margin")
    (due,) = training.due(home)
    training.Worker(home, "test").train(due)
    said = words(show(owner, "progress.py", project=str(project)))
    assert "Measured since the model was changed or first trained, after 6 answers." in said


def test_failed_training_is_explained(home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    project = small_project(home, owner, model="clpl", strategy="margin")
    monkeypatch.setattr(
        training, "training_state", lambda *_: training.TrainingState(False, "Only *one* class is left.")
    )
    said = words(show(owner, "progress.py", project=str(project)))
    assert "could not be trained: Only \\*one\\* class is left\\." in said


def test_paused_training_says_when_it_is_retried(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, model="clpl", strategy="margin")
    (due,) = training.due(home)
    now = datetime.now(UTC)
    with home.database.write() as session:
        trained.take_lease(session, project, "killed", due.key, now, now)
        trained.end_lease(session, project, "killed", now, leases.KILLED, leases.MOST_DEATHS)
    said = words(show(owner, "progress.py", project=str(project))).replace("\\", "")
    assert "could not be trained: The training was ended from outside twice" in said
    assert "next tried in an hour" in said
    assert "after the next answers" not in said


def test_stop_panel_shows_state_of_each_rule(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    progress.change_stop_rules(Seat(home, owner, project), StopRules(budget=4))
    answer_truly(home, owner, project, 3)
    test = show(owner, "progress.py", project=str(project))
    assert "3 of 4 answers are given." in words(test)
    assert not test.success
    answer_truly(home, owner, project, 1)
    (said,) = show(owner, "progress.py", project=str(project)).success
    assert said.value.startswith("Time to stop: ")


def test_owner_changes_stop_rules_on_progress(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    test = show(owner, "progress.py", project=str(project))
    at = f"stop-{project}"
    test.toggle(key=f"{at}-budget").set_value(True)
    test.number_input(key=f"{at}-answers").set_value(12)
    test.toggle(key=f"{at}-flat").set_value(False)
    test.number_input(key=f"{at}-share").set_value(95.0)
    press(test, "Save")
    assert progress.stop_view(Seat(home, owner, project)).rules == StopRules(settled=0.95, flat_within=None, budget=12)


def test_annotator_sees_panel_but_not_its_rules(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    test = show(annotator(home, owner, "Ada"), "progress.py", project=str(project))
    assert "When to stop" in words(test)
    assert not test.toggle
    assert not test.number_input


def test_map_shows_every_row(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    answer_truly(home, owner, project, 3)
    test = show(annotator(home, owner, "Ada"), "map_page.py", project=str(project))
    assert len(test.get("plotly_chart")) == 1
    assert "principal components" in words(test)


def test_downloaded_chart_data_leaves_unknown_values_empty() -> None:
    data = charts.to_csv({"answers": np.array([0, 1]), "share": np.array([np.nan, 0.5]), "name": ["a,b", 'c"']})
    lines = list(csv.reader(io.StringIO(data.decode())))
    assert lines == [["answers", "share", "name"], ["0", "", "a,b"], ["1", "0.5", 'c"']]


def test_long_curve_is_thinned_and_keeps_its_ends() -> None:
    n = 50_000
    figure = charts.share_curve(np.arange(n), np.linspace(0, 1, n))
    x = np.asarray(figure.data[0].x)
    assert len(x) == charts.MOST_POINTS
    assert (x[0], x[-1]) == (0, n - 1)


def test_versions_are_marked_and_named() -> None:
    answers, value = np.array([0, 5, 9]), np.array([np.nan, 0.5, 0.6])
    curve = charts.Honest("held out", value, value - 0.1, value + 0.1)
    figure = charts.accuracy_curve(answers, [curve], np.array([0, 7, 12]), mark_versions=True)
    assert [one.text for one in figure.layout.annotations] == ["v12", "v7", "v0"]
    assert figure.data[-1].mode == "lines+markers"
    assert list(figure.data[-1].x) == [5, 9]
    assert not charts.accuracy_curve(answers, [curve], answers, mark_versions=False).layout.annotations
    many = np.arange(100)
    curve = charts.Honest("held out", many / 100, many / 100, many / 100)
    figure = charts.accuracy_curve(many, [curve], many, mark_versions=True)
    assert [one.text for one in figure.layout.annotations][:2] == ["v99", "v86"]
    assert len(figure.layout.annotations) == charts.NAMED_VERSIONS
    assert len(figure.data[-1].x) == 100


def test_labels_in_charts_are_not_html() -> None:
    figure = charts.label_bars(["<a href='x'>b</a>"], [1], [0])
    assert figure.data[0].y == ("&lt;a href='x'&gt;b&lt;/a&gt;",)
    figure = map_chart.instance_map(
        np.zeros((1, 2)), map_chart.by_state(["open"]), ["<b>r</b>"], ["<i>"], np.array([7])
    )
    assert figure.data[0].customdata.tolist() == [["&lt;b&gt;r&lt;/b&gt;", "&lt;i&gt;", 7]]
    figure = charts.confusion_map(["<b>", "c"], np.array([[3, 0], [0, 1]]))
    assert figure.data[0].x == ("&lt;b&gt;", "c")
    assert figure.data[0].text.tolist() == [["3", ""], ["", "1"]]


def test_chart_shows_limited_number_of_labels() -> None:
    names = [f"c{k}" for k in range(1000)]
    assert len(charts.label_bars(names, [1] * 1000, [0] * 1000).data[0].y) == charts.MOST_LABELS
    assert charts.confusion_map(names, np.eye(1000, dtype=int)).data[0].z.shape == (30, 30)


def test_chart_of_one_point_has_interval_and_sensible_axes() -> None:
    answers, value = np.array([2]), np.array([0.8])
    line = charts.Honest("on held-out rows", value, value - 0.2, value + 0.1)
    for figure in (
        charts.accuracy_curve(answers, [line], answers, mark_versions=True),
        charts.share_curves(answers, [line]),
    ):
        bar = figure.data[-1].error_y
        assert (bar.array, bar.arrayminus) == (pytest.approx([10]), pytest.approx([20])), "in per cent"
        assert (figure.layout.yaxis.minallowed, figure.layout.yaxis.maxallowed) == (0, 100)
        assert (figure.layout.xaxis.dtick, figure.layout.xaxis.tickformat) == (1, ",d")
    two = np.array([0.8, 0.9])
    line = charts.Honest("on held-out rows", two, two - 0.2, two + 0.1)
    figure = charts.accuracy_curve(np.array([2, 40]), [line], np.array([2, 40]), mark_versions=False)
    assert figure.data[-1].error_y.array is None, "there is a band"
    assert figure.layout.xaxis.dtick is None
    figure = charts.count_curve(np.array([0, 1]), np.array([3, 2]))
    assert (figure.layout.yaxis.dtick, figure.layout.yaxis.maxallowed) == (1, None)


def test_legends_are_below_plot() -> None:
    one = charts.Honest("a", np.array([0.5]), np.array([0.4]), np.array([0.6]))
    for figure in (
        charts.accuracy_curve(np.array([0]), [one, one], np.array([0]), mark_versions=False),
        charts.share_curves(np.array([0]), [one]),
        charts.label_bars(["a"], [1], [0]),
        map_chart.instance_map(np.zeros((1, 2)), map_chart.by_state(["open"]), ["r"], ["a"], np.array([0])),
    ):
        assert figure.layout.legend.y < 0
        assert figure.layout.legend.yanchor == "top"


def test_dry_run_is_offered_to_owner_only(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    page = show(owner, "progress.py", project=str(project))
    (button,) = [one for one in page.button if one.label == "Let them answer 50"]
    assert not button.help
    drawn: list[int] = []
    read = progress.read_progress

    def seen(seat: Seat) -> ProgressView:
        drawn.append((view := read(seat)).answered)
        return view

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress_part, "read_progress", seen)
        patch.setattr(progress_parts, "PAUSE", 0)
        button.click().run()
    assert not page.exception
    left = progress.read_progress(Seat(home, owner, project)).left
    answered = managing.get_project(Seat(home, owner, project)).answered
    assert drawn == [*range(0, answered, 5), answered], "the page is redrawn every few answers"
    assert left == 0
    assert not page.get("progress")
    assert words(page).count("A dry run") == 1
    ann = annotator(home, owner, "ann")
    assert not [one for one in show(ann, "progress.py", project=str(project)).button if "answer" in one.label]


def test_dry_run_continues_only_while_page_is_open(
    home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = small_project(home, owner)
    page = show(owner, "progress.py", project=str(project))
    assert "A dry run" in words(page), "it asks before it begins"
    asked: list[int] = []

    def answer(seat: Seat, n: int) -> int:
        asked.append(n)
        if len(asked) == 3:
            raise loop.StaleQuestion("Another tab.")
        return n

    monkeypatch.setattr(oracle, "answer_for_me", answer)
    monkeypatch.setattr(progress_parts, "PAUSE", 0)
    (button,) = [one for one in page.button if one.label == "Let them answer 50"]
    button.click().run()
    assert asked == [5, 5, 5], "it stops where it is refused"
    (button,) = [one for one in page.button if one.label == "Let them answer 50"]
    assert not button.disabled
    page.switch_page("home.py").run()
    page.session_state["winnow_played"] = 10  # left while it played
    page.switch_page("progress.py").run()
    assert asked == [5, 5, 5]
    button = by_label(page.button, "Let them answer 50")
    assert not button.disabled
    button.click().run()
    assert asked == [5] * 13, "all fifty, from the start"


def test_dry_run_is_stopped_by_button(home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    page = show(owner, "progress.py", project=str(small_project(home, owner)))
    monkeypatch.setattr(progress_parts, "play", lambda _page: None)  # between two drawings of it
    (button,) = [one for one in page.button if one.label == "Let them answer 50"]
    button.click().run()
    assert not [one for one in page.button if "them answer" in one.label]
    page.session_state["winnow_played"] = 15
    (stop,) = [one for one in page.button if one.label == "Stop"]
    stop.click().run()
    assert [one.value for one in page.toast] == ["Stopped\\: 15 questions answered with the hidden truth"]
    assert "winnow_played" not in page.session_state
    assert [one for one in page.button if one.label == "Let them answer 50"]
    assert not [one for one in page.button if one.label == "Stop"]


def test_online_model_shows_its_errors_while_learning(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, model="perceptron-max", strategy="margin")
    answer_truly(home, owner, project, 6)
    page = show(owner, "progress.py", project=project)
    open_more_figures(page, project)
    assert "###### Errors while learning" in [one.value for one in page.markdown]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (
            FileScores(ScoreRule.POOL, ScorePool(1.0, 1.0, 9.0, 50, 0.97, True), 4, {}),
            "Estimated accuracy of the scores: 97%. Labels come from the model and the scores, "
            "weighted by how well they agree. After 6 more blind checks, the checks decide.",
        ),
        (
            FileScores(
                ScoreRule.SCORES,
                ScorePool(1.0, 1.0, 9.0, 50),
                20,
                {ScoreRule.ROUNDS: 14, ScoreRule.POOL: 17, ScoreRule.SCORES: 20},
            ),
            "Of 20 blind checks, the scores alone are right in 20, the model that learns from them in 14, both "
            "weighted in 17. Labels come from the scores alone.",
        ),
    ],
)
def test_progress_compares_file_scores_with_model(
    monkeypatch: pytest.MonkeyPatch, found: FileScores, expected: str
) -> None:
    said: list[str] = []
    monkeypatch.setattr(progress_part.st, "markdown", lambda _: None)
    monkeypatch.setattr(progress_part.st, "caption", said.append)
    progress_part._file_scores(cast("ProgressView", SimpleNamespace(file_scores=found)))
    progress_part._file_scores(cast("ProgressView", SimpleNamespace(file_scores=None)))
    assert said == [expected]
