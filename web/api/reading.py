"""Calls that read: projects, rows, figures, log, predictions, files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, BinaryIO, Literal

from fastapi import APIRouter, Header, HTTPException, Query, Request
from starlette.responses import Response, StreamingResponse

from web import downloads
from web.api.calls import REFUSALS, AnySeat, SeatAt, done, done_at_length, told
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
from workflow.exporting import files, for_programs
from workflow.importing import encoding_requests
from workflow.models.encoders import offers, on_server
from workflow.projects import managing
from workflow.projects.managing import ProjectSummary
from workflow.seat import Seat

router = APIRouter(responses=REFUSALS, tags=["Read"])

PIECE = 1 << 18
"""Bytes of a file sent at a time."""
Start = Annotated[int, Query(ge=0, le=2**31 - 1, description="The first row, from 0.")]
Count = Annotated[
    int, Query(ge=1, le=1_000, description="How many at most; fewer come where they are large.")
]


def _listed(one: ProjectSummary) -> ListedProject:
    return ListedProject.model_validate(one.to_json() | {"role": one.role})


@router.get("/projects", response_model=ProjectList, summary="The projects of this person")
async def list_projects(seat: AnySeat) -> Response:
    return await told(lambda: ProjectList(projects=[_listed(one) for one in managing.list_projects(seat)]))


@router.get("/projects/{project}", response_model=ListedProject, summary="One project")
async def one_project(seat: SeatAt) -> Response:
    return await told(lambda: _listed(managing.get_project(seat)))


@router.get("/projects/{project}/settings", response_model=ProjectSettings, summary="The settings")
async def read_settings(seat: SeatAt) -> object:
    return {"settings": await done(managing.learner_settings, seat)}


@router.get("/projects/{project}/figures", response_model=Figures, summary="How good and how far it is")
async def figures(seat: SeatAt) -> Response:
    return await told(lambda: Figures.model_validate(for_programs.figures_of(seat)))


@router.get(
    "/projects/{project}/encoders",
    response_model=ProjectEncoders,
    summary="List encoders",
)
async def encoders(seat: SeatAt) -> Response:
    return await told(lambda: _encoders(seat))


@router.get("/encoders", response_model=EncodersOnServer, summary="The encoders of this server")
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
            "running": None
            if now.running is None
            else asdict(now.running) | {"minutes": now.running.minutes},
            "failed": now.failed,
            "cancelled": now.cancelled,
        }
    )


_OF_ENTRY = ("key", "kind", "title", "bytes", "dimension", "licence", "commercial", "credit")


# One list item at a time: pydantic lets no other thread run until it has validated its input.


@router.get("/projects/{project}/rows", response_model=ToldRows, summary="Rows as the file had them")
async def rows(seat: SeatAt, start: Start = 0, count: Count = 100) -> Response:
    def make() -> ToldRows:
        found = for_programs.rows_of(seat, start, count)
        return ToldRows(rows=[ToldRow.model_validate(one) for one in found.items], total=found.total)

    return await told(make)


@router.get(
    "/projects/{project}/log",
    response_model=PulledLog,
    summary="Entries of the log after one of them",
    responses={304: {"description": "As in the reply with this ETag."}},
)
async def log(
    seat: SeatAt,
    since: Annotated[int, Query(ge=0, le=2**31 - 1_001, description="Entries after this seq.")] = 0,
    count: Count = 1_000,
    if_none_match: Annotated[
        str | None,
        Header(max_length=1_000, description="The ETag of the reply before: 304 if nothing changed."),
    ] = None,
) -> Response:
    def make() -> PulledLog:
        found = for_programs.log_since(seat, since, count)
        entries = [LoggedEntry.model_validate(one) for one in found.items]
        return PulledLog(entries=entries, last=found.total)

    reply = await told(make)
    # Of the reply itself: names of people and ids of rows change without a log entry.
    tag = f'"{hashlib.blake2b(reply.body, digest_size=16).hexdigest()}"'
    if if_none_match is not None and tag in if_none_match:
        return Response(status_code=304, headers={"etag": tag})
    reply.headers["etag"] = tag
    return reply


@router.get(
    "/projects/{project}/predictions", response_model=Predictions, summary="Labels and shares as they stand"
)
async def predictions(seat: SeatAt, start: Start = 0, count: Count = 100) -> Response:
    def make() -> Predictions:
        found = for_programs.predictions_of(seat, start, count)
        one_by_one = [Prediction.model_validate(one) for one in found.items]
        return Predictions(predictions=one_by_one, total=found.total)

    return await told(make)


@router.get(
    "/projects/{project}/export",
    summary="A file of the project",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "The file."}},
)
async def export(
    seat: SeatAt,
    file: Annotated[
        str, Query(max_length=50, description="csv, parquet, jsonl, log, sealed-log, dataset …")
    ] = "csv",
    rows: Annotated[Literal["all", "sure", "answered"], Query()] = "all",
    above: Annotated[
        float, Query(ge=0, le=1, description="Of rows that are sure: the least probability.")
    ] = 0.9,
    label_disputed: Annotated[
        bool, Query(description="Give disputed rows their most likely label; else they have none.")
    ] = False,
    for_spreadsheets: Annotated[
        bool,
        Query(description="Of csv and log: a ' before each cell that a spreadsheet would run as a formula."),
    ] = False,
) -> Response:
    try:
        choice = files.ExportChoice(
            file, rows, above, label_disputed=label_disputed, for_spreadsheets=for_spreadsheets
        )
        written = await done_at_length(for_programs.file_of, seat, choice)
    except ValueError as error:
        raise HTTPException(422, str(error)) from error
    return StreamingResponse(
        _pieces(written.content),
        media_type="application/octet-stream",
        headers={
            "content-disposition": f'attachment; filename="{written.file_name}"',
            "content-length": str(written.size),
            "cache-control": "no-store",
        },
    )


@router.get(
    "/files/{name}",
    summary="An image or a recording that a row names",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "The file."}},
)
async def kept_file(request: Request, name: str) -> Response:  # noqa: ARG001 - in the address
    answer = await done(downloads.kept_file, request)
    if answer.status_code < 400:
        return answer
    return problem(answer.status_code, bytes(answer.body).decode())


def _pieces(content: BinaryIO) -> Iterator[bytes]:
    with content:
        while piece := content.read(PIECE):
            yield piece
