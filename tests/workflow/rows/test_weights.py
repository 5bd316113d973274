"""What a file says for each label of a row, in words."""

from __future__ import annotations

import pytest

from plcore import LabelTable, Roles
from plcore.tables import with_scores
from workflow.rows.row import voters_of, votes_in, weight_words, weights_in


def table(*cells: str, **more: object) -> LabelTable:
    data = "c,w\n" + "".join(f"{cell},{place}\n" for place, cell in enumerate(cells))
    roles = Roles(candidates="c", numbers=("w",), **{"form": "weighted", **more})  # type: ignore[arg-type]
    return LabelTable.read_csv(data.encode(), roles)


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        (("a:0.456|b:0.3", "b:1"), {"a": "0.46", "b": "0.3"}),
        (("a:12.3456|b:0.5", "b:1"), {"a": "12.35", "b": "0.5"}),
        (("a:3|b:2", "b:1"), {"a": "3 of 5 votes", "b": "2 of 5 votes"}),
        (("a:1|b:1", "b:1|a:2"), {"a": "1 of 2 votes", "b": "1 of 2 votes"}),
        (("a:1|b:1", "b:1|a:2.5"), {"a": "1", "b": "1"}),
        (("a:0.5|b:0.5", "b:1"), {}),
        (("a:1200|b:1", "b:1"), {"a": "1,200 of 1,201 votes", "b": "1 of 1,201 votes"}),
    ],
)
def test_weights_are_votes_where_all_of_the_table_are_whole(
    cells: tuple[str, ...], wanted: dict[str, str]
) -> None:
    made = table(*cells)
    assert weight_words(made, 0) == wanted
    assert weight_words(made, 0) == wanted, "what is remembered of the table is the same"


def test_what_a_model_gave_later_is_no_vote_and_nothing_is_0() -> None:
    scored = with_scores(
        table("a|b|c", "b|a", form="list"), {0: {"a": 3, "b": 2}}, {"a": [0], "b": [1]}, "net"
    )
    assert weight_words(scored.grown.table, 0) == {"a": "3", "b": "2", "c": "0"}
    assert votes_in(scored.grown.table, 0) == 0


def test_votes_that_were_cut_away_are_not_counted_as_if_they_had_never_been() -> None:
    made = table("a:4|b:1|c:1", "b:3|a:2|c:1", cut="top", cut_at=2.0)
    assert weight_words(made, 0) == {"a": "4 votes", "b": "1 vote", "c": "1 vote"}
    assert weight_words(made, 1) == {"a": "2 votes", "b": "3 votes"}
    assert votes_in(made, 0) == 0


def test_weights_are_counted_as_they_are_said() -> None:
    votes, scores, alike = table("a:3|b:2", "b:1"), table("a:0.75|b:0.25", "b:1"), table("a:0.5|b:0.5", "b:1")
    assert (weights_in(votes, 0), votes_in(votes, 0)) == ({"a": 3.0, "b": 2.0}, 5)
    assert (weights_in(scores, 0), votes_in(scores, 0)) == ({"a": 0.75, "b": 0.25}, 0)
    assert (weights_in(alike, 0), votes_in(alike, 0)) == ({}, 0)


def test_who_named_a_label_is_told_where_the_file_says_it() -> None:
    data = b"Ann,Bob,Cy,w\nowl,wren,owl,1\nwren,,,2\n"
    voted = LabelTable.read_csv(data, Roles(annotators=("Ann", "Bob", "Cy"), numbers=("w",)))
    assert voters_of(voted, 0) == {"owl": ("Ann", "Cy"), "wren": ("Bob",)}
    assert voters_of(voted, 1) == {"wren": ("Ann",)}
    assert voters_of(table("a:3|b:2", "b:1"), 0) == {}
