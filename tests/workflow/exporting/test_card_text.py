"""The card as text: its front matter is YAML whatever people wrote, its sections say what is known and no more."""

from __future__ import annotations

import dataclasses
import hashlib
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.workflow.exporting.cards import FACTS
from workflow.exporting.card_text import NOT_GIVEN, CardDetails, write_card

# What a database or a browser never lets in: surrogates, NUL.
any_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)


def card(given: CardDetails | None = None, files: dict[str, str] | None = None, **changes: Any) -> str:
    return write_card(
        dataclasses.replace(FACTS, **changes), given or CardDetails(), files or {}, "Winnow 9.9"
    )


def front_matter(text: str) -> dict[str, Any]:
    start, front, _ = text.split("---\n", 2)
    assert start == ""
    found: dict[str, Any] = yaml.safe_load(front)
    return found


def test_the_front_matter_holds_what_hugging_face_reads() -> None:
    given = CardDetails(license="cc-by-4.0", languages=("en", "de"), annotators="expert-generated")
    assert front_matter(card(given)) == {
        "pretty_name": "Birds",
        "annotations_creators": ["expert-generated", "machine-generated"],
        "language": ["en", "de"],
        "license": "cc-by-4.0",
        "size_categories": ["1K<n<10K"],
        "task_categories": ["audio-classification"],
        "tags": ["winnow", "partial-labels"],
    }


def test_what_is_not_known_is_not_in_the_front_matter() -> None:
    found = front_matter(card(sources={"oracle": 3}))
    assert not {"annotations_creators", "language", "license"} & set(found)


@given(any_text, any_text)
def test_any_text_is_read_back_from_the_front_matter(name: str, license_name: str) -> None:
    found = front_matter(card(CardDetails(license=license_name), name=name))
    assert found["pretty_name"] == name
    assert found["license"] == license_name


@pytest.mark.parametrize(
    ("n", "size"), [(1, "n<1K"), (999, "n<1K"), (1_000, "1K<n<10K"), (999_999, "100K<n<1M"), (10**7, "n>10M")]
)
def test_sizes(n: int, size: str) -> None:
    assert front_matter(card(n_rows=n))["size_categories"] == [size]


def test_each_fact_stands_in_the_card() -> None:
    text = card(
        CardDetails(url="https://example.org/b", origin="A garden.", demographics="Two retired teachers.")
    )
    for line in (
        "# Birds",
        "Songs from a garden.",
        "- Rows: 1,200",
        "- Classes: 2",
        "- Origin of the items: A garden.",
        "- Imported into Winnow: 2026-03-01",
        "- At import: 3.00 candidates a row on average",
        "- Now: 1.20 on average, without rows set aside",
        "- Rows set aside as bad items: 1",
        "- Blind checks drawn: 96",
        "| model | 1,100 |",
        "| wren | 80 | 20 |",
        "- Answers that stand: 100",
        "- Of these by the simulated oracle of a dry run, not by people: 7",
        "- Answers taken back: 5",
        "- Answers a row: 98 rows with 1, 1 row with 2",
        "- When: 2026-03-02 to 2026-03-09",
        "- Median time for an answer, in seconds: 4.0",
        "- Their demographics: Two retired teachers.",
        "| Annotator 1 | 99 | 3 | 2 | 4.2 |",
        f"| Annotator 2 | 1 | 0 | 0 | {NOT_GIVEN} |",
        "| apl | 60 |",
        "- Models in force, in order: plknn, kernelridge",
        "- Version of the model: the log's entry that it stands at: 120",
        "- Tool: Winnow 9.9",
        "| seed | 7 |",
        '| strategy | "apl" |',
        "| Accuracy on checks | 0.900 | 0.800 to 0.950 | 50 |",
        f"| Old | 0.500 | {NOT_GIVEN} | 4 |",
        "Listen twice.\nThen decide.",
        f"- SHA-256 of this text, UTF-8: {hashlib.sha256(FACTS.guidelines.encode()).hexdigest()}",
        f"- SHA-256 of the table as Winnow keeps it, rows that were added included: {'ab' * 32}",
        f"- Head of the log, 130 entries: {'cd' * 32}",
        f"- SHA-256 of the description, UTF-8: {hashlib.sha256(FACTS.description.encode()).hexdigest()}",
    ):
        assert f"\n{line}\n" in text, line


def test_what_nobody_gave_says_so() -> None:
    text = card(description="", guidelines="", first=None, last=None, seconds=None, per_row={})
    for line in (
        f"Description: {NOT_GIVEN}.",
        f"- Origin of the items: {NOT_GIVEN}",
        f"- Web page: {NOT_GIVEN}",
        f"- Answers a row: {NOT_GIVEN}",
        f"- When: {NOT_GIVEN}",
        f"- Median time for an answer, in seconds: {NOT_GIVEN}",
        f"- Who the annotators are: {NOT_GIVEN}",
        f"- Their demographics: {NOT_GIVEN}",
        f"Guidelines for the annotators: {NOT_GIVEN}.",
        f"- Uses: {NOT_GIVEN}",
        f"- Licence: {NOT_GIVEN}",
        f"- SHA-256 of the description, UTF-8: {NOT_GIVEN}",
    ):
        assert f"\n{line}\n" in text, line


def test_without_a_measure_it_says_why() -> None:
    text = card(described=dataclasses.replace(FACTS.described, measures=()))
    assert "Not measured: no test rows and no answered blind checks, or no model yet." in text


def test_files_are_named_with_their_hashes() -> None:
    assert "\n- SHA-256 of birds.parquet: 0a1b\n" in card(files={"birds.parquet": "0a1b"})


def test_names_cannot_break_a_table_or_a_heading() -> None:
    label = dataclasses.replace(FACTS.described.labels[0], label="a|b\n# <b>c")
    text = card(name="x\n# y", described=dataclasses.replace(FACTS.described, labels=(label,)))
    assert r"| a\|b \# \<b\>c | 80 | 20 |" in text
    assert "\n# x \\# y\n" in text


def test_names_are_shown_as_they_are() -> None:
    """No entity becomes its character, nothing is struck through, and nothing between dollars becomes a formula."""
    assert "\n# \\&lt; \\~\\~old\\~\\~ \\$x\\$\n" in card(name="&lt; ~~old~~ $x$")


def test_one_of_a_thing_is_one() -> None:
    text = card(per_row={2: 1}, entries=1)
    assert "\n- Answers a row: 1 row with 2\n" in text
    assert f"\n- Head of the log, 1 entry: {'cd' * 32}\n" in text


def test_guidelines_cannot_leave_their_fence() -> None:
    text = card(guidelines="```\n# not a heading\n````")
    assert "`````text\n```\n# not a heading\n````\n`````\n" in text


def test_a_span_of_one_day_has_two_equal_ends() -> None:
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    assert "- When: 2026-05-01 to 2026-05-01\n" in card(first=noon, last=noon)


def test_details_are_told_as_a_person_types_them() -> None:
    told = CardDetails.told({"license": " mit ", "languages": "en, de fr", "uses": " "}, named=True)
    assert told == CardDetails(license="mit", languages=("en", "de", "fr"), named=True)
    assert CardDetails.told({}) == CardDetails()
