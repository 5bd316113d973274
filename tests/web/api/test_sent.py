"""Bodies are refused at the first thing that does not fit, and nothing in them is taken for something else."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from web.api import sent as bodies
from web.api.made import make_api

PREDICTION = {"row": 1, "scores": {"ant": 0.5, "bee": 2}}
PREDICTIONS: dict[str, Any] = {"model": "net", "key": "k", "predictions": [PREDICTION]}


def test_a_body_takes_nothing_for_something_else() -> None:
    for body in (bodies.AnswerBody, bodies.RowsBody, bodies.PredictionsBody, bodies.SentPrediction):
        assert body.model_json_schema()["additionalProperties"] is False
    with pytest.raises(ValueError, match="flagged"):
        bodies.AnswerBody.model_validate({"token": "t", "kind": "is", "flagged": 1})


@pytest.mark.parametrize(
    ("body", "sent", "words"),
    [
        (bodies.RowsBody, {"rows": [{"a": "1"}, {"a": 1, "b": 2}, {"a": 3}]}, "cell 'a' of row 1 is no text"),
        (bodies.RowsBody, {"rows": [{"a": "x\0"}, {"b": "\0"}]}, "Row 0: It cannot be stored"),
        (bodies.RowsBody, {"rows": [[], []]}, "Row 0 is no"),
        (bodies.AnswerBody, {"token": "t", "kind": "is", "a": 1, "b": 2}, "There is no 'a' here"),
    ],
)
def test_one_fault_of_a_million_is_enough(body: type[bodies.Sent], sent: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words) as refused:
        body.model_validate(sent)
    assert refused.value.error_count() == 1


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ([], "Prediction 1 is no"),
        ({"row": 1}, "Prediction 1 is no"),
        ({"row": 1, "scores": [["ant", 1]]}, "Prediction 1 is no"),
        ({"row": "1", "scores": {}}, "row of prediction 1 is '1'"),
        ({"row": True, "scores": {}}, "row of prediction 1 is True"),
        ({"row": -1, "scores": {}}, "row of prediction 1 is -1"),
        ({"row_id": 7, "scores": {}}, "row_id of prediction 1 is 7"),
        ({"row": 1, "scores": {}, "more": 1}, "There is no 'more' in prediction 1"),
        ({"row": 1, "scores": {"ant": -1}}, "score -1 of 'ant' in prediction 1 is no number of 0 or more"),
        ({"row": 1, "scores": {"ant": "1"}}, "score '1' of 'ant'"),
        ({"row": 1, "scores": {"ant": None}}, "score None of 'ant'"),
        ({"row": 1, "scores": {"ant": float("nan")}}, "score nan of 'ant'"),
        (
            {"row": 1, "scores": {"ant": 1e308}},
            r"score 1e\+308 of 'ant' in prediction 1 is more than 1e\+100. Fix: Div",
        ),
        ({"row": 1, "scores": {"ant": float("inf")}}, "score inf of 'ant' in prediction 1 is more than"),
        (
            {"row": 1, "scores": {"ant": 10**101}},
            "score of many digits of 'ant' in prediction 1 is more than",
        ),
        ({"row": 1, "scores": {"a\0": 1}}, "Prediction 1: It cannot be stored"),
    ],
)
def test_one_prediction_that_does_not_fit_is_named_alone(wrong: Any, words: str) -> None:
    with pytest.raises(ValidationError, match=words) as refused:
        bodies.PredictionsBody.model_validate(PREDICTIONS | {"predictions": [PREDICTION, wrong, wrong]})
    assert refused.value.error_count() == 1


def test_the_example_of_the_document_is_a_body() -> None:
    schema = make_api().openapi()["components"]["schemas"]["PredictionsBody"]
    (example,) = schema["examples"]
    assert len(bodies.PredictionsBody.model_validate(example).predictions) == 2
    assert bodies.PredictionsBody.model_validate(PREDICTIONS).predictions[0].scores == {"ant": 0.5, "bee": 2}
    for wrong in ({"model": ""}, {"key": ""}, {"key": "k" * 101}, {"predictions": []}):
        with pytest.raises(ValidationError):
            bodies.PredictionsBody.model_validate(PREDICTIONS | wrong)
