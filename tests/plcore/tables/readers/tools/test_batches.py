"""Output of the batch interface in the layout of its documentation; answers of every kind."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import TableError
from plcore.tables import read_table
from plcore.tables.readers.tools.language_models import BATCHES, GEMINI_BATCHES, LLAMA_CPP, OLLAMA
from tests.plcore.tables.writers.tables import HOSTILE, broken_at, candidates, noted, read_or_refuse, sources
from tests.plcore.tables.zips import make_zip


def tops(*pairs: tuple[str, float]) -> dict[str, Any]:
    """The probabilities of the first token."""
    top = [{"token": token, "logprob": math.log(p), "bytes": None} for token, p in pairs]
    return {"content": [{"token": pairs[0][0], "logprob": math.log(pairs[0][1]), "top_logprobs": top}], "refusal": None}


def line(number: str, *contents: Any, logprobs: Any = None, status: int = 200, error: Any = None) -> dict[str, Any]:
    """A line as the documentation shows it."""
    choices = [
        {
            "index": n,
            "message": {"role": "assistant", "content": one, "refusal": None},
            "logprobs": logprobs,
            "finish_reason": "stop",
        }
        for n, one in enumerate(contents)
    ]
    body = {
        "id": "chatcmpl-A1Efhv97EZ", "object": "chat.completion", "created": 1724858089,
        "model": "gpt-4o-mini", "choices": choices,
    }  # fmt: skip
    response = {"status_code": status, "request_id": "bf0bac0d", "body": body}
    return {"id": f"batch_req_{number}", "custom_id": number, "response": response, "error": error}


def read(*records: dict[str, Any]) -> Any:
    assert BATCHES.fits(list(records))
    return BATCHES.read(list(records))


def test_several_choices_are_votes() -> None:
    reading = read(line("r1", "wren", "wren", " robin\n", "wren"), line("r2", "robin"))
    assert candidates(reading) == [{"wren": 0.75, "robin": 0.25}, {"robin": 1}]
    assert sources(reading) == [{"wren": ["gpt-4o-mini"], "robin": ["gpt-4o-mini"]}, {"robin": ["gpt-4o-mini"]}]
    assert reading.cells["custom_id"].tolist() == ["r1", "r2"]
    assert reading.roles.id == "custom_id"
    assert noted(reading, "table of the rows is needed", "zip")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"label": "wren", "confidence": 0.5, "why": "small"}', {"wren": 0.5}),
        ('{"labels": ["wren", "robin"]}', {"wren": 1, "robin": 1}),
        ('[{"label": "wren", "confidence": 0.75}, {"label": "robin", "p": 0.25}]', {"wren": 0.75, "robin": 0.25}),
        ('{"wren": 0.75, "robin": 0.25}', {"wren": 0.75, "robin": 0.25}),
        ('{"labels": {"wren": 0.75}}', {"wren": 0.75}),
        ('```json\n{"candidates": [{"name": "wren"}]}\n```', {"wren": 1}),
        ('"wren"', {"wren": 1}),
        ("3", {"3": 1}),
        ("true", {"true": 1}),
        ("Winter wren", {"Winter wren": 1}),
        ("[wren", {"[wren": 1}),
        ("```\nwren\n```", {"wren": 1}),
    ],
)  # fmt: skip
def test_content(content: str, expected: dict[str, float]) -> None:
    reading = read(line("r1", content), line("r2", "owl"))
    found = candidates(reading)[0]
    assert (found if isinstance(found, dict) else dict.fromkeys(found, 1)) == expected


def test_weights_of_several_choices_are_shared() -> None:
    reading = read(line("r1", '{"wren": 0.5, "robin": 0.5}', '{"labels": ["wren", "owl"]}'))
    assert candidates(reading) == [{"wren": 0.75, "robin": 0.25, "owl": 0.5}]


def test_failed_requests_leave_rows_open() -> None:
    reading = read(
        line("r1", "wren"),
        line("r2", "robin", status=500),
        {"id": "x", "custom_id": "r3", "response": None, "error": {"code": "batch_expired", "message": "late"}},
        line("r4", None),
        line("r5", "robin", error={"code": "x"}),
    )  # fmt: skip
    assert candidates(reading) == [{"wren": 1}, *[["wren"]] * 4]
    assert noted(reading, "4 requests failed")


def test_first_tokens_distinguish_labels() -> None:
    reading = read(
        line("r1", "wren", logprobs=tops(("w", 0.5), (" w", 0.125), ("rob", 0.25), ("the", 0.05), (" ", 0.01))),
        line("r2", "robin", logprobs=tops(("rob", 0.75))),
    )
    assert candidates(reading)[0] == pytest.approx({"wren": 0.625, "robin": 0.25})
    assert candidates(reading)[1] == pytest.approx({"robin": 0.75})


def test_first_tokens_that_several_labels_have_are_not_read() -> None:
    reading = read(line("r1", "News", logprobs=tops(("New", 0.9))), line("r2", "New York", logprobs=tops(("New", 0.9))))
    assert candidates(reading) == [{"News": 1}, {"New York": 1}]
    assert noted(reading, "not read", "several labels begin with 'New'", "'New York', 'News'")
    reading = read(line("r1", "cat", logprobs=tops(("Cat", 0.9))), line("r2", "dog"))
    assert candidates(reading) == [{"cat": 1}, {"dog": 1}]
    assert noted(reading, "not read", "'cat' begins with none of 'Cat'")


def test_tokens_of_several_choices_or_json_are_ignored() -> None:
    logprobs = tops(("a", 0.5), ("b", 0.5))
    reading = read(line("r1", "a", "a", logprobs=logprobs), line("r2", '["b"]', logprobs=logprobs))
    assert candidates(reading) == [{"a": 1}, {"b": 1}]


def test_prose_is_refused() -> None:
    prose = "I think that this could be a wren, but then again the tail is rather long for one."
    with pytest.raises(TableError) as error:
        read(line("r1", "wren"), line("r2", prose), line("r3", "a wren\nor a robin"))
    assert [problem.row for problem in error.value.problems] == [2, 3]
    assert "the answer is prose and no label: 'I think that this could be a wren, but t…'" in str(error.value)
    assert "Ask the model for only the label" in str(error.value)


@pytest.mark.parametrize("records", [[], [{"custom_id": "a", "body": {}}], [{"response": {}}], [3]])
def test_other_records_do_not_fit(records: list[Any]) -> None:
    assert not BATCHES.fits(records)


FULL = line("r1", "wren", logprobs=tops(("w", 0.5), ("r", 0.25)))


def paths(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [before, *(path for key, one in inside for path in paths(one, (*before, key)))]


@given(st.sampled_from(paths(FULL)[1:]), HOSTILE)
def test_wrong_types_are_refused_with_message_everywhere(path: tuple[Any, ...], value: Any) -> None:
    broken = broken_at(FULL, path, value)
    reading = read_or_refuse(BATCHES.read, [broken, FULL])
    assert reading is None or len(reading.cells) == 2


@given(st.text(max_size=12) | HOSTILE.map(json.dumps))
def test_any_answer_gives_labels_or_is_refused(content: str) -> None:
    read_or_refuse(BATCHES.read, [line("r1", content), line("r2", "wren")])


def test_answers_in_other_layouts_are_read() -> None:
    call = {"function": {"name": "f", "arguments": '{"labels": ["cat", "lynx"]}'}}
    tool = line("r1", None)
    tool["response"]["body"]["choices"][0]["message"]["tool_calls"] = [call]
    output = [{"type": "reasoning", "summary": []}, {"type": "message", "content": [{"text": "cat"}]}]
    responses = {"custom_id": "r2", "response": {"status_code": 200, "body": {"model": "m", "output": output}}}
    old_vllm = line("r3", "lynx")
    old_vllm["response"] = {"model": "m", "choices": old_vllm["response"]["body"]["choices"]}
    ranked = line("r4", '[{"label": "cat", "confidence": "high"}, {"label": "lynx", "confidence": "low"}]')
    reading = read(tool, responses, old_vllm, ranked)
    assert candidates(reading) == [{"cat": 1, "lynx": 1}, {"cat": 1}, {"lynx": 1}, {"cat": 3, "lynx": 1}]


def ended(number: str, content: Any, why: str) -> dict[str, Any]:
    found = line(number, content)
    found["response"]["body"]["choices"][0]["finish_reason"] = why
    return found


def test_truncated_answers_are_left_out() -> None:
    cut = ended("r1", "The cat is", "length")
    prose = ended("r2", "word " * 20, "length")
    filtered = ended("r3", "cat", "content_filter")
    reading = read(cut, prose, filtered, line("r4", "cat"), line("r5", "dog"), ended("r6", "dog", "length"))
    every = ["cat", "dog"]
    assert candidates(reading) == [every, every, every, {"cat": 1}, {"dog": 1}, {"dog": 1}]
    assert noted(reading, "Answers that were cut off (finish_reason length): 2.")
    alone = read(ended("r1", "cat", "length"), ended("r2", "dog", "length"))
    assert candidates(alone) == [{"cat": 1}, {"dog": 1}], "the model may say one token"


@pytest.mark.parametrize(
    "first",
    [
        {"top_logprobs": [{"token": "cat", "logprob": math.log(0.75)}, {"token": " dog", "logprob": math.log(0.25)}]},
        {"token": "cat", "top_probs": [{"token": "cat", "prob": 0.75}, {"token": "dog", "prob": 0.25}]},
        {"content": "cat", "probs": [{"tok_str": "cat", "prob": 0.75}, {"tok_str": "dog", "prob": 0.25}]},
    ],
)  # fmt: skip
def test_completions_of_llama_cpp_weigh_their_first_token(first: dict[str, Any]) -> None:
    one = {"id": "a", "prompt": "which?", "content": " cat", "completion_probabilities": [first], "index": 0}
    other = {"id": "b", "prompt": "this?", "content": "dog", "completion_probabilities": [], "timings": {"ms": 3}}
    reading = LLAMA_CPP.read([one, other])
    assert candidates(reading) == [{"cat": pytest.approx(0.75), "dog": pytest.approx(0.25)}, {"dog": 1}]
    assert list(reading.cells.columns) == ["id", "prompt", "candidates"]


def gemini(number: str, *texts: str, why: str = "STOP", **more: Any) -> dict[str, Any]:
    """A line of Gemini's batch, as its documentation shows it."""
    parts = [{"text": "I wonder.", "thought": True}, *({"text": one} for one in texts)]
    answer = {"content": {"parts": parts, "role": "model"}, "finishReason": why, "index": 0}
    return {"key": number, "response": {"candidates": [answer], "modelVersion": "gemini-2.5-flash"}, **more}


def test_answers_of_gemini_are_read() -> None:
    call = gemini("g2")
    call["response"]["candidates"][0]["content"]["parts"] = [{"functionCall": {"name": "f", "args": {"label": "owl"}}}]
    records = [
        gemini("g1", '["wren", ', '"robin"]'),
        call,
        gemini("g3", "", why="SAFETY"),
        {"key": "g4", "error": {"code": 13, "message": "internal"}},
        gemini("g5", "The bird is", why="MAX_TOKENS"),
    ]
    assert GEMINI_BATCHES.fits(records)
    assert not BATCHES.fits(records)
    reading = GEMINI_BATCHES.read(records)
    every = ["owl", "robin", "wren"]
    assert candidates(reading) == [{"wren": 1, "robin": 1}, {"owl": 1}, every, every, every]
    assert reading.cells["custom_id"].tolist() == ["g1", "g2", "g3", "g4", "g5"]
    assert sources(reading)[0] == {"wren": ["gemini-2.5-flash"], "robin": ["gemini-2.5-flash"]}
    assert noted(reading, "2 requests failed")
    assert noted(reading, "cut off (finish_reason length): 1")


def test_requests_that_vertex_ai_writes_next_to_answers_describe_their_rows() -> None:
    request = {"contents": [{"role": "user", "parts": [{"text": "a small brown bird"}]}], "systemInstruction": {}}
    reading = GEMINI_BATCHES.read(
        [gemini("a", "wren", request=request, status=""), gemini("b", "robin", request=request)]
    )
    assert reading.cells["text"].tolist() == ["a small brown bird"] * 2
    assert reading.suggest_roles().text == "text"


def test_answers_of_ollama_describe_their_rows_by_fields_of_the_user() -> None:
    facts = {"model": "llama3", "created_at": "2024-01-01T00:00:00Z", "done": True, "total_duration": 5}
    generated = {
        **facts,
        "response": '{"labels": ["wren", "robin"]}',
        "context": [1, 2],
        "prompt": "a small brown bird",
    }
    call = {"role": "assistant", "content": "", "tool_calls": [{"function": {"arguments": {"label": "owl"}}}]}
    records = [
        generated,
        {**facts, "message": {"role": "assistant", "content": "wren"}, "prompt": "a bird with a tail up"},
        {**facts, "message": call, "prompt": "a bird of the night"},
        {**facts, "response": "The bird", "done_reason": "length", "prompt": "another bird of the night"},
    ]
    assert OLLAMA.fits(records)
    reading = OLLAMA.read(records)
    every = ["owl", "robin", "wren"]
    assert candidates(reading) == [{"wren": 1, "robin": 1}, {"wren": 1}, {"owl": 1}, every]
    assert list(reading.cells.columns) == ["prompt", "candidates", "sources"]
    assert reading.suggest_roles().text == "prompt"


def asking(number: str, text: str) -> dict[str, Any]:
    messages = [{"role": "system", "content": "Name the bird."}, {"role": "user", "content": text}]
    return {"custom_id": number, "method": "POST", "url": "/v1/chat/completions", "body": {"messages": messages}}


@pytest.mark.parametrize(
    ("requests", "answers"),
    [
        ([asking("1", "a small bird"), asking("2", "a red bird")], [line("2", "robin"), line("1", "wren")]),
        (
            [
                {"custom_id": "1", "body": {"input": "a small bird"}},
                {"custom_id": "2", "body": {"input": [{"role": "user", "content": [{"text": "a red bird"}]}]}},
            ],
            [line("2", "robin"), line("1", "wren")],
        ),
        (
            [
                {"custom_id": number, "params": {"model": "c", "messages": [{"role": "user", "content": text}]}}
                for number, text in (("1", "a small bird"), ("2", "a red bird"))
            ],
            [
                {"custom_id": number, "result": {"type": "succeeded", "message": {"content": [{"text": label}]}}}
                for number, label in (("2", "robin"), ("1", "wren"))
            ],
        ),
        (
            [
                {"key": number, "request": {"contents": [{"parts": [{"text": text}]}]}}
                for number, text in (("1", "a small bird"), ("2", "a red bird"))
            ],
            [gemini("2", "robin"), gemini("1", "wren")],
        ),
    ],
)
def test_requests_in_one_zip_describe_the_rows_of_their_answers(requests: Any, answers: Any) -> None:
    files = {"in.jsonl": requests, "out.jsonl": answers}
    packed = make_zip({name: "\n".join(map(json.dumps, one)).encode() for name, one in files.items()})
    reading = read_table(packed, "batch.zip")
    assert dict(zip(reading.cells["text"], candidates(reading), strict=True)) == {
        "a small bird": {"wren": 1},
        "a red bird": {"robin": 1},
    }
    assert reading.suggest_roles().text == "text"
    assert not noted(reading, "table of the rows is needed")
    with pytest.raises(TableError, match=r"requests of a language model's batch, and no answers.*output"):
        read_table(make_zip({"in.jsonl": "\n".join(map(json.dumps, requests)).encode()}), "batch.zip")


def test_requests_without_an_answer_stay_rows() -> None:
    files = {"in.jsonl": [asking("1", "a small bird"), asking("2", "a red bird")], "out.jsonl": [line("2", "robin")]}
    packed = make_zip({name: "\n".join(map(json.dumps, one)).encode() for name, one in files.items()})
    reading = read_table(packed, "batch.zip")
    assert sorted(reading.cells["text"]) == ["a red bird", "a small bird"]
    assert noted(reading, "1 request failed")


def test_file_with_only_errors_is_refused_with_message() -> None:
    lost = {"custom_id": "r1", "response": None, "error": {"code": "batch_expired"}}
    with pytest.raises(TableError, match=r"Every request \(2\) failed or was refused by the model"):
        read(lost, {**lost, "custom_id": "r2"})
