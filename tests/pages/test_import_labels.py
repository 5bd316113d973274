"""The Import page and the ways labels are stored: what is guessed, shown, doubted, chosen and made from it."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import Open, by_label, press, words
from tests.pages.test_pages import upload
from tests.plcore.tables.pairs import PAIRS as TEXT_PAIRS
from tests.workflow.photos import photos_csv
from tests.workflow.two_questions import two_labels_frame
from workflow.answering import loop
from workflow.projects import linking, managing
from workflow.seat import Seat
from workflow.server.home import Home

PAIRS = (
    b"text,label1,score1,label2,score2\n"
    b"a song in the wood,wren,0.6,robin,0.3\n"
    b"an owl at night again,owl,0.9,wren,0.05\n"
)


def box(test: AppTest, label: str) -> object:
    return next(one for one in (*test.selectbox, *test.multiselect, *test.number_input) if one.label == label)


def chosen(test: AppTest, label: str) -> object:
    return box(test, label).value  # type: ignore[attr-defined]


def choose(test: AppTest, label: str, value: object) -> AppTest:
    box(test, label).set_value(value)  # type: ignore[attr-defined]
    test.run()
    assert not test.exception
    return test


def test_shortlist_with_scores_needs_one_action(home: Home, owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), PAIRS)
    assert chosen(test, "Columns of labels, best first") == ["label1", "label2"]
    assert chosen(test, "Their scores, in the same order (optional)") == ["score1", "score2"]
    assert chosen(test, "Text (optional)") == "text"
    assert "It will ask" in words(test)
    assert "wren :small[:gray[0.6]]" in words(test).replace("\\", "")
    press(test, "Create project")
    (made,) = managing.list_projects(Seat(home, owner))
    assert (made.n_rows, made.n_classes) == (2, 3)


def test_further_texts_are_proposed_and_learned_from(home: Home, owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), TEXT_PAIRS)
    assert (chosen(test, "Text (optional)"), chosen(test, "Further texts")) == ("hypothesis", ["premise"])
    assert "text 'premise'" in words(test).replace("“", "'").replace("”", "'")
    press(test, "Create project")
    seat = Seat(home, owner, managing.list_projects(Seat(home, owner))[0].id)
    view = loop.ask_next(seat, 1).view
    assert [name for name, _ in view.texts] == ["premise", "hypothesis"], "as in the file"


def test_number_of_candidates_can_be_reduced(owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), PAIRS)
    figures = {one.label: one.value for one in test.metric}
    assert figures["Candidates per row"] == "2.00"
    choose(choose(test, "Candidates are", "top"), "How many", 1)
    assert {one.label: one.value for one in test.metric}["Candidates per row"] == "1.00"
    assert "there is nothing to ask" in words(test)


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"w,birds\n1,wren:0.6|robin:0.3\n2,wren:0.2|robin:0.7\n", "weighted"),
        (b"w,birds\n1,\"['wren', 'robin']\"\n2,\"['owl', 'robin']\"\n", "json"),
        (b"w,birds\n1,wren|robin\n2,owl|robin\n3,owl\n4,wren\n", "list"),
    ],
)
def test_form_of_cells_is_guessed(owner: int, show: Open, data: bytes, wanted: str) -> None:
    test = upload(show(owner, "import_table.py"), data)
    assert (chosen(test, "Candidates column"), chosen(test, "How a cell is written")) == ("birds", wanted)
    assert by_label(test.metric, "Ambiguous rows").value == "2"


def test_probabilities_of_every_class_are_imported(owner: int, show: Open) -> None:
    data = b"id,p_wren,p_robin,p_owl,grams\n1,0.9,0.06,0.04,9.5\n2,0.4,0.3,0.3,210\n"
    test = upload(show(owner, "import_table.py"), data)
    assert chosen(test, "Columns of scores") == ["p_wren", "p_robin", "p_owl"]
    assert chosen(test, "Share of the weight") == 0.95
    assert by_label(test.metric, "Candidates per row").value == "2.50"
    choose(choose(test, "Candidates are", "threshold"), "Weight", 0.5)
    assert "In 1 row no label reaches 0.5" in words(test).replace("\\", "")


def test_oddities_are_reported_before_anything_is_stored(home: Home, owner: int, show: Open) -> None:
    data = b"task_id,labels,w\n1,Wren|robin,1\n1,wren|nan,2\n2,robin|wren,3\n"
    said = words(upload(show(owner, "import_table.py"), data)).replace("\\", "")
    assert "Is this right?" in said
    assert "'Wren' and 'wren'" in said
    assert "'nan' among the labels is read as an empty cell" in said
    assert "\nIf they are the same, write them alike" in said, "each fix begins with its own if"
    assert "Column 'task_id' looks like an id, but 1 row repeats one" in said
    assert managing.list_projects(Seat(home, owner)) == []


def test_nan_can_be_read_as_class(owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), b"labels,w\nwren|nan,1\nrobin|wren,2\n")
    assert by_label(test.metric, "Classes").value == "2"
    choose(test, "Read as “no label”", [])
    assert by_label(test.metric, "Classes").value == "3"


def test_guessed_column_can_be_given_another_role(owner: int, show: Open) -> None:
    data = b"id,labels,note,w\n1,wren|robin,so it was heard,1\n2,robin,and so it was,2\n3,wren,not so clear,3\n"
    test = upload(show(owner, "import_table.py"), data)
    assert (chosen(test, "Text (optional)"), chosen(test, "Row id (optional)")) == ("note", "id")
    choose(test, "Row id (optional)", "note")
    assert (chosen(test, "Text (optional)"), chosen(test, "Row id (optional)")) == ("", "note")
    assert "to fix" not in words(test)
    choose(test, "Category features", ["note"])
    assert chosen(test, "Row id (optional)") == ""
    assert not test.error


def test_further_question_becomes_project_of_its_own(home: Home, owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), two_labels_frame().to_csv(index=False).encode())
    candidates = chosen(test, "Candidates column")
    other = "behaviour" if candidates == "species" else "species"
    choose(test, "Further questions about the same rows", [other])
    assert f"Further question '{other}'" in words(test).replace("\\", "")
    assert other not in chosen(test, "Category features")
    press(test, "Create project")
    first, second = sorted(managing.list_projects(Seat(home, owner)), key=lambda one: one.id)
    assert second.name == f"{first.name}: {other}"
    assert [one.id for one in linking.further_of(Seat(home, owner, first.id))] == [second.id]


def test_problem_of_further_question_is_shown(owner: int, show: Open) -> None:
    data = b"id,labels,more,w\n1,wren|robin,a|b,1\n2,robin|owl,,2\n3,wren,,3\n"
    test = upload(show(owner, "import_table.py"), data)
    choose(test, "Row id (optional)", "")
    choose(test, "Rows without a candidate", "leave-out")
    choose(test, "Further questions about the same rows", ["more"])
    assert "its rows cannot be recognized" in words(test)


WAY = "How are the candidate labels given?"
TWO = b"id,labels,more,w,v\n1,wren|robin,wren;owl,1,5\n2,robin|owl,owl,2,6\n3,wren,robin;wren,3,7\n"


def turn(test: AppTest, label: str, value: str) -> AppTest:
    """Choose one of the options of a radio button."""
    by_label(test.radio, label).set_value(value).run()
    assert not test.exception
    return test


def test_choices_return_when_label_form_is_switched_back(owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), TWO)
    choose(test, "Candidates column", "more")
    choose(test, "Separator", "/")
    choose(test, "Number features", ["w"])
    turn(test, WAY, "choices")
    choose(test, "Columns of labels, best first", ["labels"])
    turn(test, WAY, "candidates")
    assert [chosen(test, name) for name in ("Candidates column", "Separator")] == ["more", "/"]
    turn(test, WAY, "choices")
    assert chosen(test, "Columns of labels, best first") == ["labels"]
    assert chosen(test, "Number features") == ["w"]
    turn(test, "What do the labels mean?", "vectors")
    turn(test, "What do the labels mean?", "candidates")
    assert chosen(test, "Columns of labels, best first") == ["labels"]


def test_removed_column_does_not_return(owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), TWO)
    assert chosen(test, "Candidates column") == "labels"
    turn(test, WAY, "choices")
    choose(test, "Text (optional)", "labels")
    turn(test, WAY, "candidates")
    assert (chosen(test, "Candidates column"), chosen(test, "Text (optional)")) == ("", "labels")
    choose(test, "Text (optional)", "")
    assert chosen(test, "Candidates column") == ""


@pytest.mark.parametrize(("taken", "left"), [("label2", "1"), ("score2", "1"), ("label1", "2")])
def test_label_and_its_score_are_freed_together(owner: int, show: Open, taken: str, left: str) -> None:
    test = choose(upload(show(owner, "import_table.py"), PAIRS), "Row id (optional)", taken)
    assert chosen(test, "Columns of labels, best first") == [f"label{left}"]
    assert chosen(test, "Their scores, in the same order (optional)") == [f"score{left}"]


def test_cell_form_of_newly_chosen_column_is_guessed(owner: int, show: Open) -> None:
    data = b"a,b,c,w\nx|y,x:0.6;y:0.4,\"['x', 'y']\",1\ny|z,y:0.7;z:0.2,\"['z', 'y']\",2\nx,x:0.5;z:0.5,\"['x']\",3\n"
    test = choose(upload(show(owner, "import_table.py"), data), "Candidates column", "b")
    assert (chosen(test, "How a cell is written"), chosen(test, "Separator")) == ("weighted", ";")
    choose(test, "Candidates column", "c")
    assert chosen(test, "How a cell is written") == "json"
    choose(test, "Candidates column", "a")
    assert (chosen(test, "How a cell is written"), chosen(test, "Separator")) == ("list", "|")


def test_chosen_score_columns_have_prefix_and_cut(owner: int, show: Open) -> None:
    data = b"labels,p_a,p_b,w\na|b,0.9,0.1,1\nb,0.01,0.99,2\na,0.5,0.5,3\n"
    test = upload(show(owner, "import_table.py"), data)
    turn(test, WAY, "score_columns")
    choose(test, "Columns of scores", ["p_a"])
    choose(test, "Columns of scores", ["p_a", "p_b"])
    assert next(one.value for one in test.text_input if "Prefix" in one.label) == "p_"
    assert (chosen(test, "Candidates are"), chosen(test, "Share of the weight")) == ("mass", 0.95)
    assert by_label(test.metric, "Classes").value == "2"


def test_json_lists_become_label_vectors(owner: int, show: Open) -> None:
    data = b"yes,no,w\n\"['ant']\",\"['bee']\",1\n\"['bee']\",\"['ant', 'cat']\",2\n\"['cat']\",[],3\n"
    test = upload(show(owner, "import_table.py"), data)
    turn(test, "What do the labels mean?", "vectors")
    turn(test, "How are the labels given?", "lists")
    choose(test, "Labels that are right", "yes")
    choose(test, "Labels that are not (optional)", "no")
    assert chosen(test, "How a cell is written") == "json"
    assert by_label(test.metric, "Labels").value == "3"
    assert "**Which labels are right?**" in words(test)
    assert "**Which one is it?**" not in words(test)


KNOWN = b"labels,label,w\n" + b"".join(f"wren|robin,{('wren', 'robin')[k % 2]},{k}\n".encode() for k in range(12))


def test_known_labels_are_used_if_questions_remain(owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), KNOWN + b"wren|robin,,12\n")
    assert chosen(test, "The other true labels") == "given"
    assert "there is nothing to ask" not in words(test)


def test_fully_known_labels_make_dry_run_by_default(home: Home, owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), KNOWN)
    assert chosen(test, "The other true labels") == "hidden"
    said = "The true label of every row with a choice is known and given: there is nothing to ask"
    assert said not in words(test).replace("\\", "")
    choose(test, "The other true labels", "given")
    assert said in words(test).replace("\\", "")
    choose(test, "The other true labels", "hidden")
    press(test, "Create project")
    (made,) = managing.list_projects(Seat(home, owner))
    assert managing.learner_settings(Seat(home, owner, made.id))["truth_role"] == "hidden"


def test_same_file_again_is_reported_before_anything_is_stored(home: Home, owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), TWO)
    assert "same file" not in words(test)
    press(test, "Create project")
    again = upload(show(owner, "import_table.py"), TWO, "other.csv")
    assert "Project 'table' was made from the same file on" in words(again).replace("\\", "")
    (made,) = managing.list_projects(Seat(home, owner))
    (link,) = (one.proto for one in again.get("page_link") if one.proto.label == "Open table")
    assert (link.page, link.query_string) == ("annotate", f"project={made.id}")
    managing.archive_project(Seat(home, owner, made.id))
    archived = upload(show(owner, "import_table.py"), TWO, "other.csv")
    labels = [one.proto.label for one in archived.get("page_link")]
    assert "Home" in labels
    assert "Open table" not in labels


def test_refused_workbook_names_the_sheet_that_was_read(owner: int, show: Open) -> None:
    file = io.BytesIO()
    with pd.ExcelWriter(file) as book:
        votes = pd.DataFrame({"item": [1, 2, 3], "ann1": ["a", "b", "a"], "ann2": ["a", "a", "b"]})
        votes.to_excel(book, sheet_name="votes", index=False)
        pd.DataFrame({"item": [1, 2], "length": [3.5, 4.5]}).to_excel(book, sheet_name="sizes", index=False)
    test = upload(show(owner, "import_table.py"), file.getvalue(), "study.xlsx")
    assert "There is nothing to learn from" in words(test)
    assert "Only the sheet 'votes' was read, not 'sizes' (2 rows)." in words(test).replace("\\", "")


def test_taken_project_name_is_refused_next_to_the_button(owner: int, show: Open) -> None:
    press(upload(show(owner, "import_table.py"), TWO), "Create project")
    again = upload(show(owner, "import_table.py"), TWO)
    press(again, "Create project")
    said = r"A project named 'table' exists already\. Fix\: choose another name\."
    (reading, first) = again.columns[:2]
    assert [one.value for one in reading.error] == [said]
    assert not first.error


def test_uninformative_candidates_choose_coverage_order(home: Home, owner: int, show: Open) -> None:
    data = b"id,birds,w\n1,wren|robin|owl,1\n2,owl|robin|wren,2\n3,wren|owl|robin,7\n"
    test = upload(show(owner, "import_table.py"), data)
    assert chosen(test, "Question order") == "cover"
    assert "Nearly every row may be nearly every class" in words(test)
    press(test, "Create project")
    (made,) = managing.list_projects(Seat(home, owner))
    assert managing.learner_settings(Seat(home, owner, made.id))["strategy"] == "cover"
    told = upload(show(owner, "import_table.py"), data.replace(b"|owl", b""))
    assert chosen(told, "Question order") == "automatic"
    assert "Nearly every row may be nearly every class" not in words(told)


def create(test: AppTest) -> Any:
    return by_label(test.button, "Create project")


def test_ambiguous_cells_wait_for_choice(home: Home, owner: int, show: Open) -> None:
    data = b"id,candidates,w\n1,wren|robin,1\n2,wren/robin,2\n3,robin,5\n"
    test = upload(show(owner, "import_table.py"), data)
    assert "**It asks:** which candidate is right in 1 row" in words(test)
    assert create(test).disabled
    by_label(test.checkbox, "Accept this reading").check().run()
    assert not create(test).disabled
    create(test).click().run()
    assert managing.list_projects(Seat(home, owner))[0].n_classes == 3


def test_rows_without_candidate_share_one_choice(owner: int, show: Open) -> None:
    data = b"id,candidates,w\n1,wren|robin,1\n2,,2\n3,robin,5\n4,,4\n"
    test = upload(show(owner, "import_table.py"), data)
    assert "The same holds for 1 other row" in words(test)
    choose(test, "Rows without a candidate", "all")
    assert "which candidate is right in 3 rows" in words(test)


def test_chosen_source_is_shown_and_can_be_asked_one_at_a_time(home: Home, owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), photos_csv())
    choose(test, "Source (optional)", "shot")
    assert "source 'shot' (8 sources of several rows)" in words(test).replace("\\", "")
    create(test).click().run()
    assert not test.exception
    (made,) = managing.list_projects(Seat(home, owner))
    seat = Seat(home, owner, made.id)
    assert made.sourced
    view = loop.ask_next(seat, 1).view
    (row,) = [line.split(",") for line in photos_csv().decode().splitlines() if line.startswith(f"{view.row_id},")]
    assert view.source == (("shot", f"{row[1]} (3 rows)"),)
    page = show(owner, "project_page.py", project=str(made.id))
    by_label(page.toggle, "One source at a time").set_value(True).run()
    assert not page.exception
    assert managing.learner_settings(seat)["by_source"] is True
    plain = upload(show(owner, "import_table.py"), TWO, "two.csv")
    create(plain).click().run()
    other = next(one for one in managing.list_projects(Seat(home, owner)) if one.id != made.id)
    page = show(owner, "project_page.py", project=str(other.id))
    assert not any(one.label == "One source at a time" for one in page.toggle)
