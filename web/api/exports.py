"""Files of a project: one in a reply, or written as a job and fetched when it is ready."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import PurePath
from typing import Annotated, BinaryIO, Literal

from fastapi import APIRouter, Depends, HTTPException, Path, Query
from starlette.responses import FileResponse, Response, StreamingResponse

from web.api.calls import BODY_REFUSALS, REFUSALS, SeatAt, done, done_at_length
from web.api.conventions import BINARY, JSON, MEDIA_TYPES
from web.api.shapes import ExportJob, ExportJobs
from workflow.exporting import files, for_programs
from workflow.files.prepared import PreparedFile

reads = APIRouter(responses=REFUSALS, tags=["Export"])
router = APIRouter(responses=BODY_REFUSALS, tags=["Export"])

PIECE = 1 << 18
"""Bytes of a file sent at a time."""
_FILE: dict[int | str, dict[str, object]] = {
    200: {
        "content": {kind: {} if kind == JSON else BINARY for kind in MEDIA_TYPES.values()},
        "description": "The file.",
    }
}
Key = Annotated[str, Path(min_length=1, max_length=100, description="The `key` of the export.")]


def _choice(
    file: Annotated[
        str,
        Query(
            max_length=50,
            description="Some are not available in every project.",
            json_schema_extra={"enum": [*for_programs.FILES]},
        ),
    ] = "csv",
    rows: Annotated[Literal["all", "sure", "answered"], Query()] = "all",
    above: Annotated[float, Query(ge=0, le=1, description="For confident rows: the minimum probability.")] = 0.9,
    with_undecided: Annotated[
        bool, Query(description="For confident or answered rows: the disputed and pending rows, too.")
    ] = False,
    label_disputed: Annotated[
        bool, Query(description="Give disputed rows their most likely label; by default they have none.")
    ] = False,
    for_spreadsheets: Annotated[
        bool,
        Query(description="For csv and log: put ' in front of each cell that a spreadsheet would run as a formula."),
    ] = False,
) -> files.ExportChoice:
    try:
        return files.ExportChoice(
            file,
            rows,
            above,
            with_undecided=with_undecided,
            label_disputed=label_disputed,
            for_spreadsheets=for_spreadsheets,
        )
    except ValueError as error:
        raise HTTPException(422, str(error)) from error


Choice = Annotated[files.ExportChoice, Depends(_choice)]


@reads.get(
    "/projects/{project}/export", summary="A file of the project", response_class=StreamingResponse, responses=_FILE
)
async def export(seat: SeatAt, choice: Choice) -> Response:
    """Written before the first byte is sent. If that takes longer than a proxy waits, have it written by
    `POST /projects/{project}/exports`."""
    try:
        written = await done_at_length(for_programs.file_of, seat, choice)
    except ValueError as error:
        raise HTTPException(422, str(error)) from error
    return StreamingResponse(
        _pieces(written.content),
        media_type=_media_type(written.file_name),
        headers={
            "content-disposition": f'attachment; filename="{written.file_name}"',
            "content-length": str(written.size),
            "cache-control": "no-store",
        },
    )


def _pieces(content: BinaryIO) -> Iterator[bytes]:
    with content:
        while piece := content.read(PIECE):
            yield piece


def _media_type(file_name: str) -> str:
    return MEDIA_TYPES[PurePath(file_name).suffix]


@router.post("/projects/{project}/exports", response_model=ExportJob, status_code=202, summary="Write a file")
async def begin_export(seat: SeatAt, choice: Choice) -> object:
    """It contains the project as of the call. `GET` of its key has the progress. It is kept for a day,
    an hour once it was fetched, or until the server ends; of each person and project only the programs' latest 8."""
    try:
        return _told(await done(for_programs.begin_export, seat, choice))
    except ValueError as error:
        raise HTTPException(422, str(error)) from error


@reads.get("/projects/{project}/exports", response_model=ExportJobs, summary="List the exports")
async def list_exports(seat: SeatAt) -> object:
    """List the files of the caller, those of the Export page, too; the latest first."""
    return {"exports": [_told(one) for one in await done(files.prepared, seat)]}


@reads.get("/projects/{project}/exports/{key}", response_model=ExportJob, summary="Get the state of an export")
async def one_export(seat: SeatAt, key: Key) -> object:
    """Fetch the file if the `state` is `ready`."""
    return _told(await done(for_programs.export_state, seat, key))


@reads.get(
    "/projects/{project}/exports/{key}/file",
    summary="Get the file of an export",
    response_class=FileResponse,
    responses={**_FILE, 206: {"content": {"*/*": BINARY}, "description": "The requested range."}},
)
async def export_file(seat: SeatAt, key: Key) -> Response:
    """404 before it is ready. Takes ranges, so that a broken download can continue."""
    path, file_name = await done(files.find, seat, key)
    return FileResponse(
        path, media_type=_media_type(file_name), filename=file_name, headers={"cache-control": "no-store"}
    )


@router.delete("/projects/{project}/exports/{key}", status_code=204, summary="Remove an export")
async def remove_export(seat: SeatAt, key: Key) -> None:
    """End its writing, or delete the file. Harmless if there is none."""
    await done(files.remove, seat, key)


def _told(one: PreparedFile) -> dict[str, object]:
    return asdict(one) | {"fault": one.fault or None}
