"""Argilla's flat records, in the layout of its own exporter."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import TableError
from plcore.tables.readers.tools.argilla_prodigy import ARGILLA
from tests.plcore.tables.writers.tables import HOSTILE, candidates, noted, read_or_refuse, sources

ANN, BOB = "3f6b1c1e-0000-0000-0000-000000000001", "3f6b1c1e-0000-0000-0000-000000000002"


def record(
    number: int, *responses: tuple[Any, str, str], suggestion: Any = None, score: Any = None, **others: Any
) -> dict[str, Any]:
    """Responses are (value, user, status)."""
    values, users, statuses = ([one[place] for one in responses] or None for place in range(3))
    return {
        "id": f"r{number}",
        "status": "completed",
        "_server_id": f"server {number}",
        "text": f"a text of number {number}",
        "topic.responses": values,
        "topic.responses.users": users,
        "topic.responses.status": statuses,
        "topic.suggestion": suggestion,
        "topic.suggestion.score": score,
        "topic.suggestion.agent": None if suggestion is None else "a model",
        **others,
    }


def read(*records: dict[str, Any]) -> Any:
    assert ARGILLA.fits(list(records))
    return ARGILLA.read(list(records))


def test_submitted_responses_are_votes() -> None:
    reading = read(
        record(1, ("news", ANN, "submitted"), ("sport", BOB, "submitted")),
        record(2, ("news", ANN, "draft"), ("sport", BOB, "submitted")),
        record(3, ("news", ANN, "discarded")),
    )
    assert candidates(reading) == [{"news": 1, "sport": 1}, {"sport": 1}, ["news", "sport"]]
    assert sources(reading)[0] == {"news": [ANN], "sport": [BOB]}
    assert noted(reading, "Responses that are draft, so no votes: 1.")
    assert noted(reading, "Responses that are discarded, so no votes: 1.")
    assert (reading.roles.id, reading.roles.text) == ("id", "text")
    assert reading.cells["_server_id"].tolist() == ["server 1", "server 2", "server 3"]
    assert not {"topic.responses", "topic.suggestion"} & set(reading.cells.columns)


def test_suggestions_weigh_their_scores() -> None:
    reading = read(
        record(1, suggestion="news", score=0.25),
        record(2, suggestion=["news", "sport"], score=[0.5, 0.125]),
        record(3, suggestion=["news", "sport"], score=0.5),
        record(4, (["sport"], ANN, "submitted"), suggestion="sport"),
    )
    assert candidates(reading) == [
        {"news": 0.25},
        {"news": 0.5, "sport": 0.125},
        {"news": 0.5, "sport": 0.5},
        {"sport": 2},
    ]
    assert sources(reading)[3] == {"sport": [ANN, "a model"]}


def test_question_with_labels_is_read() -> None:
    spans = [{"start": 0, "end": 3, "label": "x"}]
    reading = read(*(
        record(n, ("ab"[n % 2], ANN, "submitted"), **{"why.responses": [f"because {n}"], "spans.suggestion": spans})
        for n in range(4)
    ))  # fmt: skip
    assert candidates(reading) == [{"a": 1}, {"b": 1}, {"a": 1}, {"b": 1}]
    assert noted(reading, "'topic'", "'why'", "'spans'")
    assert reading.cells["why.responses"].tolist()[2] == '["because 2"]'
    assert "why.responses" not in {reading.roles.text, *reading.roles.categories}


def test_other_records_do_not_fit() -> None:
    assert not ARGILLA.fits([])
    assert not ARGILLA.fits([{"text": "a", ".responses": []}])
    assert not ARGILLA.fits([{"text": "a", "suggestion": "b"}, 3])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"topic.responses.users": [ANN, BOB]}, r"'topic.responses.users': expected one for each response \(1\)"),
        ({"topic.responses.status": []}, None),
        (
            {"topic.suggestion": ["a", "b"], "topic.suggestion.score": [1]},
            r"expected a score for each label suggested \(2\)",
        ),
        ({"topic.suggestion": "a", "topic.suggestion.score": -1}, "expected a score, a number from 0 on, got -1"),
        ({"topic.responses": [{"a": 1}]}, "expected a label as text"),
        ({"topic.responses": "a"}, "expected a list, got 'a'"),
    ],
)  # fmt: skip
def test_wrong_records_are_refused(change: dict[str, Any], words: str | None) -> None:
    records = [record(1, ("a", ANN, "submitted")), {**record(2, ("b", ANN, "submitted")), **change}]
    if words is None:
        assert len(ARGILLA.read(records).cells) == 2
    else:
        with pytest.raises(TableError, match=f"Row 2, column .*{words}"):
            ARGILLA.read(records)


def test_input_without_labels_is_refused() -> None:
    with pytest.raises(TableError, match=r"None of the questions 'spans' is answered with labels"):
        ARGILLA.read([{"spans.suggestion": [{"label": "x"}]}])
    with pytest.raises(TableError, match=r"No field ends in \.responses or \.suggestion"):
        ARGILLA.read([{"text": "x"}])


@given(st.sampled_from(sorted(record(1))), HOSTILE)
def test_wrong_types_are_refused_with_message_everywhere(name: str, value: Any) -> None:
    good = record(1, ("a", ANN, "submitted"), suggestion="b", score=0.5)
    reading = read_or_refuse(ARGILLA.read, [good, {**good, name: value}])
    assert reading is None or len(reading.cells) == 2
