"""The pages as their script draws them: what each role sees, bad files, empty states."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import state
from pages.parts.rows import row_lists
from tests.pages.conftest import Open, by_label, listed, listed_problems, press, words
from tests.pages.file_boxes import boxes, give
from tests.workflow.world import annotator, answer_next, small_frame, small_project, somebody
from workflow import demos
from workflow.answering import loop
from workflow.kinds.one_label import rows as one_label_rows
from workflow.people import browsers, members, team
from workflow.projects import managing
from workflow.rows import queue
from workflow.seat import Seat
from workflow.server.home import Home


def upload(test: AppTest, data: bytes, name: str = "table.csv") -> AppTest:
    return give(test, "A table", name, data)


def test_unknown_person_sees_nothing(home: Home, owner: int, show: Open) -> None:
    small_project(home, owner, "secret")
    test = show(0)
    assert "secret" not in words(test)
    assert "access has ended" in words(test)


def test_home_of_owner_without_projects_offers_import_and_demos(owner: int, show: Open) -> None:
    test = show(owner)
    assert "Import rows whose label is uncertain" in words(test)
    assert [button.label for button in test.button] == ["Import data", *(one.title for one in demos.ALL)]
    assert [button.label for button in test.button if button.proto.type == "primary"] == ["Import data"]


def test_home_of_annotator_without_projects_explains_why(home: Home, owner: int, show: Open) -> None:
    small_project(home, owner, "secret")
    said = words(show(somebody(home, owner, "Ada")))
    assert "The owner has not shared a project with you yet" in said
    assert "secret" not in said


def test_home_lists_projects_with_their_counts(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, "birds *of* prey")
    answer_next(home, owner, project)
    test = show(owner)
    assert "birds \\*of\\* prey" in words(test), "a name is shown as it is, not as Markdown"
    assert [button.label for button in test.button] == ["Import data", "Continue", *(demo.title for demo in demos.ALL)]


@pytest.mark.parametrize("page", ["export.py", "import_table.py", "people.py", "audit.py", "project_page.py"])
def test_owner_pages_refuse_annotator(home: Home, owner: int, show: Open, page: str) -> None:
    small_project(home, owner)
    refused = show(annotator(home, owner, "Ada"), page)
    assert words(refused).strip() == "Only owners can open this page."
    assert [link.proto.label for link in refused.get("page_link")] == ["Home"]
    assert not boxes(refused)
    assert not refused.get("download_button")
    assert not refused.button


def test_progress_without_answers_points_to_first_question(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    shown = words(show(owner, "progress.py", project=str(project)))
    assert "begin with the first answer" in shown


def test_progress_shows_accuracy_with_its_interval(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    answer_next(home, owner, project)
    test = show(owner, "progress.py", project=str(project))
    accuracy = by_label(test.metric, "Accuracy")
    assert accuracy.value.endswith("%")
    assert len(test.get("plotly_chart")) == 1, "the curve first; the others come with More figures"
    test.session_state[f"more-figures-{project}"] = True
    assert len(test.run().get("plotly_chart")) >= 3


def test_missing_project_is_reported(home: Home, owner: int, show: Open) -> None:
    small_project(home, owner)
    for asked in ("99", "abc", "-1", "²", "9" * 30):
        test = show(owner, "annotate.py", project=asked)
        assert "no project" in words(test)
        assert "small" not in words(test), "never another project instead"
        assert words(test).count("Home page") == 1, "the way on is said once"


def test_archived_or_binned_project_is_reported(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, "*birds*")
    ada = annotator(home, owner, "Ada")
    for put_away, where in ((managing.archive_project, "archived"), (managing.bin_project, "in the bin")):
        put_away(Seat(home, owner, project))
        for person in (owner, ada):
            shown = words(show(person, "progress.py", project=str(project)))
            assert f"\\*birds\\* is {where}; the owner can restore it on the Home page" in shown
        assert "birds" not in words(show(0, "progress.py", project=str(project)))


def test_import_creates_project_from_guessed_roles(home: Home, owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), small_frame().to_csv(index=False).encode(), "three.csv")
    assert by_label(test.metric, "Rows").value == "60"
    test.text_input[0].set_value("my birds")
    press(test, "Create project")
    (made,) = managing.list_projects(Seat(home, owner))
    assert (made.name, made.n_rows) == ("my birds", 60)
    assert managing.learner_settings(Seat(home, owner, made.id))["model"] == "automatic", "no one has to choose"


def test_import_says_for_which_models_votes_count(home: Home, owner: int, show: Open) -> None:
    for votes, said in (("a,a,b,1\nb,c,b,2\n", True), ("a,b,c,1\nb,c,a,2\n", False)):
        page = show(owner, "import_table.py")
        test = upload(page, f"annotator_1,annotator_2,annotator_3,x\n{votes}".encode())
        assert by_label(test.metric, "Ambiguous rows").value == "2"
        assert ("LM-PLANE, Kernel ridge and Forest also use the scores" in words(test)) == said


def test_neighbours_setting_is_shown_only_if_used(home: Home, owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), small_frame().to_csv(index=False).encode(), "three.csv")

    def chosen(model: str, strategy: str) -> bool:
        for label, value in (("Model", model), ("Question order", strategy)):
            by_label(test.selectbox, label).set_value(value).run()
        assert not test.exception
        return any(one.label == "Neighbours (K)" for one in test.number_input)

    assert chosen("automatic", "automatic"), "it begins with the votes of neighbours"
    assert chosen("plknn", "random")
    assert chosen("plknn", "apl")
    assert not chosen("plsvc", "automatic")
    assert not chosen("kernelridge", "random")


BAD = {
    "empty": (b"", "empty"),
    "a row without candidates": (b"candidates,x\na|b,1\n,2\na,3\n", "Row 2"),
    "damaged UTF-8": ("candidates,x\na|béüöñ,1\nó|".encode() + b"\xc3,2\n", "UTF-8"),
    "a ragged row": (b"candidates,x\na|b,1\na|b\n", "Row 2"),
    "text among numbers": (b"candidates,x\na|b,1\na|b,oops\nb,2\n", "oops"),
    "duplicate ids": (b"id,candidates,x\n7,a|b,1\n7,a,2\n", "Row 2"),
    "truth outside the candidates": (b"candidates,truth,x\na|b,a,1\na|b,c,2\nc,c,3\n", "Row 2"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_file_is_explained_and_nothing_is_stored(home: Home, owner: int, show: Open, case: str) -> None:
    data, said = BAD[case]
    test = upload(show(owner, "import_table.py"), data)
    assert said in "\n".join(listed_problems(test))
    assert "to fix" in words(test)
    if test.dataframe:  # the preview
        drawn = [one.type for one in test.main.children.values()]
        assert drawn.index("error") < drawn.index(test.dataframe[0].type), "directly under the file"
        assert "to fix before this can become a project" in test.error[0].value
    assert not [button for button in test.button if button.label == "Create project"]
    assert managing.list_projects(Seat(home, owner)) == []
    assert not list(home.tables_dir.iterdir())


def test_unchosen_candidates_column_is_no_file_problem(home: Home, owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), b"x,y,heard\n1.5,2,a\n2.5,3,b\n")
    assert "Choose the column that holds the candidates" in words(test)
    assert "to fix" not in words(test)
    assert not test.error
    by_label(test.selectbox, "Candidates column").set_value("heard").run()
    assert "Choose the column" not in words(test)
    assert by_label(test.metric, "Rows").value == "2"


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("table.parquet", b"PAR1\x15\x04", "The Parquet file cannot be read"),
        ("table.csv", b"%PDF-1.7\n", "This is a PDF document"),
        ("table.csv", b"<!doctype html><html><body>a,b</body></html>", "This is a web page"),
        ("table.json", b'[{"candidates": "a|b", "x": 1}, {"candidates": ', "JSON"),
    ],
)
def test_file_of_another_kind_is_refused_with_fix(
    home: Home, owner: int, show: Open, name: str, data: bytes, said: str
) -> None:
    test = upload(show(owner, "import_table.py"), data, name)
    (listed,) = listed_problems(test)
    assert said in listed


def test_link_for_annotator_stays_until_it_is_dismissed(home: Home, owner: int, show: Open) -> None:
    test = show(owner, "people.py")
    test.text_input[0].set_value("Ada")
    press(test, "Create sign-in link")
    (link,) = [one.value for one in test.code]
    secret = link.split("link=")[1]
    person = browsers.person_of(home, team.redeem_link(home, secret))
    assert person is not None
    assert (person.name, person.role) == ("Ada", "annotator")
    test.run()
    assert [one.value for one in test.code] == [link]
    press(test, "Dismiss")
    assert not test.code


def test_invitation_from_page_of_project_is_to_that_project(home: Home, owner: int, show: Open) -> None:
    small_project(home, owner, "other")
    project = small_project(home, owner, "mine")
    test = show(owner, "people.py", project=str(project))
    for name in "Ada", "Ben":
        test.text_input[0].set_value(name)
        press(test, "Create sign-in link")
    found = members.list_members(Seat(home, owner, project)).members
    assert [one.name for one in found if not one.everywhere] == ["Ada", "Ben"]


def test_queue_shows_order_and_its_reason(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    test = show(owner, "queue_page.py", project=str(project))
    table = listed(test)
    assert list(table["#"]) == list(range(1, len(table) + 1))
    assert table.Reason.str.contains("unsettled").all()
    rows = queue.list_queue(Seat(home, owner, project)).rows
    for shares, one in zip(table.Candidates, rows, strict=True):
        assert [share for _, share in shares] == sorted((share for _, share in shares), reverse=True)
        assert {label for label, _ in shares} <= set(one.candidates)
    left = managing.get_project(Seat(home, owner, project)).left
    assert f"Queue :small[{left}]" in words(test), "the view that is open is not a link"
    assert [one.proto.label for one in test.get("page_link")] == ["Review :small[0]"]
    test.text_input[0].set_value("no such thing").run()
    assert "No open row matches" in words(test)
    test.selectbox[0].set_value("random").run()
    assert not test.exception
    assert managing.get_project(Seat(home, owner, project)).answered == 0


def test_queue_says_how_many_are_open_as_home_does(home: Home, owner: int, show: Open) -> None:
    for name, share in (("plain", 0.0), ("blind", 0.2)):
        project = small_project(home, owner, name, control_share=share)
        left = managing.get_project(Seat(home, owner, project)).left
        view = queue.list_queue(Seat(home, owner, project))
        said = words(show(owner, "queue_page.py", project=str(project)))
        hidden = f" {view.blind} blind checks are hidden from this list." if share else ""
        assert f"Showing 1 to {view.listed} of {left} open rows.{hidden}" in said


def test_queue_lists_all_rows_page_by_page(home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    everything = [one.row_id for one in queue.list_queue(seat).rows]
    for module in (row_lists, one_label_rows):
        monkeypatch.setattr(module, "SHOWN", 4)
    test = show(owner, "queue_page.py", project=str(seat.project_id))
    key, seen = f"{state.QUEUE}-{seat.project_id}-page", list(listed(test).Row)
    for number in range(2, -(-len(everything) // 4) + 1):
        test.session_state[key] = number
        seen += list(listed(test.run()).Row)
    assert seen == everything
    assert f"Showing {4 * (number - 1) + 1} to {len(seen)} of {len(seen)} open rows." in words(test)
    test.text_input[0].set_value("ant").run()
    assert "Showing 1 to 4" in words(test), "another search begins with the first page"


def test_queue_says_if_only_blind_checks_are_left(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, control_share=0.2)
    while queue.list_queue(Seat(home, owner, project)).listed:
        row = queue.list_queue(Seat(home, owner, project)).rows[0]
        asked = loop.ask_next(Seat(home, owner, project), row.row)
        loop.submit_answer(Seat(home, owner, project), asked.token, "is", asked.choices[:1])
    said = words(show(owner, "queue_page.py", project=str(project)))
    assert "Every open row is a blind check, so none is listed." in said
    assert f"{managing.get_project(Seat(home, owner, project)).left} rows are open" in said


def test_annotator_sees_queue_but_not_its_settings(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    test = show(annotator(home, owner, "Ada"), "queue_page.py", project=str(project))
    assert len(listed(test))
    assert not test.selectbox
    assert not test.get("download_button")
