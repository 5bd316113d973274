"""The bodies that programs send, each refused at the first thing in it that does not fit."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from workflow.common.pressed import storable
from workflow.importing import predictions
from workflow.importing.predictions import is_score, why_no_score

Text = Annotated[str, AfterValidator(storable)]
"""What a database takes."""


def _cells_are_texts(rows: Any) -> Any:
    """The rows, each a dict of texts that a database takes. Raises ValueError at the first that is none: pydantic would
    list every cell of a million, and hold up everybody meanwhile."""
    for number, row in enumerate(rows if isinstance(rows, list) else ()):
        if not isinstance(row, dict):
            raise ValueError(f"Row {number} is no {{column: cell}}.")
        for column, cell in row.items():
            if not isinstance(cell, str):
                raise ValueError(f'The cell {column[:50]!r} of row {number} is no text. Fix: send "1" for 1.')
        try:
            storable("".join((*row, *row.values())))
        except ValueError as error:
            raise ValueError(f"Row {number}: {error}") from error
    return rows


class Sent(BaseModel):
    """A body: what it does not know is refused, and nothing is taken for something else."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _knows_all(cls, sent: Any) -> Any:
        """Refuses the first that it does not know, of a million perhaps, which pydantic would list."""
        names = sent if isinstance(sent, dict) else ()
        unknown = next((name for name in names if name not in cls.model_fields), None)
        if unknown is not None:
            raise ValueError(
                f"There is no {unknown[:50]!r} here. Fix: send {', '.join(cls.model_fields)} alone."
            )
        return sent


class AnswerBody(Sent):
    """An answer to a question."""

    token: Annotated[Text, Field(min_length=1, max_length=200)]
    kind: Annotated[Text, Field(max_length=20, description="One of the question's `answers`.")]
    labels: Annotated[list[Annotated[Text, Field(max_length=1_000)]], Field(max_length=5_000)] = []
    note: Annotated[Text, Field(max_length=10_000)] | None = None
    flagged: bool = False
    shown: Annotated[Text, Field(max_length=200)] | None = None


class RowsBody(Sent):
    """Rows to add, all or none."""

    rows: Annotated[
        list[dict[Annotated[str, Field(max_length=1_000)], Annotated[str, Field(max_length=100_000)]]],
        BeforeValidator(_cells_are_texts),
        Field(
            min_length=1, max_length=10_000, description="Each {column: cell}, as a CSV file would have them."
        ),
    ]


def _predictions_fit(sent: Any) -> Any:
    """The predictions, each of a row, with scores that are numbers. Raises ValueError at the first that is none."""
    for place, one in enumerate(sent if isinstance(sent, list) else ()):
        scores = one.get("scores") if isinstance(one, dict) else None
        if not isinstance(scores, dict):
            raise ValueError(f"Prediction {place} is no {{row, scores: {{class: score}}}}.")
        for name, value in one.items():
            if name not in SentPrediction.model_fields:
                raise ValueError(f"There is no {name[:50]!r} in prediction {place}.")
            fits = {"row": type(value) is int and value >= 0, "row_id": isinstance(value, str)}
            if value is not None and not fits.get(name, True):
                what = "a number from 0" if name == "row" else "a text"
                raise ValueError(f"The {name} of prediction {place} is {value!r:.50}. Fix: send {what}.")
        for name, score in scores.items():
            if not is_score(score):
                why, fix = why_no_score(score)
                where = f"of {name[:50]!r} in prediction {place}"
                raise ValueError(f"The score {_said(score)} {where} {why}. Fix: {fix}")
        try:
            storable("".join(scores))
        except ValueError as error:
            raise ValueError(f"Prediction {place}: {error}") from error
    return sent


def _said(value: Any) -> str:
    """It, short; an integer of thousands of digits is no text."""
    return "of many digits" if isinstance(value, int) and abs(value) > 10**50 else f"{value!r:.50}"


class SentPrediction(Sent):
    """What another model says of one row, which is named by its number or by its id."""

    row: Annotated[int, Field(ge=0, le=2**31 - 1, description="Its number, from 0.")] | None = None
    row_id: Annotated[Text, Field(max_length=100_000)] | None = None
    scores: dict[str, Annotated[float, Field(ge=0)]] = Field(
        description="Of its candidates, by the name of the class: probabilities, or any numbers of 0 or more. A "
        "candidate that is not named has 0."
    )


class PredictionsBody(Sent):
    """Another model's scores, which weigh the candidates of these rows from here on."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "model": "net of May",
                    "key": "5f0c6b4e-nightly",
                    "predictions": [
                        {"row": 0, "scores": {"wren": 0.81, "robin": 0.12}},
                        {"row_id": "clip-17", "scores": {"robin": 3}},
                    ],
                }
            ]
        }
    )

    model: Annotated[
        Text, Field(min_length=1, max_length=predictions.LONGEST, description="What people call it.")
    ]
    key: Annotated[
        Text,
        Field(
            min_length=1,
            max_length=predictions.LONGEST,
            description="Names this sending: the same sent again under the same key is stored once.",
        ),
    ]
    predictions: Annotated[
        list[SentPrediction],
        BeforeValidator(_predictions_fit),
        Field(min_length=1, max_length=predictions.MOST),
    ]
