"""Nested records of Argilla, Anthropic and doccano."""

from __future__ import annotations

from tests.plcore.tables.readers.cases import candidates, read_case, says, voters, weights


def test_argilla_responses_are_votes_and_suggestions_weigh() -> None:
    reading = read_case("argilla_nested.json")
    assert weights(reading) == [{"neg": 1, "pos": 1.8}, {"a": 0.6, "b": 0.3}]
    assert voters(reading)[0] == {"neg": ["u1"], "pos": ["u2", "m"]}
    assert reading.cells["text"].tolist() == ["a", "b"]
    assert says(reading, "loses the status of responses")


def test_anthropic_text_and_tool_answers_are_labels() -> None:
    reading = read_case("anthropic_batch.jsonl")
    assert weights(reading)[:2] == [{"cat": 1}, {"cat": 1, "lynx": 1}]
    assert [set(one) for one in weights(reading)[2:]] == [{"cat", "lynx"}, {"cat", "lynx"}]
    assert says(reading, "2 requests failed")


def test_openai_expired_and_refused_requests_are_open() -> None:
    reading = read_case("openai_batch.jsonl")
    assert [set(one) for one in weights(reading)] == [
        {"cat", "lynx"},
        {"cat"},
        {"cat", "lynx"},
        {"cat", "lynx"},
    ]
    assert says(reading, "2 requests failed")


def test_doccano_labels_are_candidates() -> None:
    reading = read_case("doccano_all.jsonl")
    assert candidates(reading) == [{"pos", "urgent"}, {"pos", "urgent"}]
    assert says(reading, "1 row has no label named")
    assert reading.suggest_roles().text == "text"


def test_doccano_old_annotations_are_votes_of_users() -> None:
    reading = read_case("doccano_old.jsonl")
    assert voters(reading) == [{"3": ["1"], "4": ["2"]}]
    assert reading.cells["text"].tolist() == ["a"]
    assert says(reading, "ids of doccano")
