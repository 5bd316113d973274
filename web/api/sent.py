"""The bodies that programs send, each refused at the first thing in it that does not fit."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from starlette.background import BackgroundTask
from starlette.responses import JSONResponse, Response

from web import presses
from web.api.calls import BODY_REFUSALS, AnySeat, SeatAt, done, done_at_length, status_of, told
from web.api.shapes import Added, LeasedQuestions, NextQuestion, Outcomes, StoredAnswer, Weighed
from workflow.answering import loop
from workflow.answering.loop import AnswerError, Saved, StaleQuestion
from workflow.answering.press import storable
from workflow.exporting import for_programs
from workflow.importing import encoding, encoding_requests, predictions, row_records
from workflow.importing.predictions import is_score, why_no_score
from workflow.models.encoders import offers, on_server
from workflow.seat import Seat

Text = Annotated[str, AfterValidator(storable)]
"""The input that a database takes."""


def _as_whole(number: object) -> object:
    return int(number) if isinstance(number, float) and number.is_integer() else number


Whole = Annotated[int, BeforeValidator(_as_whole)]
"""A whole number, also if it is written as 3.0, which is the same in JSON."""


def _cells_are_texts(rows: object) -> object:
    """The rows, each a dict of texts that a database takes. Raises ValueError at the first that is none: pydantic would
    list every cell of a million, and hold up everyone meanwhile."""
    for number, row in enumerate(rows if isinstance(rows, list) else ()):
        if not isinstance(row, dict):
            raise ValueError(f"Row {number} must be an object {{column: cell}}.")
        for column, cell in row.items():
            if not isinstance(cell, str):
                raise ValueError(f'The cell {column[:50]!r} of row {number} must be text. Fix: send "1" for 1.')
        try:
            storable("".join((*row, *row.values())))
        except ValueError as error:
            raise ValueError(f"Row {number}: {error}") from error
    return rows


class Sent(BaseModel):
    """A request body: unknown fields are refused, and types are not converted."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _knows_all(cls, sent: object) -> object:
        """Refuses the first that it does not know, of a million perhaps, which pydantic would list."""
        names = sent if isinstance(sent, dict) else ()
        unknown = next((name for name in names if name not in cls.model_fields), None)
        if unknown is not None:
            raise ValueError(f"There is no {unknown[:50]!r} here. Fix: send {', '.join(cls.model_fields)} alone.")
        return sent


class Answer(Sent):
    """Any answer."""

    kind: Annotated[
        Text,
        Field(
            max_length=20,
            description="One of the question's `answers`.",
            json_schema_extra={"enum": [*for_programs.ANSWERS]},
        ),
    ]
    labels: Annotated[list[Annotated[Text, Field(max_length=1_000)]], Field(max_length=5_000)] = []
    note: Annotated[Text, Field(max_length=10_000)] | None = None
    flagged: bool = False
    shown: Annotated[Text, Field(max_length=200)] | None = None


class AnswerBody(Answer):
    """An answer to a question."""

    token: Annotated[Text, Field(min_length=1, max_length=200)]


class RowAnswerBody(Answer):
    """An answer about a row."""

    key: Annotated[
        Text,
        Field(
            min_length=1,
            max_length=200,
            description="Key of this answer: the same answer with the same key is stored once.",
        ),
    ]
    label: (
        Annotated[Text, Field(max_length=1_000, description="The label that it is about; null: the whole row.")] | None
    ) = None


class RowAnswer(RowAnswerBody):
    """One of many answers about rows."""

    row: Annotated[Whole, Field(ge=0, le=2**31 - 1, description="Row number, from 0.")]


class AnswersBody(Sent):
    """Answers about rows, each stored or refused separately."""

    answers: Annotated[list[RowAnswer], Field(min_length=1, max_length=500)]


class EncoderBody(Sent):
    """An encoder of the list that `GET` gives."""

    encoder: Annotated[Text, Field(min_length=1, max_length=100)]
    non_commercial: bool = Field(False, description="I use this for no commercial purpose.")


class RowsBody(Sent):
    """Rows to add, all or none."""

    rows: Annotated[
        list[dict[Annotated[str, Field(max_length=1_000)], Annotated[str, Field(max_length=100_000)]]],
        BeforeValidator(_cells_are_texts),
        Field(min_length=1, max_length=10_000, description="Each {column: cell}, as a CSV file would have them."),
    ]
    accept: Annotated[
        list[Annotated[Text, Field(max_length=100)]],
        Field(
            max_length=100,
            description="Names of doubts that stop the import otherwise: the rows are right as they are read. "
            "Names that do not apply are ignored.",
        ),
    ] = []
    dry_run: Annotated[bool, Field(description="Store nothing: the reply describes the result.")] = False


def _predictions_fit(sent: object) -> object:
    """The predictions, each of a row, with scores that are numbers. Raises ValueError at the first that is none."""
    for place, one in enumerate(sent if isinstance(sent, list) else ()):
        scores = one.get("scores") if isinstance(one, dict) else None
        if not isinstance(scores, dict):
            raise ValueError(f"Prediction {place} must be an object {{row, scores: {{class: score}}}}.")
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


def _said(value: object) -> str:
    """It, short; an integer of thousands of digits is not a text."""
    return "of many digits" if isinstance(value, int) and abs(value) > 10**50 else f"{value!r:.50}"


class SentPrediction(Sent):
    """Another model's scores of one row, named by number or id."""

    row: Annotated[Whole, Field(ge=0, le=2**31 - 1, description="Row number, from 0.")] | None = None
    row_id: Annotated[Text, Field(max_length=100_000)] | None = None
    scores: dict[str, Annotated[float, Field(ge=0)]] = Field(
        description="Scores of its candidates, by class name: probabilities, or any numbers of at least 0. "
        "Candidates that are not named have 0."
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

    model: Annotated[Text, Field(min_length=1, max_length=predictions.LONGEST, description="Name that people see.")]
    key: Annotated[
        Text,
        Field(
            min_length=1,
            max_length=predictions.LONGEST,
            description="Key of this request: the same request with the same key is stored once.",
        ),
    ]
    predictions: Annotated[
        list[SentPrediction], BeforeValidator(_predictions_fit), Field(min_length=1, max_length=predictions.MOST)
    ]


# Calls that store something: a question for the person, an answer, more rows, another model's scores.

router = APIRouter(responses=BODY_REFUSALS, tags=["Label"])


@router.post("/projects/{project}/question", response_model=NextQuestion, summary="The next question")
async def question(seat: SeatAt) -> Response:
    """The person's open question, or a new one, reserved for some minutes. A second call returns the same."""
    return await told(lambda: NextQuestion.model_validate({"question": for_programs.question_for(seat)}))


@router.post("/projects/{project}/questions", response_model=LeasedQuestions, summary="Lease several questions")
async def questions(
    seat: SeatAt, count: Annotated[int, Query(ge=1, le=100, description="How many at most.")] = 10
) -> Response:
    """Each call, from any program of this person, returns other questions. Their rows are not offered to anyone else
    for ten minutes or until they are answered. Empty if every open row is taken."""
    return await told(lambda: LeasedQuestions.model_validate({"questions": for_programs.questions_for(seat, count)}))


@router.post("/projects/{project}/answers", response_model=StoredAnswer, summary="Answer a question, exactly once")
async def answer(seat: SeatAt, given: AnswerBody) -> Response:
    """The same token again, with the same answer, gets the same reply and stores nothing; with another one, 409."""
    saved = await done(
        loop.submit_answer,
        seat,
        given.token,
        given.kind,
        given.labels,
        note=given.note,
        flagged=given.flagged,
        shown=given.shown,
    )
    if saved.other:
        raise StaleQuestion(
            f"That question was answered already, as {_entry(saved)}. Nothing was stored. Fix: ask for the next "
            "question."
        )
    return JSONResponse(_stored(saved), background=BackgroundTask(presses.afterwards, seat))


@router.put("/projects/{project}/rows/{row}/answer", response_model=StoredAnswer, summary="Answer a row, exactly once")
async def answer_row(seat: SeatAt, row: Annotated[int, Path(ge=0, le=2**31 - 1)], given: RowAnswerBody) -> Response:
    """Like an answer on the Answer page, about a row of your choice, by its number from 0. The same key again, with the
    same
    answer, gets the same reply and stores nothing; with another one, 409. Rows that are not open to you get 409."""
    saved = await done(_answer_row, seat, row, given)
    return JSONResponse(_stored(saved), background=BackgroundTask(presses.afterwards, seat))


@router.post(
    "/projects/{project}/answers/batch", response_model=Outcomes, summary="Answer many rows, each exactly once"
)
async def answer_rows(seat: SeatAt, body: AnswersBody) -> Response:
    """Each is stored as by `PUT /projects/{project}/rows/{row}/answer`, in order, and gets the reply of that call: one
    that is refused does not hinder the others. If the call is refused as a whole, such as with 503, send it again: what
    was stored is not stored twice."""
    outcomes = await done_at_length(_answer_rows, seat, body)
    return JSONResponse({"outcomes": outcomes}, background=BackgroundTask(presses.afterwards, seat))


@router.post(
    "/projects/{project}/rows",
    response_model=Added,
    status_code=201,
    summary="Add rows, all or none",
    responses={200: {"model": Added, "description": "Dry run: report the result without storing anything."}},
)
async def append(seat: SeatAt, body: RowsBody, response: Response) -> object:
    """Like importing a file of these rows on the page. Rows that the project already has are skipped, by id or,
    without ids, by cells, and so are unknown columns; the reply names both. If no row is new, the call is refused, so
    nothing is added twice. A doubt about how the rows are read stops them, until `accept` names it. With `dry_run`
    nothing is stored, and the reply lists such doubts."""
    found = await done_at_length(row_records.append_rows, seat, body.rows, body.accept, body.dry_run)
    if body.dry_run:
        response.status_code = 200
    return found._asdict() | {"doubts": [asdict(one) for one in found.doubts]}


@router.post(
    "/projects/{project}/predictions", response_model=Weighed, summary="Let another model weigh the candidates"
)
async def predict(seat: SeatAt, body: PredictionsBody) -> object:
    """Its scores replace the weights of these rows' candidates, as scores of a file would have; which classes
    are candidates does not change. All are added, or none. Only for projects with one true label."""
    sent = [predictions.ScoredRow(one.row, one.row_id, one.scores) for one in body.predictions]
    found = await done_at_length(predictions.add_predictions, seat, sent, body.model, body.key)
    return found._asdict()


@router.post("/projects/{project}/encoders", status_code=202, summary="Learn from meaning")
async def encode(seat: SeatAt, body: EncoderBody) -> Response:
    """A worker downloads the encoder, if it is not there yet, and encodes the rows; `GET` says the progress. Where an
    encoding is under way nothing changes. Refused if the encoder is not verified, or its licence is not accepted."""
    await done(offers.ask, seat, body.encoder, non_commercial=body.non_commercial)
    return Response(status_code=202)


@router.post("/projects/{project}/encoders/cancel", status_code=204, summary="Cancel the encoding")
async def cancel_encoding(seat: SeatAt) -> None:
    """For one that waits, downloads or encodes, nothing is stored, but what is being stored at that moment. Harmless
    if there is none."""
    await done(encoding_requests.cancel, seat)


@router.post("/projects/{project}/encoders/resume", status_code=204, summary="Resume the encoding")
async def resume_encoding(seat: SeatAt) -> None:
    """A worker continues with the one that was cancelled last. Harmless if none was."""
    await done(encoding_requests.resume, seat)


@router.delete("/encoders/{encoder}", status_code=204, summary="Remove an encoder from the server")
async def remove_encoder(seat: AnySeat, encoder: Annotated[str, Path(min_length=1, max_length=100)]) -> None:
    """Projects keep the vectors that they have; rows that come later wait for it. Refused for an encoder of your own,
    whose folder the operator removes."""
    await done_at_length(on_server.remove, seat, encoder)


@router.post("/projects/{project}/back-to-words", status_code=204, summary="Remove the vectors of the rows")
async def back_to_words(seat: SeatAt) -> None:
    """The project learns without vectors of an encoder, or of a file next to the table, from now on. The log keeps
    them.
    Refused if there are none, or if nothing else describes the rows."""
    await done_at_length(encoding.back_to_words, seat)


def _answer_row(seat: Seat, row: int, given: RowAnswerBody) -> Saved:
    saved = loop.answer_row(seat, row, **given.model_dump())
    if saved.other:
        raise StaleQuestion(
            f"The key {given.key!r:.80} was used already, for {_entry(saved)} about row {saved.row}. Nothing was "
            "stored. Fix: send each answer under another key."
        )
    return saved


def _answer_rows(seat: Seat, body: AnswersBody) -> list[dict[str, object]]:
    return [_outcome(seat, one.row, RowAnswerBody(**one.model_dump(exclude={"row"}))) for one in body.answers]


def _outcome(seat: Seat, row: int, given: RowAnswerBody) -> dict[str, object]:
    try:
        return {"status": 200, "answer": _stored(_answer_row(seat, row, given)), "detail": None}
    except (AnswerError, StaleQuestion) as error:
        return {"status": status_of(error), "answer": None, "detail": str(error)}


def _entry(saved: Saved) -> str:
    return f"entry {saved.seq}: {saved.kind} {', '.join(saved.labels)}".rstrip()


def _stored(saved: Saved) -> dict[str, object]:
    return {
        "seq": saved.seq,
        "kind": saved.kind,
        "row": saved.row,
        "row_id": saved.row_id,
        "labels": list(saved.labels),
    }
