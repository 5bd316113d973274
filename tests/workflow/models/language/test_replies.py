"""Requests for one row, and replies read as candidates with weights."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from tests.fake_model import labels, logprobs
from workflow.models.language.replies import ModelReply, ReplyError, Shortlist, read_reply
from workflow.models.language.requests import MOST_CLASSES, LabelTask, Tokens

ORDER = (2, 0, 1)


def response(content: object, **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content, **more.pop("message", {})}, **more}]}


def read(content: object, order: tuple[int, ...] = ORDER, **more: Any) -> Shortlist:
    return read_reply(ModelReply.from_response(response(content, **more)), order)


def test_reply_with_weights_is_normalised() -> None:
    assert read(labels((1, 60), (3, 20))) == Shortlist("listed", "weights", {2: 0.75, 1: 0.25})


def test_reply_with_logprobs_of_one_token_uses_them() -> None:
    content = labels((1, 50), (2, 50))
    tops = {"1": math.log(0.6), "2": math.log(0.2), "3": math.log(0.1), '"': math.log(0.1)}
    found = read(content, logprobs=logprobs(content, tops))
    assert (found.outcome, found.scores) == ("listed", "logprobs")
    assert found.shares == pytest.approx({2: 0.75, 0: 0.25}), "normalised over the listed classes"


def test_listed_class_beyond_the_top_tokens_gets_the_smallest_of_them() -> None:
    content = labels((1, 50), (2, 50))
    found = read(content, logprobs=logprobs(content, {"1": math.log(0.6), "3": math.log(0.2)}))
    assert found.shares == pytest.approx({2: 0.75, 0: 0.25})


def test_numbers_split_into_digits_use_stated_weights() -> None:
    order, content = tuple(range(12)), labels((12, 80), (1, 20))
    digits = {"content": [{"token": one, "logprob": -0.1, "top_logprobs": []} for one in content]}
    assert read(content, order, logprobs=digits) == Shortlist("listed", "weights", {11: 0.8, 0: 0.2})
    content = labels((1, 80), (12, 20))  # the token 1 may begin 10, 11 or 12
    tops = [{"token": one, "logprob": -1.0} for one in "123"]
    digits = {"content": [{"token": one, "logprob": -0.1, "top_logprobs": tops} for one in content]}
    assert read(content, order, logprobs=digits).scores == "weights"


@pytest.mark.parametrize("empty", [None, {}, {"content": None}, {"content": []}, {"content": [{"token": "1"}]}])
def test_accepted_but_missing_logprobs_use_stated_weights(empty: object) -> None:
    assert read(labels((1, 1)), logprobs=empty).scores == "weights"


@pytest.mark.parametrize("weight", [None, "much", -1, True, float("nan")])
def test_reply_without_weights_uses_ranks(weight: object) -> None:
    assert read(labels((3, weight), (1, 10))) == Shortlist("listed", "ranks", {1: 2 / 3, 2: 1 / 3})


def test_none_of_these_keeps_every_class() -> None:
    assert read(labels((0, 90), (1, 10))) == read(labels((1, 10), (0, 90))) == read(labels()) == Shortlist("none")
    assert read(labels((1, 90), (0, 10))).shares == {2: 1.0}


def test_broken_reply_keeps_every_class(subtests: pytest.Subtests) -> None:
    for content in ["", None, "I cannot.", '{"labels": [{"number": 1, "wei', labels((9, 50)), "[1]"]:
        with subtests.test(str(content)):
            assert read(content) == Shortlist("broken")


def test_refusal_keeps_every_class() -> None:
    assert read(None, message={"refusal": "No."}) == Shortlist("refused")
    assert read(labels((1, 1)), finish_reason="content_filter") == Shortlist("refused")


def test_wrong_and_repeated_numbers_are_left_out() -> None:
    assert read(labels((9, 50), (2, 30), (2, 60), (-1, 3))) == Shortlist("listed", "weights", {0: 1.0})


def test_reply_with_words_around_it_and_more_than_five_classes_is_read() -> None:
    many = labels(*((number, 10) for number in range(1, 8)))
    found = read(f"<think>2?</think> ```json\n{many}\n```", tuple(range(7)))
    assert found.shares == dict.fromkeys(range(5), 0.2)


def test_response_of_another_kind_is_an_error(subtests: pytest.Subtests) -> None:
    for wrong in [None, [], {}, {"choices": []}, {"choices": [{}]}, {"error": "x"}]:
        with subtests.test(str(wrong)), pytest.raises(ReplyError):
            ModelReply.from_response(wrong)


def test_reply_survives_the_journal() -> None:
    content = labels((1, 1))
    reply = ModelReply.from_response(
        {
            **response(content, logprobs=logprobs(content, {"1": -0.5})),
            "usage": {"prompt_tokens": 3, "completion_tokens": 4},
        }
    )
    assert reply.tokens == Tokens(3, 4)
    assert ModelReply.from_json(json.loads(json.dumps(reply.to_json()))) == reply


def test_classes_are_shuffled_by_row_and_seed() -> None:
    names = dict.fromkeys("abcdefgh", "")
    orders = [one.order for one in LabelTask(names).requests(["x"] * 50)]
    assert len(set(orders)) > 40
    assert all(sorted(one) == list(range(8)) for one in orders)
    assert orders == [one.order for one in LabelTask(names).requests(["x"] * 50)]
    assert orders != [one.order for one in LabelTask(names, seed=1).requests(["x"] * 50)]


def test_request_numbers_classes_in_its_order_with_their_descriptions() -> None:
    (request,) = LabelTask({"wren": "a small bird", "emu": ""}, "Birds of a garden.").requests(["sings"])
    system, user = (one["content"] for one in request.messages)
    listed = {"wren": "wren (a small bird)", "emu": "emu"}
    numbered = "\n".join(f"{n}: {listed[('wren', 'emu')[place]]}" for n, place in enumerate(request.order, start=1))
    assert system.endswith(f"Birds of a garden.\n\nClasses:\n0: none of these\n{numbered}")
    assert user == "sings"
    body = request.body("m", schema=True, logprobs=True)
    assert (body["temperature"], body["max_tokens"], body["top_logprobs"]) == (0, 200, 20)
    number = body["response_format"]["json_schema"]["schema"]["properties"]["labels"]["items"]["properties"]["number"]
    assert number["enum"] == [0, 1, 2]
    assert {"response_format", "logprobs"} & set(request.body("m", schema=False, logprobs=False)) == set()
    assert request.most.read > sum(len(one["content"].encode()) for one in request.messages)


def test_many_classes_are_cut_to_those_named_like_the_text() -> None:
    names = dict.fromkeys([*(f"thing_{number}" for number in range(70)), "card_arrival", "lost_pin"], "")
    first, second = LabelTask(names).requests(["Where is my card?", "I lost my PIN"])
    assert len(first.order) == len(second.order) == MOST_CLASSES
    assert 70 in first.order
    assert 71 in second.order
