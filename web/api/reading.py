"""Calls that read: projects, rows, figures, log, predictions, files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse

from web import downloads
from web.api.calls import REFUSALS, AnySeat, SeatAt, done, done_at_length, told, told_page
from web.api.conventions import BINARY, LINK, MEDIA_TYPES
from web.api.shapes import (
    EncoderOnServer,
    EncodersOnServer,
    Figures,
    ListedProject,
    LoggedEntry,
    Prediction,
    Predictions,
    ProjectEncoders,
    ProjectList,
    ProjectSettings,
    PulledLog,
    ToldRow,
    ToldRows,
)
from web.problems import problem
from workflow.exporting import for_programs
from workflow.importing import encoding_requests
from workflow.models.encoders import offers, on_server
from workflow.projects import managing
from workflow.projects.managing import ProjectSummary
from workflow.seat import Seat

router = APIRouter(responses=REFUSALS, tags=["Read"])

LINES = MEDIA_TYPES[".jsonl"]
PIECE = 1 << 18
"""Bytes of a file sent at a time."""
Start = Annotated[int, Query(ge=0, le=2**31 - 1, description="The first row, from 0.")]
Count = Annotated[int, Query(ge=1, le=1_000, description="Maximum number; fewer are returned if they are large.")]

_PAGE: dict[int | str, dict[str, object]] = {200: {"headers": LINK}}


def _after(page: for_programs.Part, start: int, count: int) -> dict[str, int]:
    """Return the query of the page after this one; empty for the last one."""
    following = start + len(page.items)
    return {"start": following, "count": count} if following < page.total else {}


def _listed(one: ProjectSummary) -> ListedProject:
    return ListedProject.model_validate(one.to_json() | {"role": one.role})


@router.get("/projects", response_model=ProjectList, summary="List the projects of this person")
async def list_projects(seat: AnySeat) -> Response:
    return await told(lambda: ProjectList(projects=[_listed(one) for one in managing.list_projects(seat)]))


@router.get("/projects/{project}", response_model=ListedProject, summary="One project")
async def one_project(seat: SeatAt) -> Response:
    return await told(lambda: _listed(managing.get_project(seat)))


@router.get("/projects/{project}/settings", response_model=ProjectSettings, summary="The settings")
async def read_settings(seat: SeatAt) -> object:
    return {"settings": await done(managing.learner_settings, seat)}


@router.get("/projects/{project}/figures", response_model=Figures, summary="Get accuracy and progress")
async def figures(seat: SeatAt) -> Response:
    return await told(lambda: Figures.model_validate(for_programs.figures_of(seat)))


@router.get("/projects/{project}/encoders", response_model=ProjectEncoders, summary="List encoders")
async def encoders(seat: SeatAt) -> Response:
    return await told(lambda: _encoders(seat))


@router.get("/encoders", response_model=EncodersOnServer, summary="List the encoders of this server")
async def server_encoders(seat: AnySeat) -> Response:
    return await told(
        lambda: EncodersOnServer(encoders=[_server_encoder(one) for one in on_server.server_encoders(seat)])
    )


def _server_encoder(one: on_server.ServerEncoder) -> EncoderOnServer:
    entry, asked = one.entry, one.consent
    return EncoderOnServer(
        key=one.key,
        state=one.state,
        title="" if entry is None else entry.title,
        kind="" if entry is None else entry.kind,
        licence="" if entry is None else entry.licence,
        bytes=0 if entry is None else entry.bytes,
        asked_by=None if asked is None else asked.name,
        asked_at=None if asked is None else asked.at,
    )


def _encoders(seat: Seat) -> ProjectEncoders:
    now = encoding_requests.encoders(seat)
    return ProjectEncoders.model_validate(
        {
            "encoders": [
                {
                    **{name: getattr(one, name) for name in ("column", "state", "host", "minutes")},
                    **{name: getattr(one.entry, name) for name in _OF_ENTRY},
                }
                for one in offers.offers(seat)
            ],
            "columns": {one.column: one.encoder for one in now.columns},
            "running": None if now.running is None else asdict(now.running) | {"minutes": now.running.minutes},
            "failed": now.failed,
            "cancelled": now.cancelled,
        }
    )


_OF_ENTRY = ("key", "kind", "title", "bytes", "dimension", "licence", "commercial", "credit")


# One list item at a time: pydantic lets no other thread run until it has validated its input.


@router.get("/projects/{project}/rows", response_model=ToldRows, summary="List rows as in the file", responses=_PAGE)
async def rows(seat: SeatAt, start: Start = 0, count: Count = 100) -> Response:
    def make() -> tuple[ToldRows, dict[str, int]]:
        found = for_programs.rows_of(seat, start, count)
        told_rows = [ToldRow.model_validate(one) for one in found.items]
        return ToldRows(rows=told_rows, total=found.total), _after(found, start, count)

    return await told_page(make)


@router.get("/projects/{project}/log", response_model=PulledLog, summary="List entries of the log", responses=_PAGE)
async def log(
    seat: SeatAt,
    since: Annotated[int, Query(ge=0, le=2**31 - 1_001, description="Entries after this seq.")] = 0,
    count: Count = 1_000,
) -> Response:
    def make() -> tuple[PulledLog, dict[str, int]]:
        found = for_programs.log_since(seat, since, count)
        entries = [LoggedEntry.model_validate(one) for one in found.items]
        latest = entries[-1].seq if entries else found.total
        following = {"since": latest, "count": count} if latest < found.total else {}
        return PulledLog(entries=entries, last=found.total), following

    return await told_page(make)


@router.get(
    "/projects/{project}/predictions", response_model=Predictions, summary="Current labels and shares", responses=_PAGE
)
async def predictions(seat: SeatAt, start: Start = 0, count: Count = 100) -> Response:
    def make() -> tuple[Predictions, dict[str, int]]:
        found = for_programs.predictions_of(seat, start, count)
        one_by_one = [Prediction.model_validate(one) for one in found.items]
        return Predictions(predictions=one_by_one, total=found.total), _after(found, start, count)

    return await told_page(make)


@router.get(
    "/projects/{project}/predictions/lines",
    summary="All labels and shares, as lines",
    response_class=StreamingResponse,
    responses={200: {"content": {LINES: BINARY}, "description": "A `Prediction` a line, as JSON."}},
)
async def prediction_lines(seat: SeatAt, start: Start = 0) -> Response:
    """All rows as of the call, in order. If the connection breaks, continue with the row after
    the last line."""
    taken = await done_at_length(for_programs.take_predictions, seat, start)

    def lines(part: range) -> bytes:
        told = (Prediction.model_validate(one) for one in taken.told(part))
        return "".join(f"{one.model_dump_json()}\n" for one in told).encode()

    async def pieces() -> AsyncIterator[bytes]:
        for part in taken.parts():
            yield await done_at_length(lines, part)

    return StreamingResponse(pieces(), media_type=LINES, headers={"cache-control": "no-store"})


@router.get(
    "/files/{name}",
    summary="An image or a recording that a row names",
    response_class=Response,
    responses={200: {"content": {"image/*": BINARY, "audio/*": BINARY}, "description": "The file."}},
)
async def kept_file(request: Request, name: str) -> Response:  # noqa: ARG001 - in the address
    answer = await done(downloads.kept_file, request)
    if answer.status_code < 400:
        return answer
    return problem(answer.status_code, bytes(answer.body).decode())
