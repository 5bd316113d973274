"""Roles: their JSON form, and the guess made from names and cells."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import LabelTable, Roles, TableError, read_cells, suggest_roles

NAMES = st.lists(st.text(max_size=5), max_size=3).map(tuple)
OPTIONAL = st.none() | st.text(max_size=5)


@given(
    st.builds(
        Roles,
        candidates=OPTIONAL,
        voters=OPTIONAL,
        vote_weights=st.sampled_from(["counts", "dawid-skene"]),
        separator=st.text(max_size=2),
        label_columns=NAMES,
        annotators=NAMES,
        truth=OPTIONAL,
        id=OPTIONAL,
        text=OPTIONAL,
        image=OPTIONAL,
        more_texts=NAMES,
        more_images=NAMES,
        caption=NAMES,
        audio=OPTIONAL,
        start=OPTIONAL,
        end=OPTIONAL,
        embedding=OPTIONAL,
        source=OPTIONAL,
        image_features=st.booleans(),
        numbers=NAMES,
        categories=NAMES,
    )
)
def test_json_round_trip(roles: Roles) -> None:
    assert Roles.from_json(json.loads(json.dumps(roles.to_json()))) == roles


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"candidate": "c"}, "no 'candidate'"),
        ({"numbers": "w"}, "'numbers' must be a list of column names"),
        ({"numbers": [1]}, "'numbers' must be a list of column names"),
        ({"truth": 3}, "'truth' must be a string or null"),
        ({"separator": None}, "'separator' must be a string"),
        ({"image_features": 1}, "'image_features' must be true or false"),
        ({"image_features": None}, "'image_features' must be true or false"),
    ],
)
def test_foreign_json_is_refused(data: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Roles.from_json(data)


def test_roles_stored_before_recordings_are_read() -> None:
    old = {"candidates": "c", "image": "i", "numbers": ["w"], "separator": ";"}
    assert Roles.from_json(old) == Roles(candidates="c", separator=";", image="i", numbers=("w",))


def guess(csv: str) -> Roles:
    return suggest_roles(read_cells(csv.encode()))


def test_ordinary_file() -> None:
    roles = guess(
        "id,candidates,truth,width,kind,note,picture\n"
        'a1,wren|robin,wren,1.5,x,"a small brown bird","data:image/png;base64,AAAA"\n'
        'a2,robin,,2,y,"a bird with a red breast",\n'
        'a3,wren|finch,finch,,x,"seen at the feeder, twice",\n'
        'a4,wren,wren,1e3,y,"heard but not seen at all",\n'
    )
    assert roles == Roles(
        candidates="candidates", truth="truth", id="id", text="note", image="picture",
        image_features=True, numbers=("width",), categories=("kind",),
    )  # fmt: skip


@pytest.mark.parametrize(("separator", "quote"), [("|", ""), (";", ""), (",", '"')])
@pytest.mark.parametrize("name", ["Candidates", "labels", "Candidate labels", "birds"])
def test_candidates_by_name_or_by_cells(name: str, separator: str, quote: str) -> None:
    cells = [f"wren{separator}robin", "robin", f"wren{separator}finch", f"finch{separator}robin"]
    rows = "".join(f"{quote}{cell}{quote},{place}\n" for place, cell in enumerate(cells))
    roles = guess(f"{name},w\n{rows}")
    assert roles == Roles(candidates=name, separator=separator, numbers=("w",))


def test_prose_with_commas_is_not_taken_for_candidates() -> None:
    rows = "".join(f'{word}|x,"so, {word}, or not, as they say {word}"\n' for word in ("ab", "cd", "x", "ab"))
    roles = guess(f"which,what\n{rows}")
    assert (roles.candidates, roles.text) == ("which", "what")


@pytest.mark.parametrize("name", ["label", "Class", "target", "y"])
def test_weak_truth_name_counts_if_its_cells_are_labels(name: str) -> None:
    assert guess(f"candidates,w,{name}\na|b,1,a\nb,2,b\n").truth == name
    assert guess(f"candidates,w,{name}\na|b,1,3\nb,2,4\n").truth is None


def test_wrong_truth_column_is_kept_and_reported() -> None:
    assert guess("candidates,w,truth\na|b,1,x\nb,2,y\n").truth == "truth"


def test_annotators() -> None:
    roles = guess("item,annotator_1,annotator_2,Annotator 3,w\ni1,a,b,,1\ni2,a,a,c,2\n")
    assert roles == Roles(annotators=("annotator_1", "annotator_2", "Annotator 3"), id="item", numbers=("w",))


def test_annotators_of_any_name_share_their_labels() -> None:
    rows = "wren,robin,wren,wood,wren,1.5\nrobin,robin,,park,robin,2\nwren,wren,wren,wood,,3\ntit,wren,robin,park,,4\n"
    roles = guess("anna,bob,cleo,habitat,species,w\n" + 3 * rows)
    assert (roles.annotators, roles.truth) == (("anna", "bob", "cleo"), "species")
    assert roles.categories == ("habitat",)
    two = guess("anna,bob,w\nx,y,1\ny,y,2\nx,x,3\nx,y,4\n")
    assert (two.annotators, two.categories) == ((), ("anna", "bob"))
    asked = guess("smokes,drinks,runs,w\nyes,no,no,1\nno,no,yes,2\nno,yes,yes,3\nyes,no,no,4\n")
    assert (asked.annotators, asked.categories) == ((), ("smokes", "drinks", "runs"))


def test_text_measurements_are_not_votes() -> None:
    roles = guess("size,price,weight,label\n" + 3 * "low,high,medium,cat\nhigh,low,low,dog\nmedium,medium,high,cat\n")
    assert (roles.annotators, roles.categories) == ((), ("size", "price", "weight", "label"))
    many = ",".join(f"w{k}" for k in range(60))
    assert guess(f"{many}\n" + 3 * f"{','.join(60 * 'a')}\n{','.join(60 * 'b')}\n").annotators == ()


def test_numbers_about_annotators_are_not_votes() -> None:
    roles = guess("rater_a,rater_b,rater_count,vote_total,coder_age\nx,y,2,3,31.5\ny,y,2,4,40\nx,x,2,5,\n")
    assert roles.annotators == ("rater_a", "rater_b")
    assert roles.numbers == ("rater_count", "vote_total")  # the age of a person does not describe the item
    digits = guess("rater_1,rater_2,w\n3,5,1.5\n5,5,2\n3,3,2\n")  # here the labels are numbers
    assert digits.annotators == ("rater_1", "rater_2")
    alone = guess("expert,expert_age,w\nx,30,1.5\ny,41,2\n")
    assert alone.annotators == ()


def test_binary_features_stay_features_if_candidates_are_given() -> None:
    roles = guess("candidates,f1,f2\na|b,0,1\nb,1,1\n")
    assert roles == Roles(candidates="candidates", numbers=("f1", "f2"))


def test_label_columns_are_used_if_nothing_else_holds_candidates() -> None:
    assert guess("a,b,c,w\n1,0,1,2.5\n0,1,0,3\n").label_columns == ("a", "b", "c")
    assert guess("f,label_a,label_b,w\n1,1,0,2\n0,0,1,3\n").label_columns == ("label_a", "label_b")
    named_by_truth = guess("bit,w,a,b,c,truth\n1,2,1,0,1,a\n0,3,0,1,0,b\n")
    assert named_by_truth.label_columns == ("a", "b", "c")
    assert named_by_truth.truth == "truth"
    assert named_by_truth.numbers == ("bit", "w")


def test_numeric_column_with_one_word_is_kept_and_reported() -> None:
    assert guess("candidates,w\na|b,1\nb,oops\na,3\n").numbers == ("w",)
    assert guess("candidates,w\na|b,1\nb,\na,NA\n").numbers == ("w",)
    assert guess('candidates,w\na|b,"1,5"\nb,"2,5"\na,"1,5"\n').numbers == ("w",)


def test_ids() -> None:
    assert guess("id,candidates,w\n1,a|b,1\n1,b,2\n").id == "id"  # used twice: to be reported
    assert guess("bird_id,candidates,w\n1,a|b,1\n2,b,2\n").id == "bird_id"
    repeated = guess("place_id,candidates,w\nx,a|b,1\nx,b,2\nx,b,2\nx,b,2\n")
    assert (repeated.id, repeated.categories) == (None, ("place_id",))


def test_first_column_of_codes_is_the_id() -> None:
    def id_of(codes: list[str]) -> str | None:
        rows = [f"{code},a message of words no. {row},a|b" for row, code in enumerate(codes)]
        return guess("\n".join(["ticket,message,candidates", *rows])).id

    assert id_of([f"T{1000 + row}" for row in range(60)]) == "ticket"
    assert id_of([f"P{row}" for row in range(6)]) is None, "so few may differ by chance"
    assert id_of([f"{row}cm" for row in range(60)]) is None
    assert id_of([f"T{1000 + row // 2}" for row in range(60)]) is None
    assert id_of([f"2026-05-18T10:{row:02}" for row in range(60)]) is None
    assert id_of([f"{1000 + 7 * row}" for row in range(60)]) is None


def test_useless_columns_get_no_role() -> None:
    rows = "".join(f"a|b,{place},code{place},\n" for place in range(9))
    roles = guess(f"candidates,w,unique,empty\n{rows}")
    assert roles == Roles(candidates="candidates", numbers=("w",))


def test_file_without_candidates_gets_no_candidate_role() -> None:
    roles = guess("x,y,label\n1.5,2,a\n3,4,b\n")
    assert (roles.candidates, roles.label_columns, roles.annotators) == (None, (), ())


CELL = st.sampled_from(["", "a", "b", "a|b", "b;c", "a,b", "0", "1", "2.5", "x y z w", "data:image/png;base64,AAAA"])


NAMES_SEEN = st.sampled_from(["id", "label", "candidates", "x", "vote1", "vote2", "text", "truth"])


@given(st.lists(NAMES_SEEN, min_size=1, unique=True), st.data())
def test_guessed_roles_are_consistent(names: list[str], data: st.DataObject) -> None:
    n_rows = data.draw(st.integers(1, 5))
    cells = pd.DataFrame({name: [data.draw(CELL) for _ in range(n_rows)] for name in names}, dtype="str")
    roles = suggest_roles(cells)
    used = [column for _, column in roles.used()]
    assert len(set(used)) == len(used)
    assert set(used) <= set(names)
    problems = ""
    try:
        LabelTable.from_cells(cells, roles)
    except TableError as error:
        problems = str(error)
    assert "cannot be both" not in problems
    assert "no such column" not in problems


def test_roles_can_be_changed_one_at_a_time() -> None:
    roles = replace(guess("candidates,w\na|b,1\nb,2\n"), numbers=(), categories=("w",))
    assert LabelTable.read_csv(b"candidates,w\na|b,1\nb,2\n", roles).numbers.shape == (2, 0)


def test_voters_are_stored_only_if_given() -> None:
    """Tables stored before these roles existed keep their bytes."""
    assert not {"voters", "vote_weights"} & set(Roles(candidates="c").to_json())
    assert Roles(candidates="c", voters="s").to_json()["voters"] == "s"


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        (Roles(annotators=("a", "b"), voters="s", numbers=("w",)), "no column lists the candidates"),
        (Roles(candidates="a", vote_weights="dawid-skene", numbers=("w",)), "no column says who voted"),
    ],
)
def test_voter_roles_require_votes(roles: Roles, words: str) -> None:
    with pytest.raises(TableError, match=words):
        LabelTable.from_cells(read_cells(b"a,b,s,w\nx,y,{},1\ny,x,{},2\n"), roles)


def test_voter_column_is_guessed_next_to_candidates() -> None:
    cells = pd.DataFrame(
        {
            "candidates": ['{"wren": 2}', '{"wren": 1, "owl": 1}'],
            "sources": ['{"wren": ["Ann", "Bob"]}', '{"wren": ["Ann"], "owl": ["Bob"]}'],
            "w": ["1", "2"],
        },
        dtype="str",
    )
    assert suggest_roles(cells).voters == "sources"
    assert suggest_roles(cells.assign(sources="camera")).voters is None
    assert suggest_roles(cells.drop(columns="candidates")).voters is None
