"""Calls that store something: a question is put before the person, an answer, more rows, another model's scores."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.background import BackgroundTask
from starlette.responses import JSONResponse, Response

from web import presses
from web.api.calls import REFUSALS, SeatAt, done, done_at_length, told
from web.api.sent import AnswerBody, PredictionsBody, RowsBody
from web.api.shapes import Added, NextQuestion, StoredAnswer, ToldProblem, Weighed
from workflow import answering
from workflow.answering import Saved, StaleQuestion
from workflow.importing import predictions, row_records
from workflow.outgoing import for_programs

_REFUSALS: dict[int | str, dict[str, Any]] = REFUSALS | {
    status: {"model": ToldProblem, "description": words}
    for status, words in {
        400: "The body is no JSON that can be read.",
        408: "The body did not come whole in time.",
        409: "It comes too late: something else is stored, or stands there, by now.",
        413: "The body is too large.",
    }.items()
}
router = APIRouter(responses=_REFUSALS)


@router.post("/projects/{project}/question", response_model=NextQuestion, summary="The next question")
async def question(seat: SeatAt) -> Response:
    """The question before this person, or a new one, which is theirs for some minutes. Asked again it is the same."""
    return await told(lambda: NextQuestion.model_validate({"question": for_programs.question_for(seat)}))


@router.post(
    "/projects/{project}/answers", response_model=StoredAnswer, summary="Answer a question, exactly once"
)
async def answer(seat: SeatAt, given: AnswerBody) -> Response:
    """The same token again, with the same answer, gets the same reply and stores nothing; with another one, 409."""
    saved = await done(
        answering.submit_answer,
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
            f"That question was answered already, as entry {saved.seq}: {saved.kind} {', '.join(saved.labels)}".rstrip()
            + ". Nothing was stored. Fix: ask for the next question."
        )
    return JSONResponse(_stored(saved), background=BackgroundTask(presses.afterwards, seat))


@router.post(
    "/projects/{project}/rows", response_model=Added, status_code=201, summary="Add rows, all or none"
)
async def append(seat: SeatAt, body: RowsBody) -> Any:
    """As a file of these rows on the page: rows that the project has by their id, or without ids by their cells, are
    passed over, and columns that it has not: the reply names both. Where no row is new, it is refused. So nothing comes
    in twice."""
    return (await done_at_length(row_records.append_rows, seat, body.rows))._asdict()


@router.post(
    "/projects/{project}/predictions",
    response_model=Weighed,
    summary="Let another model weigh the candidates",
)
async def predict(seat: SeatAt, body: PredictionsBody) -> Any:
    """Its scores take the place of the weights of these rows' candidates, as scores of a file would have; which classes
    are candidates does not change. All come in, or none. Of one true label alone."""
    sent = [predictions.ScoredRow(one.row, one.row_id, one.scores) for one in body.predictions]
    found = await done_at_length(predictions.add_predictions, seat, sent, body.model, body.key)
    return found._asdict()


def _stored(saved: Saved) -> dict[str, Any]:
    return {
        "seq": saved.seq,
        "kind": saved.kind,
        "row": saved.row,
        "row_id": saved.row_id,
        "labels": list(saved.labels),
    }
