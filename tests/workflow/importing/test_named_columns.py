"""What a person names is laid over the guess: columns leave their roles, pairs stay pairs, nothing is said in vain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import Roles, TableError
from tests.workflow import vector_world
from workflow.importing.named_columns import CUT_AT, adjusted, freed, newly_named

CELLS = pd.DataFrame(
    {
        **{name: ["1", "2"] for name in "ciwxyt"},
        "bars": ["a|b", "b"],
        "shares": ["a:0.6;b:0.4", "b:1"],
        "json": ['["a", "b"]', '["b"]'],
        "p_a": ["0.9", "0.2"],
        "p_b": ["0.1", "0.8"],
        "votes_a": ["2", "0"],
        "votes_b": ["1", "3"],
    },
    dtype="str",
)
GUESS = Roles(candidates="c", truth="t", id="i", text="w", numbers=("x", "y"))
SCORES = Roles(score_columns=("p_a", "p_b"), score_prefix="p_", cut="mass", cut_at=0.95, numbers=("x",))
PAIRS = Roles(choices=("c", "i"), choice_scores=("x", "y"), text="w")


@pytest.mark.parametrize(
    ("chosen", "wanted"),
    [
        ({}, GUESS),
        ({"truth": None}, GUESS),
        ({"truth": "x"}, replace(GUESS, truth="x", numbers=("y",))),
        ({"truth": ""}, replace(GUESS, truth=None)),
        ({"text": "t"}, replace(GUESS, text="t", truth=None)),
        ({"candidates": "t"}, replace(GUESS, candidates="t", truth=None)),
        ({"separator": "x"}, replace(GUESS, separator="x")),
        ({"id": "c"}, replace(GUESS, id="c", candidates=None)),
        ({"numbers": [""]}, replace(GUESS, numbers=())),
        ({"numbers": ["y", ""]}, replace(GUESS, numbers=("y",))),
        ({"candidates": "absent"}, replace(GUESS, candidates="absent")),
    ],
)
def test_a_column_that_is_named_leaves_the_role_it_was_guessed_for(
    chosen: dict[str, Any], wanted: Roles
) -> None:
    assert adjusted(GUESS, chosen, CELLS) == wanted


def test_further_images_leave_with_the_first_and_a_caption_takes_its_column() -> None:
    guess = replace(GUESS, image="bars", more_images=("json", "shares"))
    assert adjusted(guess, {"more_images": ["json"]}, CELLS).picture_columns == ("bars", "json")
    assert adjusted(guess, {"image": ""}, CELLS).picture_columns == ()
    assert adjusted(guess, {"text": "bars"}, CELLS).picture_columns == ()
    found = adjusted(guess, {"caption": ["w", "shares"]}, CELLS)
    assert (found.caption, found.text, found.more_images) == (("w", "shares"), None, ("json",))
    assert adjusted(guess, {"caption": [""]}, CELLS) == guess


def test_candidates_that_are_named_are_no_label_vectors() -> None:
    found = adjusted(vector_world.ROLES, {"candidates": "bars"}, CELLS)
    assert (found.candidates, found.label_columns, found.label_vectors) == ("bars", (), False)
    votes = Roles(annotators=("c", "i"), numbers=("x",))
    assert adjusted(votes, {"candidates": "c"}, CELLS).annotators == ()
    lists = adjusted(vector_world.ROLES, {"candidates": "json", "label_vectors": True}, CELLS)
    assert (lists.form, lists.label_vectors) == ("json", True)


@pytest.mark.parametrize(
    ("column", "form", "separator"),
    [("bars", "list", "|"), ("shares", "weighted", ";"), ("json", "json", "|")],
)
def test_how_a_newly_named_column_is_written_is_guessed_anew(column: str, form: str, separator: str) -> None:
    guess = replace(GUESS, form="weighted", separator="/")
    found = adjusted(guess, {"candidates": column}, CELLS)
    assert (found.form, found.separator) == (form, separator)
    assert newly_named("candidates", [column], CELLS) == {"form": form, "separator": separator}
    told = adjusted(guess, {"candidates": column, "form": "list", "separator": "+"}, CELLS)
    assert (told.form, told.separator) == ("list", "+")
    same = adjusted(replace(guess, candidates=column), {"candidates": column}, CELLS)
    assert (same.form, same.separator) == ("weighted", "/"), "what was guessed of it stays"


def test_how_newly_named_scores_are_read_is_guessed_anew() -> None:
    assert adjusted(SCORES, {"score_columns": ["p_a", "p_b"]}, CELLS) == SCORES
    one = adjusted(SCORES, {"score_columns": ["p_b", "p_a"]}, CELLS)
    assert (one.score_prefix, one.cut, one.cut_at) == ("p_", "mass", 0.95)
    counts = adjusted(SCORES, {"score_columns": ["votes_a", "votes_b"]}, CELLS)
    assert (counts.score_prefix, counts.cut, counts.cut_at) == ("votes_", "all", 0.0)
    told = adjusted(GUESS, {"score_columns": ["p_a", "p_b"], "score_prefix": "", "cut": "top"}, CELLS)
    assert (told.candidates, told.score_prefix, told.cut, told.cut_at) == (None, "", "top", 5.0)


@pytest.mark.parametrize("cut", CUT_AT)
def test_a_cut_goes_with_a_number_of_its_own(cut: str) -> None:
    found = adjusted(SCORES, {"cut": cut}, CELLS)
    assert (found.cut, found.cut_at) == (cut, CUT_AT[cut])
    if cut != "all":
        assert adjusted(SCORES, {"cut": cut, "cut_at": 1.0}, CELLS).cut_at == 1.0
    kept = replace(SCORES, cut_at=0.5)
    assert adjusted(kept, {"cut": "mass"}, CELLS) == kept


@pytest.mark.parametrize(
    ("chosen", "labels", "scores"),
    [
        ({"text": "x"}, ("i",), ("y",)),
        ({"text": "i"}, ("c",), ("x",)),
        ({"text": "c", "id": "y"}, (), ()),
        ({"choice_scores": ["y", "x"]}, ("c", "i"), ("y", "x")),
        ({"choices": ["c"]}, ("c",), ()),
        ({"choices": ["c"], "choice_scores": ["y"]}, ("c",), ("y",)),
    ],
)
def test_a_label_and_its_score_leave_together(
    chosen: dict[str, Any], labels: tuple[str, ...], scores: tuple[str, ...]
) -> None:
    found = adjusted(PAIRS, chosen, CELLS)
    assert (found.choices, found.choice_scores) == (labels, scores)


def test_words_that_mean_nothing_come_to_those_guessed() -> None:
    guess = replace(GUESS, ignored=("nan",))
    assert adjusted(guess, {"ignored": ["?", "nan"]}, CELLS).ignored == ("nan", "?")
    assert adjusted(guess, {"ignored": ["", "?"]}, CELLS).ignored == ("?",)
    assert adjusted(guess, {"ignored": [""]}, CELLS).ignored == ()


@pytest.mark.parametrize(
    ("guess", "chosen", "said"),
    [
        (replace(SCORES, cut="all", cut_at=0.0), {"cut_at": 0.5}, "Nothing is cut at 0.5"),
        (SCORES, {"cut": "all", "cut_at": 0.5}, "Nothing is cut at 0.5"),
        (GUESS, {"cut_at": 2.0}, "Nothing is cut at 2"),
        (GUESS, {"cut": "top", "cut_at": 2.0}, "come without weights"),
        (Roles(label_columns=("x", "y"), text="w"), {"cut": "mass"}, "come without weights"),
        (Roles(choices=("c", "i"), text="w"), {"cut": "top"}, "come without weights"),
        (GUESS, {"score_prefix": "p_"}, "no columns of scores"),
        (SCORES, {"form": "json"}, "No column lists candidates, so a form"),
        (SCORES, {"separator": ";"}, "No column lists candidates, so a separator"),
        (GUESS, {"form": "json", "separator": ";"}, "not split at ';'"),
    ],
)
def test_what_would_change_nothing_is_refused(guess: Roles, chosen: dict[str, Any], said: str) -> None:
    with pytest.raises(TableError, match=said) as error:
        adjusted(guess, chosen, CELLS)
    assert all(problem.fix for problem in error.value.problems)


def test_what_cuts_votes_is_taken() -> None:
    votes = Roles(annotators=("c", "i"), numbers=("x",))
    assert adjusted(votes, {"cut": "top", "cut_at": 1.0}, CELLS).cut == "top"


def test_there_are_no_other_roles() -> None:
    with pytest.raises(ValueError, match="Roles have no 'colour'"):
        adjusted(GUESS, {"colour": "x"}, CELLS)


@given(
    st.lists(st.sampled_from("abcdef"), unique=True, max_size=6),
    st.sets(st.sampled_from("abcdef")),
    st.integers(0, 6),
)
def test_what_is_left_of_pairs_are_those_of_which_nothing_was_taken(
    columns: list[str], taken: set[str], n: int
) -> None:
    labels, scores = columns[: min(n, len(columns) // 2)], columns[::-1][: min(n, len(columns) // 2)]
    found = freed({"choices": labels, "choice_scores": scores, "id": "a", "form": "a"}, taken)
    left = [(a, b) for a, b in zip(labels, scores, strict=True) if not {a, b} & taken]
    assert list(zip(found["choices"], found["choice_scores"], strict=True)) == left
    assert (found["id"], found["form"]) == (None if "a" in taken else "a", "a")
    assert freed(found, taken) == found
