"""Pages of a project of label vectors."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.label_vectors import progress
from pages.parts.label_vectors.card import predicts
from plcore.loop.stopping import StopRules
from tests.pages.conftest import (
    Open,
    by_label,
    history,
    listed,
    listed_problems,
    open_in_list,
    press,
    sent_to,
    what_is_left,
    words,
)
from tests.pages.test_pages import upload
from tests.present import present
from tests.workflow.kinds.label_vectors.test_reviewing import ask, find, open_row, stands
from tests.workflow.vector_world import LABELS, NUMBERS, answer_truly, vector_frame, vector_project
from tests.workflow.world import annotator, opened, small_frame, small_project
from workflow import demos
from workflow.answering import loop
from workflow.kinds.label_vectors.progress import Predictor
from workflow.projects import managing
from workflow.projects import progress as stopping
from workflow.rows import queue, reviewing
from workflow.seat import Seat
from workflow.server.home import Home

# The pages of a project of label vectors, as their scripts draw them; and the file that makes one


def csv_of(**changes: str) -> bytes:
    """`vector_frame` as a file, with cells of its third row changed."""
    frame = vector_frame()
    for name, cell in changes.items():
        frame.loc[2, name] = cell
    return frame.to_csv(index=False).encode()


def create(test: AppTest) -> None:
    press(test, "Create project")


@pytest.mark.parametrize("question", ["instance", "cell", "diagnosis"])
def test_annotate_draws_question(home: Home, owner: int, show: Open, question: str) -> None:
    project = vector_project(home, owner, question=question)
    answer_truly(home, owner, project)
    test = show(owner, "annotate.py", project=str(project))
    assert not test.error
    asked = present(loop.next_question(Seat(home, owner, project)))
    assert (asked.label is None) == (question == "instance")


def test_progress_shows_figures_and_kinds_of_answers(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner, question="cell", control_share=0.2, test_share=0.9)
    first = words(show(owner, "progress.py", project=str(project)))
    assert "begin with the first answer" in first
    for _ in range(8):
        answer_truly(home, owner, project)
    home.shelf.settle(project)
    test = show(owner, "progress.py", project=str(project))
    first = [one.label for one in test.metric]
    for name in ("Precision at 1", "Precision at 3", "Precision at 5", "F1, micro", "F1, macro"):
        assert name in first
    assert "Entropy left" not in first, "the first line is what tells when to stop"
    assert any("Predictions come from **" in one.value and "It says yes above" in one.value for one in test.markdown)
    test.session_state[f"more-figures-{project}"] = True
    kinds = test.run().dataframe[-1].value
    assert {"Known", "Entropy left"} <= {one.label for one in test.metric}
    assert kinds.Count.sum() == 8
    assert len(test.get("plotly_chart")) >= 2


def test_every_figure_of_progress_has_its_interval(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner, question="instance", control_share=0.9, test_share=0.9)
    for _ in range(20):
        answer_truly(home, owner, project)
    home.shelf.settle(project)
    test = show(owner, "progress.py", project=str(project))
    honest = [one for one in test.metric if one.label.startswith(("Precision", "F1"))]
    assert len(honest) >= 5
    assert all(" to " in one.delta for one in honest)
    controls = next(one.value for one in test.dataframe if "Figure" in one.value)
    assert {"Precision at 1", "Precision at 3", "F1"} <= set(controls.Figure)
    assert (controls["95%, from"] < controls["to"]).all()


def test_figure_from_too_few_labels_is_hidden(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner, question="cell", control_share=0.9, test_share=0.1)
    answer_truly(home, owner, project)
    home.shelf.settle(project)
    answer_truly(home, owner, project)
    test = show(owner, "progress.py", project=str(project))
    assert not [one for one in test.metric if one.label.startswith(("Precision", "F1"))]
    said = words(test)
    assert "too few rows to measure: 1 of 10" in said
    assert "On 1 row whose labels" in said
    for _ in range(20):
        answer_truly(home, owner, project)
    home.shelf.settle(project)
    said = words(show(owner, "progress.py", project=str(project)))
    assert "too few answered blind checks" not in said
    assert "F1 on blind checks" in said


def test_progress_says_when_measuring_of_changed_model_began(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner, question="cell")
    for _ in range(3):
        answer_truly(home, owner, project)
    home.shelf.settle(project)
    assert "Measured since" not in words(show(owner, "progress.py", project=str(project)))
    managing.change_learner(Seat(home, owner, project), n_components=0.9)
    with opened(home, owner, project):
        pass
    home.shelf.settle(project)
    said = words(show(owner, "progress.py", project=str(project)))
    assert "Measured since the model was changed or first trained, after 3 answers." in said


def test_stop_rules_count_labels(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner, question="cell")
    test = show(owner, "progress.py", project=str(project))
    assert "empty labels are known or sure" in words(test)
    by_label(test.toggle, "Budget").set_value(True)
    by_label(test.number_input, "Labels answered in all").set_value(2)
    press(test, "Save")
    assert stopping.stop_view(Seat(home, owner, project)).rules == StopRules(flat_within=None, budget=2)
    for _ in range(2):
        answer_truly(home, owner, project)
    (said,) = show(owner, "progress.py", project=str(project)).success
    assert said.value.startswith("Time to stop: 2 of 2 labels are answered.")


def test_stop_rules_are_saved_after_retraining(
    home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = vector_project(home, owner, question="cell")
    test = show(owner, "progress.py", project=str(project))
    home.shelf.settle(project)
    by_label(test.toggle, "Budget").set_value(True)
    seen = iter([(0, 0, None)])  # when the drawing begins; then the model has moved on, and it begins again
    monkeypatch.setattr(progress, "watched", lambda *_: next(seen, (0, 1, None)))
    press(test, "Save")
    assert next(seen, None) is None
    assert stopping.stop_view(Seat(home, owner, project)).rules.budget is not None


def test_queue_with_blind_checks_is_closed_to_annotators(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner, question="cell", control_share=0.2)
    test = show(annotator(home, owner, "Ada"), "queue_page.py", project=str(project))
    assert "the queue is for the owner" in words(test)
    assert "open Answer" in words(test), "the next step"
    assert sent_to(test, "winnow_row_list") == []
    assert len(listed(show(owner, "queue_page.py", project=str(project))))


@pytest.mark.parametrize("question", ["instance", "cell"])
def test_queue_begins_with_next_question(home: Home, owner: int, show: Open, question: str) -> None:
    project = vector_project(home, owner, question=question)
    loop.next_question(Seat(home, owner, project))
    home.shelf.settle(project)
    asked = loop.next_question(Seat(home, owner, project))
    again = loop.next_question(Seat(home, annotator(home, owner, "Ada"), project))
    assert asked is not None
    assert again is not None
    test = show(owner, "queue_page.py", project=str(project))
    table = listed(test)
    assert list(table["#"]) == list(range(1, len(table) + 1))
    view = queue.list_queue(Seat(home, owner, project))
    scores = {one.row_id: one.score for one in view.rows}
    assert [scores[name] for name in table.Row] == sorted(scores.values(), reverse=True)
    rows = table.Row.tolist()
    assert again.view.row_id in rows[:2], "someone else has the first"
    if question == "cell":
        assert {label for ((label, _),) in table["Most useful label"]} <= set(LABELS)
    test.text_input[0].set_value("no such thing").run()
    assert "No open row matches" in words(test)


def test_home_counts_cells_and_continues(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner)
    answer_truly(home, owner, project)
    test = show(owner)
    left = managing.get_project(Seat(home, owner, project)).left
    assert f"1 of {left + 1} answered" in words(test)
    assert what_is_left(show(owner, "progress.py", project=str(project))) == f"answered 1, open {left}"
    assert [button.label for button in test.button] == ["Import data", "Continue", *(demo.title for demo in demos.ALL)]


def test_home_says_when_every_label_is_answered(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner, question="instance")
    asked = loop.next_question(Seat(home, owner, project))
    while asked is not None:
        loop.submit_answer(Seat(home, owner, project), asked.token, "bad")
        asked = loop.next_question(Seat(home, owner, project))
    test = show(owner)
    assert ":green-badge[Every label is known, or its row is excluded]" in words(test)
    assert [one.label for one in test.button] == ["Import data", "Export", *(demo.title for demo in demos.ALL)]


def test_settings_change_what_is_asked(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner, question="cell")
    test = show(owner, "project_page.py", project=str(project))
    boxes = {box.label: box for box in test.selectbox}
    boxes["Question type"].set_value("instance")
    boxes["Question order"].set_value("entropy").run()
    assert not test.exception
    now = managing.learner_settings(Seat(home, owner, project))
    assert (now["question"], now["criterion"], now["kind"]) == ("instance", "entropy", "multilabel")
    assert "stay as the file has them" in words(test)
    question = present(loop.next_question(Seat(home, owner, project)))
    assert question.label is None


def test_annotator_answers_and_sees_progress(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner)
    ada = annotator(home, owner, "Ada")
    for name in ("annotate.py", "progress.py"):
        assert not show(ada, name, project=str(project)).error


def test_projects_of_both_kinds_are_drawn_in_turn(home: Home, owner: int, show: Open) -> None:
    plain, project = small_project(home, owner), vector_project(home, owner)
    for number in (plain, project, plain):
        assert not show(owner, "annotate.py", project=str(number)).error
        assert not show(owner, "progress.py", project=str(number)).error


def test_import_guesses_label_vectors_and_makes_project(home: Home, owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), csv_of(), "scenes.csv")
    assert test.radio[0].value == "vectors"
    figures = {one.label: one.value for one in test.metric}
    assert (figures["Rows"], figures["Labels"], figures["Rows fully known"]) == ("40", "5", "12")
    create(test)
    (made,) = managing.list_projects(Seat(home, owner))
    assert (made.kind == "label_vectors", made.n_classes) == (True, 5)
    settings = managing.learner_settings(Seat(home, owner, made.id))
    assert (settings["question"], settings["test_share"], settings["control_share"]) == ("cell", 1 / 3, 0.08)
    with opened(home, owner, made.id) as learner:
        assert learner.table.roles.numbers == NUMBERS
        assert learner.cells.tolist() == [
            [{"1": 1, "0": 0, "": -1}[cell] for cell in row] for row in vector_frame()[list(LABELS)].to_numpy().tolist()
        ]


def test_import_guesses_candidates_from_candidate_columns(owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), small_frame().to_csv(index=False).encode())
    assert test.radio[0].value == "candidates"
    bits = b"w,ant,bee\n10,1,0\n20,1,1\n30,0,1\n40,1,1\n"
    assert upload(show(owner, "import_table.py"), bits).radio[0].value == "candidates"


def test_guessed_kind_can_be_changed(home: Home, owner: int, show: Open) -> None:
    bits = b"w,ant,bee\n10,1,0\n20,1,1\n30,0,1\n40,1,1\n50,1,0\n"
    test = upload(show(owner, "import_table.py"), bits)
    test.radio[0].set_value("vectors").run()
    assert "Every cell is known already" in words(test)
    create(test)
    (made,) = managing.list_projects(Seat(home, owner))
    assert made.kind == "label_vectors"


def test_import_warns_if_no_label_is_known_wrong(owner: int, show: Open) -> None:
    ones = b"w,ant,bee,cat\n10,1,,\n20,,1,1\n30,1,1,\n40,,,1\n"
    assert "No cell is" in words(upload(show(owner, "import_table.py"), ones))
    assert "No cell is" not in words(upload(show(owner, "import_table.py"), ones + b"50,0,,\n"))


def test_lists_of_right_and_wrong_labels_are_imported(home: Home, owner: int, show: Open) -> None:
    data = b"w,labels,not labels\n10,sea|sand,\n20,sand,rock\n30,,sea\n40,rock,\n"
    test = upload(show(owner, "import_table.py"), data)
    assert test.radio[0].value == "vectors"
    assert test.radio[1].value == "lists"
    create(test)
    (made,) = managing.list_projects(Seat(home, owner))
    with opened(home, owner, made.id) as learner:
        assert learner.classes == ("rock", "sand", "sea")
        assert learner.cells.tolist() == [[-1, 1, 1], [0, 1, -1], [-1, -1, 0], [1, -1, -1]]
    assert managing.learner_settings(Seat(home, owner, made.id))["control_share"] > 0, "nothing can be held out"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"city": "maybe"}, "column 'city': expected 1, 0 or an empty cell, got 'maybe'"),
        ({"city": "2"}, "Row 3 (line 4), column 'city': expected 1, 0 or an empty cell, got '2'"),
        ({"x": "oops"}, "Row 3 (line 4), column 'x'"),
    ],
)
def test_bad_cell_is_reported_with_its_place_and_nothing_is_stored(
    home: Home, owner: int, show: Open, changes: dict[str, str], said: str
) -> None:
    test = upload(show(owner, "import_table.py"), csv_of(**changes))
    assert said in "\n".join(listed_problems(test))
    assert managing.list_projects(Seat(home, owner)) == []
    assert not list(home.tables_dir.iterdir())


# Review and Map of a project of label vectors, as their scripts draw them


SAVE = "Save correction"


def named(test: AppTest, label: str):
    return by_label(test.multiselect, label)


def test_review_finds_answers_and_corrects_label(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner, question="cell")
    assert "No answers yet" in words(show(owner, "review_page.py", project=str(project)))
    ada = annotator(home, owner, "Ada")
    row, labels = open_row(home, owner, project, 3)
    ask(home, ada, project, row, labels[0], "yes")
    ask(home, ada, project, row, labels[1], "no")
    test = show(owner, "review_page.py", project=str(project))
    assert list(listed(test).Answer) == [f"no to {labels[1]}", f"yes to {labels[0]}"]
    assert "2 answers" in words(test)
    by_label(test.selectbox, "Answer").set_value("yes").run()
    assert list(listed(test).Answer) == [f"yes to {labels[0]}"]
    by_label(test.selectbox, "Label").set_value(labels[1]).run()
    assert "No answer matches" in words(test)
    by_label(test.selectbox, "Label").set_value(None).run()
    assert by_label(test.selectbox, "Label").proto.placeholder == "Any label", "and not 'Choose an option'"
    open_in_list(test, project, row)
    assert [one["title"] for one in sent_to(test, "winnow_row_drawer")] == [f"Row r{row}"]
    standing = test.dataframe[-1].value.set_index("Label")
    assert (standing.Now[labels[0]], standing.Now[labels[1]], standing.Now[labels[2]]) == ("yes", "no", "not known")
    assert standing["Said by"][labels[0]] == "Ada"
    assert labels[0] not in named(test, "Is right").options
    assert set(named(test, "Is unknown again").options) == set(labels[:2])
    named(test, "Is right").set_value([labels[1], labels[2]])
    named(test, "Is unknown again").set_value([labels[0]])
    by_label(test.text_input, "Note (optional)").set_value("seen again")
    press(test, SAVE)
    assert not test.error
    now = stands(home, owner, project, row)
    assert [now[label] for label in labels[:3]] == [-1, 1, 1]
    assert [toast.value.replace("\\", "") for toast in test.toast] == [
        f"Saved: row r{row} is right: {labels[1]}, {labels[2]}; is unknown again: {labels[0]}"
    ]
    told = history(test)
    assert [one["Said"] for one in told] == [
        f"yes to {labels[0]} (withdrawn)",
        f"no to {labels[1]}",
        f"withdrew an answer: {labels[0]}",
        f"yes to {labels[1]}, {labels[2]}",
    ]
    assert [one.get("Note", "") for one in told] == ["", "", "seen again", "seen again"]


def test_label_chosen_as_right_and_wrong_is_refused(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner, question="cell")
    row, labels = open_row(home, owner, project, 2)
    ask(home, owner, project, row, labels[0], "unsure")
    test = show(owner, "review_page.py", project=str(project))
    open_in_list(test, project, row)
    named(test, "Is right").set_value([labels[1]])
    named(test, "Is wrong").set_value([labels[1]])
    press(test, SAVE)
    assert f"{labels[1]} is in two boxes" in words(test)
    assert named(test, "Is right").value == [labels[1]]
    assert stands(home, owner, project, row)[labels[1]] == -1
    named(test, "Is wrong").set_value([])
    press(test, SAVE)
    assert not test.error
    assert stands(home, owner, project, row)[labels[1]] == 1


def test_correction_of_row_changed_meanwhile_is_refused(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner, question="cell")
    ada = annotator(home, owner, "Ada")
    row, labels = open_row(home, owner, project, 2)
    ask(home, ada, project, row, labels[0], "yes")
    test = show(owner, "review_page.py", project=str(project))
    open_in_list(test, project, row)
    named(test, "Is wrong").set_value([labels[0]])
    ask(home, ada, project, row, labels[1], "yes")
    press(test, SAVE)
    assert "have changed since you opened it" in words(test)
    assert stands(home, owner, project, row)[labels[0]] == 1
    named(test, "Is wrong").set_value([labels[0]])
    press(test, SAVE)
    assert not test.error
    assert stands(home, owner, project, row)[labels[0]] == 0


def test_bad_item_is_excluded_and_restored(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner, question="instance")
    row = answer_truly(home, owner, project).row
    test = show(owner, "review_page.py", project=str(project))
    open_in_list(test, project, row)
    by_label(test.radio, "Correct answer").set_value("bad").run()
    assert not test.multiselect
    press(test, SAVE)
    assert find(home, owner, project) == [(row, "bad", ())]
    assert "Bad item, excluded." in words(test)
    assert "the current ones in your name: it brings the row back." in words(test)
    press(test, SAVE)
    assert not reviewing.open_row(Seat(home, owner, project), row).out
    assert "Bad item, excluded." not in words(test)


def test_annotators_review_shows_their_own_answers(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner, question="cell")
    ada = annotator(home, owner, "Ada")
    row, labels = open_row(home, owner, project, 2)
    ask(home, owner, project, row, labels[0], "yes")
    assert "You have not answered" in words(show(ada, "review_page.py", project=str(project)))
    ask(home, ada, project, row, labels[1], "yes")
    test = show(ada, "review_page.py", project=str(project))
    assert list(listed(test).Annotator) == ["Ada"]
    assert not [one for one in test.selectbox if one.label == "Annotator"]
    open_in_list(test, project, row)
    assert set(named(test, "Is unknown again").options) == {labels[1]}
    assert {one["Annotator"] for one in history(test)} == {"Ada"}


@pytest.mark.parametrize("question", ["instance", "cell"])
def test_map_counts_rows_by_state(home: Home, owner: int, show: Open, question: str) -> None:
    project = vector_project(home, owner, question=question)
    answer_truly(home, owner, project)
    test = show(owner, "map_page.py", project=str(project))
    by_label(test.radio, "Colour by").set_value("State").run()
    assert len(test.get("plotly_chart")) == 1
    assert "Open rows have labels left to ask" in words(test)
    other = show(owner, "map_page.py", project=str(small_project(home, owner)))
    by_label(other.radio, "Colour by").set_value("State").run()
    assert "have one label" in words(other)


# Which model predicts, and why, in words


AHEAD = Predictor(
    title="One-vs-all", other="BML-CS", since=60, automatic=True, f1=0.581, other_f1=0.52, error=0.012, threshold=0.31
)


def test_predicting_model_is_named_with_its_lead() -> None:
    assert predicts(AHEAD) == (
        "Predictions come from **One-vs-all**, since answer 60. Its F1 on known labels held out from it is 58.1%. "
        "BML-CS has 52.0%, 6.1 points less (standard error 1.2). It says yes above a probability of 31%."
    )


def test_predicting_model_from_start_has_no_since() -> None:
    assert predicts(replace(AHEAD, since=0)).startswith("Predictions come from **One-vs-all**. Its F1")


@pytest.mark.parametrize(("f1", "how"), [(0.6, ", 8.0 points less"), (0.51, "; the difference is within chance")])
def test_lead_within_chance_is_reported(f1: float, how: str) -> None:
    said = predicts(replace(AHEAD, title="BML-CS", other="One-vs-all", f1=f1, other_f1=0.52, since=0))
    assert f"One-vs-all has 52.0%{how} (standard error 1.2)." in said


def test_model_without_comparison_says_why() -> None:
    unknown = replace(AHEAD, title="BML-CS", other="One-vs-all", f1=None, other_f1=None, error=None, since=0)
    assert predicts(unknown) == (
        "Predictions come from **BML-CS**. Too few known labels are yes to compare it with One-vs-all. "
        "It says yes above a probability of 31%."
    )
    assert predicts(replace(unknown, automatic=False)).startswith(
        "Predictions come from **BML-CS**. It is set in Project settings. It says yes"
    )
