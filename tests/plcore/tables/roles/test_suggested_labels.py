"""The form of candidates is guessed from names and cells, and read as intended."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from plcore import LabelTable, Roles, suggest_roles
from plcore.tables import find_doubts, read_cells, suggest_reading


def guess(csv: str) -> Roles:
    return suggest_roles(read_cells(csv.encode()))


def read(csv: str) -> LabelTable:
    return LabelTable.read_csv(csv.encode())


@pytest.mark.parametrize(
    "head",
    [
        "label1,score1,label2,score2",
        "pred_1,prob_1,pred_2,prob_2",
        "top1,top1_score,top2,top2_score",
        "Top 1 label,Top 1 score,Top 2 label,Top 2 score",
        "class_1,p1,class_2,p2",
    ],
)
def test_label_and_score_pairs_are_guessed(head: str) -> None:
    csv = f"text,{head}\n" + "a song in the wood,wren,0.6,robin,0.3\nan owl at night again,owl,0.9,wren,0.05\n"
    roles, columns = guess(csv), head.split(",")
    assert (list(roles.choices), list(roles.choice_scores)) == (columns[::2], columns[1::2])
    assert (roles.numbers, roles.text) == ((), "text")
    table = read(csv)
    assert table.classes == ("owl", "robin", "wren")
    assert table.candidate_weights.tolist() == [[0, 0.3, 0.6], [0.9, 0, 0.05]]


def test_numbered_columns_without_partners_are_not_pairs() -> None:
    assert guess("candidates,score1,score2\na|b,1,2\nb,3,4\n").choices == ()
    assert guess("p1,p2,candidates\n1,2,a|b\n3,4,b\n").numbers == ("p1", "p2")
    uneven = guess("label1,score1,label2,w\na,.1,b,1\nb,.2,a,2\n")
    assert uneven.choices == ()


@pytest.mark.parametrize("name", ["topics", "labels"])
def test_lists_with_numbers_are_weighted(name: str) -> None:
    csv = f"{name},w\n" + "".join(f"film:0.{k}|education:0.{9 - k},{k}\n" for k in range(1, 9))
    roles = guess(csv)
    assert (roles.candidates, roles.form, roles.separator) == (name, "weighted", "|")
    assert read(csv).classes == ("education", "film")


@pytest.mark.parametrize(
    "cell",
    ['["wren", "robin"]', "['wren', 'robin']", "{'wren', 'robin'}", "['wren' 'robin']", '{"wren": 1, "robin": 2}'],
)  # fmt: skip
@pytest.mark.parametrize("name", ["birds", "labels"])
def test_json_and_python_lists_are_guessed(name: str, cell: str) -> None:
    quoted = cell.replace('"', '""')
    csv = f'{name},w\n"{quoted}",1\n"{quoted}",2\n'
    assert (guess(csv).candidates, guess(csv).form) == (name, "json")
    assert read(csv).classes == ("robin", "wren")


@pytest.mark.parametrize("mark", ["/", " & ", " or ", "&", "+"])
def test_common_separators_are_guessed(mark: str) -> None:
    csv = "birds,w\n" + "".join(f"wren{mark}robin,{k}\nrobin,{k}.5\n" for k in range(4))
    assert guess(csv).candidates == "birds"
    assert read(csv).classes == ("robin", "wren")


def test_common_separator_wins_over_rare_one() -> None:
    csv = "labels,w\nblack/white|grey,1\ngrey,2\nblack/white,3\n"
    assert (guess(csv).separator, read(csv).classes) == ("|", ("black/white", "grey"))


@pytest.mark.parametrize("prefix", ["p_", "prob_", "score_", "P(", "probability "])
def test_one_probability_column_per_class_is_guessed(prefix: str) -> None:
    names = [f"{prefix}{label}" for label in ("wren", "robin", "owl")]
    csv = f"id,{','.join(names)},weight_g\n1,0.9,0.06,0.04,9.5\n2,0.4,0.3,0.3,210\n"
    roles = guess(csv)
    assert (roles.score_columns, roles.score_prefix, roles.numbers) == (tuple(names), prefix, ("weight_g",))
    assert (roles.cut, roles.cut_at) == ("mass", 0.95)
    assert read(csv).candidates.tolist() == [[True, True, False], [True, True, True]]


def test_columns_of_votes_are_counted() -> None:
    csv = "votes_wren,votes_robin,w\n3,1,1.5\n0,2,2.5\n"
    roles = guess(csv)
    assert (roles.score_columns, roles.score_prefix, roles.cut) == (("votes_wren", "votes_robin"), "votes_", "all")
    weights = read(csv).candidate_weights
    assert weights.tolist() == [[3, 1], [0, 2]]


def test_probability_columns_named_like_true_labels_are_scores() -> None:
    csv = "wren,robin,truth,w\n0.9,0.1,wren,1\n0.3,0.7,robin,2\n0.5,0.5,wren,3\n"
    assert guess(csv).score_columns == ("wren", "robin")
    assert guess(csv).truth == "truth"


def test_measurements_are_not_scores_of_labels() -> None:
    for head in ("score_math,score_physics", "p_value,p_h"):
        assert guess(f"candidates,{head}\na|b,12,0.1\nb,14,7.2\n").score_columns == ()
        assert guess(f"{head}\n12,0.1\n14,7.2\n").score_columns == ()
    assert guess("is_a,is_b\n1,0\n0,1\n").score_columns == ()


def test_missing_value_markers_are_not_labels() -> None:
    csv = "annotator_1,annotator_2,w\nwren,nan,1\nrobin,wren,2\nNone,wren,3\n"
    assert guess(csv).ignored == ("nan", "None")
    assert read(csv).classes == ("robin", "wren")
    assert guess("labels,w\nwren|robin,1\nNA,2\n").ignored == ("NA",)
    assert guess("labels,w\nwren|NA,1\nrobin,2\n").ignored == ()  # Namibia: without it the row would be certain
    assert guess("labels,w\nwren|robin,1\nrobin,2\n").ignored == ()


def test_votes_as_floats_and_whole_numbers_are_one_class() -> None:
    assert read("annotator_1,annotator_2,w\n1.0,2,1\n,1,2\n2.0,2,3\n").classes == ("1", "2")


def test_lists_of_objects_from_models_are_read() -> None:
    cell = json.dumps([{"label": "film", "score": 0.46}, {"label": "education", "score": 0.31}]).replace('"', '""')
    table = read(f'predictions,w\n"{cell}",1\n"{cell}",2\n')
    assert table.candidate_weights.tolist() == [[0.31, 0.46], [0.31, 0.46]]


def test_measurements_next_to_a_true_label_are_not_scores() -> None:
    csv = "id,p_mean,p_spread,label\n1,0.02,0.3,cat\n2,0.5,0.1,dog\n3,0.2,0.4,cat\n"
    assert guess(csv).score_columns == ()
    assert guess(csv).numbers == ("p_mean", "p_spread")
    assert guess("p_value,p_h,w\n0.01,0.3,1\n0.2,0.1,2\n").score_columns == ()
    named = guess("p_cat,p_dog,label\n0.9,0.1,cat\n0.5,0.5,dog\n")
    assert (named.score_columns, named.truth) == (("p_cat", "p_dog"), "label")


def test_missing_value_marker_is_not_a_list() -> None:
    roles = guess("animal,w\ncat,1\nN/A,2\ndog,3\ncat,4\ndog,5\n")
    assert roles.candidates is None


@pytest.mark.parametrize(
    "cells",
    [
        ["R&B", "rock", "jazz", "R&B"],
        ["AC/DC", "Queen", "AC/DC", "Abba"],
        ["C++", "C", "Java", "C++"],
        ["and/or", "and", "or", "not"],
        ["12/05", "12/06", "1/2", "12/05"],
        ["black and white or grey", "red", "blue", "red"],
    ],
)
def test_names_with_a_rare_separator_are_not_split(cells: list[str]) -> None:
    csv = "candidates,w\n" + "".join(f"{cell},{k}\n" for k, cell in enumerate(cells))
    assert guess(csv).separator == "|"
    assert set(read(csv).classes) == set(cells)


def test_rare_separators_split_only_plain_numbers() -> None:
    csv = "candidates,w\n3/8,1\n8,2\n3,3\n3/8,4\n"
    assert (guess(csv).separator, read(csv).classes) == ("/", ("3", "8"))


@pytest.mark.parametrize("cells", [["wren:60%|robin:40%", "robin:100%"], ["wren:0,6|robin:0,4", "robin:1,0"]])
def test_percentages_and_decimal_commas_are_weights(cells: list[str]) -> None:
    csv = "labels;w\n" + "".join(f'"{cell}";{k}\n' for k, cell in enumerate(cells))
    assert guess(csv).form == "weighted"
    weights = read(csv).candidate_weights
    assert weights.tolist() == [[0.4, 0.6], [1.0, 0.0]]


def test_decimal_comma_does_not_separate_labels() -> None:
    cells = ["wren:0,6|robin:0,4", "wren:0,9", "robin:0,7", "owl:0,5"]
    csv = "candidates;w\n" + "".join(f"{cell};{k}\n" for k, cell in enumerate(cells))
    assert (guess(csv).separator, read(csv).classes) == ("|", ("owl", "robin", "wren"))


@pytest.mark.parametrize(
    "cells",
    [
        ["12:30|13:45", "12:30", "13:45"],
        ["X:007|Y:012", "X:007", "Y:012"],
        ["ICD10:250|ICD10:401", "ICD10:250", "ICD10:401|ICD10:250"],
        ["Genesis 1:1|Genesis 1:2", "Genesis 1:1", "Genesis 1:2"],
    ],
)
def test_times_codes_and_verses_are_not_weights(cells: list[str]) -> None:
    csv = "candidates,w\n" + "".join(f"{cell},{k}\n" for k, cell in enumerate(cells))
    assert guess(csv).form == "list"
    assert set(read(csv).classes) == {part for cell in cells for part in cell.split("|")}


@pytest.mark.parametrize("mark", ["|", ";"])
def test_comma_inside_names_does_not_separate(mark: str) -> None:
    cells = [f"Smith, John{mark}Doe, Jane", "Doe, Jane", "Smith, John", "Roe, Jim"]
    csv = "candidates,w\n" + "".join(f'"{cell}",{k}\n' for k, cell in enumerate(cells))
    assert read(csv).classes == ("Doe, Jane", "Roe, Jim", "Smith, John")


def test_given_candidate_column_is_read_by_its_cells() -> None:
    cells = read_cells(b"a,b,c\nx|y,x:0.6;y:0.3,\"['x', 'y']\"\nz,z:0.9;x:0.1,\"['z']\"\n")
    found = {name: suggest_reading(cells, [name]) for name in "abc"}
    assert [found[name].candidates for name in "abc"] == list("abc")
    assert [(found[name].form, found[name].separator) for name in "abc"] == [
        ("list", "|"),
        ("weighted", ";"),
        ("json", "|"),
    ]


@pytest.mark.parametrize(
    ("names", "values", "wanted"),
    [
        (("p_wren", "p_owl"), ("0.9", "0.1"), ("p_", "mass", 0.95)),
        (("votes_wren", "votes_owl"), ("3", "1"), ("votes_", "all", 0.0)),
        (("p_wren", "score_owl"), ("0.9", "0.1"), ("", "mass", 0.95)),
        (("wren", "owl"), ("0.9", "0.1"), ("", "mass", 0.95)),
        (("wren", "owl"), ("1", "0"), ("", "all", 0.0)),
        (("p_wren", "owl"), ("3.5", "1"), ("", "all", 0.0)),
    ],
)
def test_given_score_columns_are_read_by_names_and_cells(
    names: tuple[str, str], values: tuple[str, str], wanted: tuple[str, str, float]
) -> None:
    cells = read_cells(f"{','.join(names)}\n{','.join(values)}\n{','.join(values)}\n".encode())
    roles = suggest_reading(cells, names, scores=True)
    assert roles.score_columns == names
    assert (roles.score_prefix, roles.cut, roles.cut_at) == wanted


SCORED = {
    "cat_prob": "0.{}", "dog_prob": "0.{}", "cat (%)": "{}", "dog (%)": "{}", "Cat confidence": "{}",
    "dog.confidence": "{}", "p_cat": "0.{}", "p_dog": "0.{}", "rank(cat)": "{}", "dog_rank": "{}",
    "cat": "0.{}", "dog": "0.{}",
}  # fmt: skip


@pytest.mark.parametrize("names", [list(SCORED)[k : k + 2] for k in range(0, len(SCORED), 2)], ids=str)
def test_scores_of_classes_next_to_candidates_are_not_features(names: list[str]) -> None:
    rows = [
        {"text": f"a pet seen at {k}", "labels": ("cat|dog", "cat", "dog")[k % 3], "wing_mm": k * k % 13}
        | {name: SCORED[name].format(k * 7 % 10) for name in names}
        for k in range(20)
    ]
    cells = read_cells(pd.DataFrame(rows).to_csv(index=False).encode())
    roles = suggest_roles(cells)
    assert (roles.candidates, roles.text, roles.numbers, roles.categories) == ("labels", "text", ("wing_mm",), ())
    doubts = {one.name: one.message for one in find_doubts(LabelTable.from_cells(cells, roles)) if one.stops}
    assert list(doubts) == ["scores-elsewhere"]
    assert all(repr(name) in doubts["scores-elsewhere"] for name in names)


def test_measurements_named_like_other_scores_are_features() -> None:
    rows = [
        {"text": f"a pet seen at {k}", "labels": ("cat|dog", "cat")[k % 2]}
        | {"wind_p": k * k % 13, "test_score": k * 3 % 7}
        for k in range(20)
    ]
    cells = read_cells(pd.DataFrame(rows).to_csv(index=False).encode())
    assert suggest_roles(cells).numbers == ("wind_p", "test_score")


@pytest.mark.parametrize("suffix", ["_prob", " (%)"])
def test_score_columns_with_a_suffix_are_named_after_their_labels(suffix: str) -> None:
    names, prefix = [f"cat{suffix}", f"dog{suffix}"], f"*{suffix}"
    columns = {"text": ["a pet", "two pets"], names[0]: ["0.3", "0.9"], names[1]: ["0.7", "0.1"]}
    frame = pd.DataFrame(columns, dtype="str")
    roles = suggest_reading(frame, names, scores=True)
    assert roles.score_prefix == prefix
    assert LabelTable.from_cells(frame, replace(roles, text="text")).classes == ("cat", "dog")
    known = suggest_roles(frame.assign(label=["dog", "cat"]).astype("str"))
    assert (known.score_columns, known.score_prefix, known.truth) == (tuple(names), prefix, "label")


def test_numbered_voter_of_numbers_votes_like_the_others() -> None:
    table = read("text,ann1,ann2,ann3,rater_count\na pet,1,cat,dog,3\ntwo pets,2,cat,cat,2\nno pet,1,dog,cat,3\n")
    assert table.roles.annotators == ("ann1", "ann2", "ann3")
    assert "ann1" not in table.roles.numbers


def test_list_column_named_like_labels_is_chosen() -> None:
    draw = np.random.default_rng(3)
    foods, kitchens = ["basil", "miso", "ghee", "corn", "butter"], ["french", "indian", "italian", "japanese"]
    frame = pd.DataFrame(
        {
            "recipe_no": [str(1000 + k) for k in range(60)],
            "Ingredients": [", ".join(draw.choice(foods, 3, replace=False)) for _ in range(60)],
            "Cuisine guesses": ["; ".join(draw.choice(kitchens, 1 + k % 3, replace=False)) for k in range(60)],
            "minutes": [str(k % 50) for k in range(60)],
        }
    )
    roles = suggest_roles(frame)
    assert (roles.candidates, roles.separator) == ("Cuisine guesses", ";")
    assert (roles.id, roles.text, roles.numbers) == ("recipe_no", "Ingredients", ("minutes",))
    as_json = frame.assign(
        **{
            name: [json.dumps(cell.split(mark)) for cell in frame[name]]
            for name, mark in (("Ingredients", ", "), ("Cuisine guesses", "; "))
        }
    )
    assert suggest_roles(as_json).candidates == "Cuisine guesses"
