"""Rows: shown, searched, scored, weighted."""

from __future__ import annotations

import base64
import json
import unicodedata
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from db.entries import LogEntry
from plcore import LabelTable, LearnerSettings, Roles, read_cells
from plcore.loop import EntryKind
from plcore.tables import with_scores
from plcore.tables.media.cells import Media
from tests.conftest import ROOT
from tests.plcore.tables.media.test_pictures import table_of as several_pictures
from tests.plcore.tables.zips import picture
from tests.present import present
from tests.workflow.files.test_finding import ZIP
from tests.workflow.kind_worlds import WORLDS, KindWorld
from tests.workflow.world import small_project
from workflow import importing
from workflow.access import NotFound
from workflow.answering import loop
from workflow.kinds.one_label.rows import scores_given
from workflow.projects import managing
from workflow.rows import finding, reviewing
from workflow.rows.finding import PAGE, ReviewList, Search, folded, rows_with, words_of
from workflow.rows.reviewing import BINS
from workflow.rows.row import row_view, voters_of, votes_in, weight_words, weights_in
from workflow.seat import Seat
from workflow.server.home import Home

# A row as a person sees it, without anything that would reveal the answer


PIXEL = "data:image/png;base64," + base64.b64encode(picture()).decode()


def test_row_view_keeps_cells_and_drops_blanks() -> None:
    cells = pd.DataFrame(
        {
            "id": ["one", "two"],
            "c": ["secret|other", "other"],
            "true": ["secret", "other"],
            "img": [PIXEL, " "],
            "t": ["  a text ", "  "],
            "z": ["1.50", "2"],
            "colour": [" red", "blue"],
            "unused": ["u", "v"],
        },
        dtype="str",
    )
    roles = Roles(candidates="c", truth="true", id="id", image="img", text="t", numbers=("z",), categories=("colour",))
    table = LabelTable.from_cells(cells, roles)
    first, second = row_view(table, 0), row_view(table, 1)
    assert (first.row, first.row_id, first.image, first.text) == (0, "one", PIXEL, "a text")
    assert first.features == (("z", "1.50"), ("colour", " red"))
    assert (second.image, second.text, second.audio) == (None, None, None)
    assert "secret" not in str(asdict(first))


def test_caption_is_shown_but_is_no_feature() -> None:
    cells = pd.DataFrame(
        {"c": ["a|b", "b"], "place": [" North gate ", ""], "day": ["2 Oct", "3 Oct"], "n": ["1", "2"]}, dtype="str"
    )
    table = LabelTable.from_cells(cells, Roles(candidates="c", numbers=("n",), caption=("place", "day")))
    assert row_view(table, 0).caption == (("place", "North gate"), ("day", "2 Oct"))
    assert row_view(table, 1).caption == (("day", "3 Oct"),)
    assert row_view(table, 0).features == (("n", "1"),)
    assert table.features().fit(table).n_features_ == 1


def test_texts_are_shown_in_order_of_file_and_searched() -> None:
    cells = pd.DataFrame(
        {"c": ["a|b", "b"], "p": ["Blue lake", ""], "t": ["one hill", " two"], "day": ["2 Oct", "3 Oct"]}, dtype="str"
    )
    table = LabelTable.from_cells(cells, Roles(candidates="c", text="t", more_texts=("p",), caption=("day",)))
    first, second = row_view(table, 0), row_view(table, 1)
    assert (first.texts, first.text) == ((("p", "Blue lake"), ("t", "one hill")), "one hill")
    assert (second.texts, second.text) == ((("t", "two"),), "two")
    assert (first.caption, second.caption) == ((("day", "2 Oct"),), (("day", "3 Oct"),))
    assert rows_with(table, ["lake"])["lake"].tolist() == [True, False]
    assert finding.rows_holding(table, ["blue", "hill"]).tolist() == [True, False]
    assert not rows_with(table, ["oct"])["oct"].any(), "a caption is not searched"


def test_row_shows_all_images_in_order() -> None:
    table = several_pictures()
    first, second, third = (row_view(table, row) for row in range(3))
    assert first.images == tuple(f"files/{name}" for name in table.media.images_of(0))
    assert (len(first.images), first.image) == (3, first.images[0])
    assert (second.images, third.images) == ((second.image,), (third.image,))
    assert row_view(LabelTable.read_csv(b"candidates,n\na|b,1\nb,2\n"), 0).images == ()
    several = f"{PIXEL}|{PIXEL}"
    inline = LabelTable.read_csv(f'candidates,img,n\na|b,"{several}",1\nb,,2\n'.encode())
    assert row_view(inline, 0).images == (PIXEL, PIXEL)


def test_image_name_with_bar_in_old_table_is_one_image() -> None:
    """Tables stored before a cell could name several."""
    table = several_pictures()
    cells = table.cells.assign(image="a|b.png", second="", third="")
    old = replace(table, _cells=cells, media=Media(images=table.media.images))
    assert row_view(old, 2).images == row_view(table, 2).images


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_neither_truth_nor_labels_are_shown(world: KindWorld) -> None:
    table = world.table()
    roles = table.roles
    hidden = {roles.candidates, roles.truth, *roles.label_columns} - {None}
    assert hidden
    assert not hidden & {name for name, _ in row_view(table, 3).features}


def test_zip_files_are_shown_by_address() -> None:
    upload = importing.read_upload(ZIP)
    table = present(importing.check(upload, upload.suggest_roles()).table)
    assert table.media.images is not None
    shown = row_view(table, 0)
    assert shown.image == f"files/{table.media.images[0]}"


def test_every_row_says_whether_table_has_audio() -> None:
    cells = read_cells(b"candidates,n,song\na|b,1,\nb,2,\n")
    for audio in (None, "song"):
        table = LabelTable.from_cells(cells, Roles(candidates="candidates", numbers=("n",), audio=audio))
        assert {row_view(table, row).heard for row in range(2)} == {audio is not None}


@pytest.mark.parametrize(
    ("candidates", "digits"), [(["1|7", "0"], True), (["1|10", "0"], False), (["1|x", "0"], False)]
)
def test_row_says_whether_all_classes_are_digits(candidates: list[str], *, digits: bool) -> None:
    cells = pd.DataFrame({"c": candidates, "n": ["1", "2"]}, dtype="str")
    table = LabelTable.from_cells(cells, Roles(candidates="c", numbers=("n",)))
    assert row_view(table, 1).digits is digits, "whatever this row's own are"


# Text as a search compares it, in Python and in the browser alike


CASES = json.loads((ROOT / "tests" / "pages" / "scripts" / "folding.json").read_text())
LETTERS = st.text(st.characters(min_codepoint=32, max_codepoint=0x24F, blacklist_categories=("Cc",)), max_size=8)


def one(text: str) -> str:
    (found,) = folded(pa.array([text], pa.large_string())).to_pylist()
    return str(found)


def test_folding_matches_browser_cases(subtests: pytest.Subtests) -> None:
    for text, wanted in CASES:
        with subtests.test(ascii(text)):
            assert one(text) == wanted
            assert one(wanted) == wanted


@given(LETTERS)
def test_folding_ignores_case_and_composition(text: str) -> None:
    assert one(text) == one(unicodedata.normalize("NFD", text)) == one(unicodedata.normalize("NFC", text))
    assert one(one(text)) == one(text)
    if text.upper().lower() == text.lower():  # a long s becomes another letter
        assert one(text) == one(text.upper())


def test_every_text_of_array_is_folded() -> None:
    assert folded(pa.array(["Ä", "B", "Ø"], pa.large_string())).to_pylist() == ["a", "b", "o"]
    assert folded(pa.array([], pa.large_string())).to_pylist() == []
    chunks = pa.chunked_array([["Ä", "B"], ["C", "Ö"]], pa.large_string())
    assert folded(chunks).to_pylist() == ["a", "b", "c", "o"]


# Finding answers: the parts that both kinds of review are made of


NOW = datetime(2026, 3, 1, tzinfo=UTC)
EVERYBODYS, ADA = None, 2
"""Whose answers may be seen."""


def entry(seq: int, kind: str, person: int = 2, target: int | None = None) -> LogEntry:
    return LogEntry(
        project_id=1, seq=seq, kind=kind, row=0, person_id=person, token=f"{seq}", revision=0, at=NOW,
        labels=("wren",), target_seq=target, note="hm", flagged=True,
    )  # fmt: skip


def table() -> LabelTable:
    cells = pd.DataFrame(
        {"id": ["One", "two", "ÄON"], "c": ["a|b", "a", "b"], "t": ["Red bird", "blue BIRD", ""]}, dtype="str"
    )
    return LabelTable.from_cells(cells, Roles(candidates="c", id="id", text="t"))


def test_search_covers_informative_kinds_only() -> None:
    assert finding.checked_kinds(Search()) == finding.SAYS_SOMETHING
    assert not {EntryKind.SKIP, EntryKind.WITHDRAW, EntryKind.CLASS} & set(finding.SAYS_SOMETHING)
    assert finding.checked_kinds(Search(kind="bad")) == ("bad",)
    for kind in ("skip", "withdraw", "class", "shout"):
        with pytest.raises(ValueError, match=f"kind must be one of is, .*Got '{kind}'"):
            finding.checked_kinds(Search(kind=kind))


def test_search_matches_ids_and_texts_in_any_case() -> None:
    def rows(*words: str) -> list[int]:
        return finding.rows_holding(table(), words).nonzero()[0].tolist()

    assert rows() == [0, 1, 2]
    assert rows("bird") == [0, 1]
    assert rows("bird", "one") == [0]
    assert rows("äon") == rows("A\u0308ON") == rows("aon") == [2]
    assert rows("red", "blue") == []


@given(page=st.integers(-5, 50), total=st.integers(0, 1_000))
def test_page_number_is_clamped(page: int, total: int) -> None:
    pages = ReviewList((), total, 0, flagged=0, disagreeing=0, corrected=0).pages
    inside = finding.inside(page, total, PAGE)
    assert 0 <= inside < pages
    assert (pages - 1) * PAGE < max(total, 1) <= pages * PAGE
    if 0 <= page < pages:
        assert inside == page


def test_row_out_of_range_is_not_found() -> None:
    for row in (0, 2):
        finding.check_row(table(), row)
    for row in (-1, 3):
        with pytest.raises(NotFound, match=f"no row {row + 1}"):
            finding.check_row(table(), row)


def test_reviewers_correct_all_and_others_own_answers() -> None:
    answer, others, skipped = entry(1, "is"), entry(2, "bad", 3), entry(3, "skip")
    assert finding.may_correct([answer], ADA)
    assert finding.may_correct([answer], EVERYBODYS)
    assert not finding.may_correct([others], ADA)
    assert finding.may_correct([others], EVERYBODYS)
    for whose in (EVERYBODYS, ADA):
        assert not finding.may_correct([], whose)
        assert not finding.may_correct([skipped], whose)
        assert not finding.may_correct([answer, entry(4, "withdraw", target=1)], whose)
    assert finding.taken_back([answer, entry(4, "withdraw", target=1)]) >= {1}


def test_answer_lines_describe_their_entries() -> None:
    one, names = entry(7, "is"), {2: "Ada"}
    line = finding.answer_line(table(), names, one, ("b",), "a", differs=True)
    assert (line.seq, line.row_id, line.person, line.labels, line.predicted) == (7, "One", "Ada", ("b",), "a")
    assert (line.differs, line.flagged, line.note, line.at) == (True, True, "hm", NOW)
    told: Any = finding.history_line({}, one, ("b",), ("a", "b"), ("b",), None, taken_back=True)
    assert (told.person, told.before, told.after, told.taken_back) == ("", ("a", "b"), ("b",), True)


# The scores of a file against answers: by label, by score, and rows drawn to look at


WEIGHTED = [
    "wren:0.9|robin:0.1", "wren:0.8|robin:0.2", "robin:0.9|wren:0.3", "wren:0.6|tit:0.4", "tit:0.7|robin:0.2",
]  # fmt: skip


def detections(home: Home, owner: int, **settings: object) -> int:
    frame = pd.DataFrame({"c": WEIGHTED * 4, "x": np.arange(20.0)})
    table = LabelTable.from_frame(frame, Roles(candidates="c", form="weighted", numbers=("x",)))
    learner = LearnerSettings(n_neighbors=3, **{"control_share": 0.0} | settings)  # type: ignore[arg-type]
    return managing.create_project(Seat(home, owner), "birds", table, learner)


def say(seat: Seat, row: int, *labels: str, kind: str = "is") -> None:
    question = loop.ask_next(seat, row)
    loop.submit_answer(seat, question.token, kind, labels)


def test_score_shares_are_counted_by_label_above_threshold(home: Home, owner: int) -> None:
    seat = Seat(home, owner, detections(home, owner))
    say(seat, 0, "wren")
    say(seat, 1, "robin")
    say(seat, 2, "robin")
    say(seat, 5, "wren")
    view = present(reviewing.scores(seat, 0.7))
    assert [line.label for line in view.lines] == ["wren", "robin", "tit"]
    assert view.highest == 0.9
    seen = {line.label: (line.seen.scored, line.seen.looked_at, line.seen.right) for line in view.lines}
    assert seen == {"wren": (8, 3, 2), "robin": (4, 1, 1), "tit": (4, 0, 0)}
    assert (view.total.seen.scored, view.total.seen.looked_at, view.total.seen.right) == (16, 4, 3)
    assert view.total.drawn.looked_at == 0
    bins = present(reviewing.scores(seat, 0.7, "wren"))
    assert [(one.looked_at, one.right) for one in bins.bins if one.looked_at] == [(1, 0), (1, 0), (2, 2)]
    assert len(bins.bins) == BINS
    assert bins.edges[-1] == 0.9
    with pytest.raises(ValueError, match="heron"):
        reviewing.scores(seat, 0.7, "heron")


def test_score_review_skips_bad_rows_and_counts_rejected_ones(home: Home, owner: int) -> None:
    seat = Seat(home, owner, detections(home, owner))
    say(seat, 0, kind="bad")
    say(seat, 1, "wren", kind="not")
    view = present(reviewing.scores(seat, 0.7))
    assert (view.total.seen.looked_at, view.total.seen.right) == (1, 0)


def test_score_review_never_asks_blind_checks(home: Home, owner: int) -> None:
    project = detections(home, owner, control_share=0.5)
    seat = Seat(home, owner, project)
    with seat.learner() as opened:
        drawn = set(np.flatnonzero(opened.learner.pool.control_rows).tolist())
        found = scores_given(opened.learner)
    assert found is not None
    assert drawn == set(found.rows[found.drawn].tolist())
    asked = {reviewing.ask_scored(seat, 0.0, "wren").view.row for _ in range(12)}
    assert asked
    assert not asked & drawn


def test_score_review_asks_rows_above_threshold_only(home: Home, owner: int) -> None:
    seat = Seat(home, owner, detections(home, owner))
    asked = {reviewing.ask_scored(seat, 0.85, "wren").view.row for _ in range(20)}
    assert asked <= {0, 5, 10, 15}
    assert len(asked) > 1
    for row in (0, 5, 10, 15):
        say(seat, row, "wren")
    with pytest.raises(reviewing.AnswerError, match="No row with wren at or above this score is left"):
        reviewing.ask_scored(seat, 0.85, "wren")


def test_score_review_needs_scores(home: Home, owner: int) -> None:
    plain = small_project(home, owner)
    assert reviewing.scores(Seat(home, owner, plain), 0.5) is None
    with pytest.raises(reviewing.AnswerError, match="came without scores"):
        reviewing.ask_scored(Seat(home, owner, plain), 0.5, "ant")


# The search by columns finds the same rows as checking each row, for any script and case


TEXT = st.text(st.sampled_from("aAbBßſKkİiéÉ 1\tσΣς"), max_size=5)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6), TEXT, st.booleans())
@example([("STRASSE", "x"), ("straße", "y")], "strasse", True)
@example([("\u212a", "x")], "k", False)
def test_search_matches_brute_force(rows: list[tuple[str, str]], search: str, named: bool) -> None:
    cells = pd.DataFrame(
        {
            "id": [f" {text.strip()}{number}" for number, (text, _) in enumerate(rows)],
            "text": [text for text, _ in rows],
            "kind": [kind for _, kind in rows],
            "candidates": ["x|y"] * len(rows),
        },
        dtype="str",
    )
    roles = Roles(candidates="candidates", id="id" if named else None, text="text", categories=("kind",))
    table = LabelTable.from_cells(cells, roles)
    found = rows_with(table, words_of(search))
    assert list(found) == list(dict.fromkeys(search.casefold().split()))
    for word, held in found.items():
        looked = [word in " ".join((str(name), *texts)).casefold() for name, texts in zip(table.ids, rows, strict=True)]
        assert held.tolist() == looked


def test_search_skips_blank_words_and_matches_row_numbers() -> None:
    cells = pd.DataFrame({"c": ["x|y"], "w": ["1"]}, dtype="str")
    table = LabelTable.from_cells(cells, Roles(candidates="c", numbers=("w",)))
    assert rows_with(table, words_of(" \t")) == {}
    assert rows_with(table, ["1"])["1"].tolist() == [True], "rows without ids are called by their numbers"


# File text for each label of a row


def weights_table(*cells: str, **more: object) -> LabelTable:
    data = "c,w\n" + "".join(f"{cell},{place}\n" for place, cell in enumerate(cells))
    roles = Roles(candidates="c", numbers=("w",), **{"form": "weighted", **more})  # type: ignore[arg-type]
    return LabelTable.read_csv(data.encode(), roles)


def test_whole_number_weights_are_shown_as_votes(subtests: pytest.Subtests) -> None:
    for cells, wanted in [
        (("a:0.456|b:0.3", "b:1"), {"a": "0.46", "b": "0.3"}),
        (("a:12.3456|b:0.5", "b:1"), {"a": "12.35", "b": "0.5"}),
        (("a:3|b:2", "b:1"), {"a": "3 of 5 votes", "b": "2 of 5 votes"}),
        (("a:1|b:1", "b:1|a:2"), {"a": "1 of 2 votes", "b": "1 of 2 votes"}),
        (("a:1|b:1", "b:1|a:2.5"), {"a": "1", "b": "1"}),
        (("a:0.5|b:0.5", "b:1"), {}),
        (("a:1200|b:1", "b:1"), {"a": "1,200 of 1,201 votes", "b": "1 of 1,201 votes"}),
    ]:
        with subtests.test(str(cells)):
            made = weights_table(*cells)
            assert weight_words(made, 0) == wanted
            assert weight_words(made, 0) == wanted, "what is remembered of the table is the same"


def test_added_scores_are_not_votes_and_missing_ones_are_0() -> None:
    scored = with_scores(weights_table("a|b|c", "b|a", form="list"), {0: {"a": 3, "b": 2}}, {"a": [0], "b": [1]}, "net")
    assert weight_words(scored.grown.table, 0) == {"a": "3", "b": "2", "c": "0"}
    assert votes_in(scored.grown.table, 0) == 0


def test_cut_votes_hide_the_total() -> None:
    made = weights_table("a:4|b:1|c:1", "b:3|a:2|c:1", cut="top", cut_at=2.0)
    assert weight_words(made, 0) == {"a": "4 votes", "b": "1 vote", "c": "1 vote"}
    assert weight_words(made, 1) == {"a": "2 votes", "b": "3 votes"}
    assert votes_in(made, 0) == 0


def test_weights_are_counted_as_they_are_reported() -> None:
    votes, scores, alike = (
        weights_table("a:3|b:2", "b:1"),
        weights_table("a:0.75|b:0.25", "b:1"),
        weights_table("a:0.5|b:0.5", "b:1"),
    )
    assert (weights_in(votes, 0), votes_in(votes, 0)) == ({"a": 3.0, "b": 2.0}, 5)
    assert (weights_in(scores, 0), votes_in(scores, 0)) == ({"a": 0.75, "b": 0.25}, 0)
    assert (weights_in(alike, 0), votes_in(alike, 0)) == ({}, 0)


def test_voters_are_named_if_file_has_them() -> None:
    data = b"Ann,Bob,Cy,w\nowl,wren,owl,1\nwren,,,2\n"
    voted = LabelTable.read_csv(data, Roles(annotators=("Ann", "Bob", "Cy"), numbers=("w",)))
    assert voters_of(voted, 0) == {"owl": ("Ann", "Cy"), "wren": ("Bob",)}
    assert voters_of(voted, 1) == {"wren": ("Ann",)}
    assert voters_of(weights_table("a:3|b:2", "b:1"), 0) == {}
