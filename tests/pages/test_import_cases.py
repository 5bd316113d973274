"""The Import page with small files in common shapes: what it understood, what it will ask, what it doubts."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import state
from pages.parts.role_choices import Choices
from tests.pages.conftest import Open, press, sent_to, words
from tests.pages.test_import_labels import choose
from tests.pages.test_pages import upload
from tests.plcore.tables.right_readings import RIGHT, path_of
from tests.plcore.tables.zips import make_zip
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

FIRST = {
    "llm_shortlist.jsonl": ("statement_wrong_amount", "transfer_wrong_amount", "mortgage_wrong_amount"),
    "g12_na_csv.csv": ("NA", "ZA"),
    "g15_na_jsonlist.json": ("None", "joy"),
    "g7_second_sheet.xlsx": ("a", "b"),
    "label_studio_genus.json": ("Turdus", "merula"),
    "label_studio_min.json": ("Neg", "Pos"),
    "megadetector_classified.json": ("red deer", "european hare", "red fox", "blank", "wild boar"),
    "kaleidoscope_id.csv": ("MYOLUC", "EPTFUS", "MYOSEP"),
    "mturk_category.csv": ("cat", "dog"),
    "holes_nan.csv": ("owl",),
    "holes_yn.csv": ("owl",),
    "g16_bn_order.zip": ("Amsel", "noise / nothing", "Singdrossel"),
    "g16_bn_headeronly.zip": ("Amsel", "noise / nothing", "Singdrossel"),
    "tags_nan.csv": ("outdoor", "water", "text_visible"),
}
"""The choices of the first question, in their order."""
READINGS = {
    "g15_mixed_sep.csv": (
        "2 classes are made of other classes, such as 'wren, robin'.",
        "As one class.",
        "It may list the 2 candidates 'wren' and 'robin'.",
    ),
    "shares_in_one_row.csv": (
        "2 classes are a class with a number behind it, such as 'robin:0.4'.",
        "As a class of its own.",
        "It may be 'robin' with a weight.",
    ),
    "slash_in_one_row.csv": (
        "1 class is made of other classes, such as 'wren/robin'.",
        "As one class.",
        "It may list the 2 candidates 'wren' and 'robin'.",
    ),
}
"""Ambiguous cells on the page, with both readings."""
SETTLED = {
    "null_among_candidates.jsonl": ("Rows without a candidate", "leave-out", 19),
    "votes_with_truth_semicolon.csv": ("True labels outside the candidates", "unknown", 120),
}


def shown(test: AppTest) -> str:
    """Text of the page, without Markdown escapes."""
    return words(test).replace("\\", "")


def given(test: AppTest, name: str) -> AppTest:
    return upload(test, path_of(name).read_bytes(), name)


def create(test: AppTest) -> AppTest:
    (button,) = (one for one in test.button if one.label == "Create project")
    return button


@pytest.mark.parametrize("name", FIRST)
def test_page_shows_expected_reading_and_first_question(owner: int, show: Open, name: str) -> None:
    test = given(show(owner, "import_table.py"), name)
    said, right = shown(test), RIGHT[name]
    assert "Winnow read this as **{}**: {}".format(*right.said.split(": ", 1)) in said
    assert f"**It learns from:** {right.learnt}" in said
    asked = "**Which labels are right?**" if "labels (" in right.said else "**Which one is it?**"
    listed = said.partition(asked)[2].splitlines()
    choices = [line.strip().removeprefix("- ").partition(" :small[")[0] for line in listed if "- " in line]
    assert tuple(choices[: len(FIRST[name])]) == FIRST[name]
    assert not create(test).disabled


def test_role_chosen_in_column_head_replaces_old_one(owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), b"id,note,labels,w\n1,a bird,wren|robin,2\n2,two birds,wren,3\n")
    (data,) = sent_to(test, "winnow_columns")
    assert [(one["name"], one["role"]) for one in data["columns"]] == [
        ("id", "id"),
        ("note", "categories"),
        ("labels", "candidates"),
        ("w", "numbers"),
    ]
    assert data["columns"][2]["cells"] == ["wren|robin", "wren"]
    choices: Choices = test.session_state[state.COLUMNS]
    for column, role in (("note", "caption"), ("w", "text"), ("id", "")):
        choices.assign(column, role)  # as a chip does it: AppTest cannot choose in a component
    test.run()
    assert next(one.value for one in test.selectbox if one.label == "Text (optional)") == "w"
    assert next(one.value for one in test.selectbox if one.label == "Row id (optional)") == ""
    assert next(one.value for one in test.multiselect if one.label == "Number features") == []
    assert "**It learns from:** text 'w'" in shown(test)
    assert [one["role"] for one in sent_to(test, "winnow_columns")[0]["columns"]] == [
        "",
        "caption",
        "candidates",
        "text",
    ]
    choices.assign("labels", "annotators")
    assert (choices.roles_by_column()["labels"], choices.held["way"]) == ("annotators", "annotators")
    with pytest.raises(ValueError, match="no role 'colour'"):
        choices.assign("labels", "colour")


@pytest.mark.parametrize("name", READINGS)
def test_ambiguous_cells_show_two_readings_and_wait_for_choice(home: Home, owner: int, show: Open, name: str) -> None:
    test = given(show(owner, "import_table.py"), name)
    found, here, other = READINGS[name]
    left = next(one for one in test.columns if any(text.value.startswith("**Read here**") for text in one.markdown))
    right = next(one for one in test.columns if any(text.value.startswith("**Or**") for text in one.markdown))
    assert [one.value.replace("\\", "") for one in left.markdown] == [f"**Read here**  \n{here}"]
    assert right.markdown[0].value.replace("\\", "").startswith(f"**Or**  \n{other} ")
    assert found in shown(test)
    assert create(test).disabled
    (accept,) = (box for box in test.checkbox if box.label == "Accept this reading")
    accept.check().run()
    create(test).click().run()
    assert not test.exception
    (made,) = managing.list_projects(Seat(home, owner))
    assert made.n_rows == RIGHT[name].count


def test_page_rereads_file_for_chosen_item(owner: int, show: Open) -> None:
    test = given(show(owner, "import_table.py"), "md16.json")
    assert "Winnow read this as **MegaDetector JSON**: 3 rows, " in shown(test)
    choose(test, "What is one item?", "detection")
    assert "Winnow read this as **MegaDetector JSON, an item a detection**: 4 rows, " in shown(test)
    choose(test, "What is one item?", "picture")
    assert "Winnow read this as **MegaDetector JSON**: 3 rows, " in shown(test)


def test_page_reads_camtrap_package_by_media_or_by_event(owner: int, show: Open) -> None:
    test = given(show(owner, "import_table.py"), "camtrap_levels.csv")
    assert "Winnow read this as **Camtrap DP observations**: 3 rows, " in shown(test)
    choose(test, "What is one item?", "event")
    assert "Winnow read this as **Camtrap DP observations, an item an event**: 2 rows, " in shown(test)
    choose(test, "What is one item?", "media")
    assert "Winnow read this as **Camtrap DP observations**: 3 rows, " in shown(test)


def test_page_asks_about_people_who_did_not_finish(owner: int, show: Open) -> None:
    test = given(show(owner, "import_table.py"), "qualtrics.csv")
    assert create(test).disabled
    choose(test, "Answers of people who did not finish", "count")
    assert not create(test).disabled


def test_page_asks_about_tables_left_out_of_zip(owner: int, show: Open) -> None:
    rows = b"id,text,labels\n1,a bird,wren|robin\n2,two birds,wren\n3,more birds,robin\n"
    packed = make_zip({"a.csv": rows, "b.txt": rows.replace(b",", b"\t")})
    test = upload(show(owner, "import_table.py"), packed, "birds.zip")
    assert "The zip holds several tables." in shown(test)
    assert "**Or**  \n'b.txt' (3 rows) may belong to them." in shown(test)
    assert create(test).disabled


@pytest.mark.parametrize("name", SETTLED)
def test_refused_file_can_be_imported_by_choosing_an_option(owner: int, show: Open, name: str) -> None:
    test = given(show(owner, "import_table.py"), name)
    box, choice, rows = SETTLED[name]
    assert f"Or choose for {box[0].lower()}{box[1:]} " in shown(test)
    assert "--" not in shown(test), "the page has no options of the command line"
    choose(test, box, choice)
    assert f"{rows} rows, " in shown(test)
    assert not create(test).disabled


@pytest.mark.parametrize(
    ("name", "button", "rows"),
    [
        ("null_among_candidates.jsonl", "Leave these rows out", 19),
        ("null_among_candidates.jsonl", "Keep every class possible", 20),
        ("votes_with_truth_semicolon.csv", "Treat them as unknown", 120),
        ("votes_with_truth_semicolon.csv", "Add them to the candidates", 120),
    ],
)
def test_button_below_problems_makes_file_importable(owner: int, show: Open, name: str, button: str, rows: int) -> None:
    test = press(given(show(owner, "import_table.py"), name), button)
    assert f"{rows} rows, " in shown(test)
    assert not create(test).disabled
    assert button not in {one.label for one in test.button}, "nothing is left to fix"
