"""Shortlists of a project's rows by a language model of the owner's own."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from web.api.calls import BODY_REFUSALS, REFUSALS, SeatAt, done, done_at_length
from web.api.sent import Sent, Text
from web.api.shapes import SuggestionRuns
from workflow.models.language import suggestions
from workflow.models.language.suggestions import ModelChoice

reads = APIRouter(responses=REFUSALS, tags=["Label"])
router = APIRouter(responses=BODY_REFUSALS, tags=["Label"])


class SuggestionsBody(Sent):
    """An OpenAI-compatible server, and one of its models."""

    url: Annotated[Text, Field(min_length=1, max_length=500, description="Its address, up to /v1.")]
    model: Annotated[Text, Field(min_length=1, max_length=200)]
    key: Annotated[Text, Field(max_length=1_000, description="Stored until the run ends; never returned.")] = ""
    guide: Annotated[Text, Field(max_length=20_000, description="Instructions for the model.")] = ""
    cap: Annotated[Text, Field(max_length=50, description="Maximum cost: tokens, or money such as 5 USD.")] = ""
    price: Annotated[
        Text, Field(max_length=50, description="Price per million tokens of prompts and replies: 0.15/0.60 USD.")
    ] = ""


@router.post("/projects/{project}/suggestions", status_code=202, summary="Let a language model list classes")
async def suggest(seat: SeatAt, body: SuggestionsBody) -> Response:
    """The texts of the rows are sent to that server. A worker asks about every row without a reply; `GET` has the
    progress. The same body after a run that ended early continues it; after one that is done, it calibrates the weights
    by the answers so far. Refused if a run is under way, or could cross the cap."""
    choice = ModelChoice(body.url, body.model, body.guide, body.cap, body.price)
    await done_at_length(suggestions.ask, seat, choice, body.key or None)
    return Response(status_code=202)


@reads.get(
    "/projects/{project}/suggestions", response_model=SuggestionRuns, summary="Get the state of a language model"
)
async def state(seat: SeatAt) -> object:
    """The latest run, or null."""
    now = await done(suggestions.state, seat)
    return {"latest": None if now is None else vars(now) | {"model": now.choice.model, "url": now.choice.url}}


@router.post("/projects/{project}/suggestions/cancel", status_code=204, summary="Cancel the language model")
async def cancel(seat: SeatAt) -> None:
    """Its replies are kept. Harmless if there is no run."""
    await done(suggestions.cancel, seat)
