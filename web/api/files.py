"""Files that programs send: upload one, read it without storing anything, or make it a project."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from pydantic import Field
from starlette.requests import ClientDisconnect

from web.api.calls import BODY_REFUSALS, AnySeat, done, done_at_length
from web.api.sent import Text
from web.api.shapes import MadeProject, ReadFile, SentFile
from web.uploads import take_in
from workflow import importing
from workflow.answering.press import storable
from workflow.answering.room_settings import MOST_FURTHER
from workflow.importing import arrivals
from workflow.importing.uploads import DryRun
from workflow.projects import linking, managing

router = APIRouter(responses=BODY_REFUSALS, tags=["Import"])

_FILE = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
_SHOWN_CLASSES = 1_000
Name = Annotated[Text, Query(max_length=200, description="The file's own name.")]


def _object(sent: str | None, what: str) -> Mapping[str, Any]:
    """Return a JSON object from a query parameter. Raises HTTPException if it is none."""
    try:
        found = json.loads(sent) if sent else {}
        storable(json.dumps(found, ensure_ascii=False))
    except (ValueError, RecursionError) as error:
        raise HTTPException(422, f"{what}: it is not JSON: {str(error)[:100]}") from error
    if not isinstance(found, dict):
        raise HTTPException(422, f"{what}: it is not an object of JSON, such as {{}}. Got {sent!r:.50}.")
    return found


class SentReading:
    """A file in a call, and how it is to be read, from the query parameters."""

    def __init__(
        self,
        request: Request,
        seat: AnySeat,
        name: Name = "",
        upload: Annotated[
            str | None, Query(max_length=100, description="Key of a file sent before; the body is empty then.")
        ] = None,
        roles: Annotated[
            Text | None,
            Query(
                max_length=20_000,
                description='Roles of columns, as JSON: `{"candidates": "guesses", "text": "review"}`. Roles that '
                "are not named are guessed; `POST /readings` says them all.",
            ),
        ] = None,
        item: Annotated[
            Literal["picture", "detection", "frame", "media", "event"] | None,
            Query(
                description="The item of a row: in MegaDetector's file a picture (default), detection or frame; in "
                "Camtrap DP media (default) or an event."
            ),
        ] = None,
        unfinished: Annotated[
            Literal["leave-out", "count"] | None, Query(description="Answers of people who did not finish a survey.")
        ] = None,
        classes: Annotated[
            str | None,
            Query(
                description="The classes, with commas between them, if nothing in the file is labelled yet: each is "
                "possible in every row."
            ),
        ] = None,
        unlabelled: Annotated[
            Literal["refuse", "all", "leave-out"] | None, Query(description="Rows without a candidate.")
        ] = None,
        truth_outside: Annotated[
            Literal["refuse", "add", "unknown"] | None, Query(description="True labels outside the candidates.")
        ] = None,
        as_it_is: Annotated[bool, Query(description="Read each row as an item, even if it looks like a vote.")] = False,
        also: Annotated[
            list[Annotated[Text, Field(max_length=1_000)]] | None,
            Query(
                max_length=MOST_FURTHER,
                description="Columns of further questions about the same rows; each becomes a project of its own.",
            ),
        ] = None,
    ) -> None:
        self._request, self._seat, self._key = request, seat, upload
        self._name = name
        ways = {"item": item, "unfinished": unfinished, "classes": classes}
        named = _object(roles, "roles")
        try:
            importing.Roles.from_json(named)
        except ValueError as error:
            raise HTTPException(422, f"roles: {error}") from error
        self._how: dict[str, Any] = {
            "columns": {**named, "unlabelled": unlabelled, "truth_outside": truth_outside},
            "as_it_is": as_it_is,
            "further": tuple(also or ()),
            "ways": {key: value for key, value in ways.items() if value is not None},
        }

    async def source(self) -> tuple[bytes | Path, str]:
        """Return the file, or its path, and its name. Raises HTTPException if two are given, or the upload
        does not exist."""
        body = await self._request.body()
        if self._key is None:
            return body, self._name
        if body:
            raise HTTPException(422, "upload: a file came in the body, too. Fix: send one of the two.")
        found = await done(arrivals.find, self._seat, self._key)
        if found is None:
            raise HTTPException(404, "There is no such upload, or it has expired. Fix: send the file again.")
        return found.path, self._name or found.name

    async def done_with(self, act: Any, **more: object) -> Any:
        """Return the result of this use case for the file, computed in a thread."""
        source, name = await self.source()
        return await done_at_length(partial(act, self._seat, source, name, **self._how, **more))

    async def forget(self) -> None:
        """Delete the upload, which is not needed any more."""
        if self._key is not None:
            await done(arrivals.remove, self._seat, self._key)


ReadingOf = Annotated[SentReading, Depends()]


def _told(found: DryRun) -> dict[str, object]:
    classes = found.table.classes
    return {
        "reading": found.reading,
        "rows": found.table.n_rows,
        "classes": list(classes[:_SHOWN_CLASSES]),
        "n_classes": len(classes),
        "roles": found.table.roles.to_json(),
        "notes": list(found.notes),
        "doubts": [asdict(one) for one in found.doubts],
    }


@router.post(
    "/uploads",
    response_model=SentFile,
    status_code=201,
    summary="Send a file",
    openapi_extra={"requestBody": {"required": True, **_FILE}},
)
async def send_file(request: Request, seat: AnySeat, name: Name = "") -> object:
    """Upload a file of any size that the import page accepts, streamed to disk. Its key works with `POST
    /readings` and `POST /projects` for some hours. A person can upload one file at a time."""
    try:
        arrived = await take_in(request, seat, name)
    except (TimeoutError, ClientDisconnect) as error:
        raise HTTPException(408, "The file was incomplete. Nothing was stored. Fix: send it again.") from error
    return {"key": arrived.key, "name": arrived.name, "size": arrived.size}


@router.post(
    "/readings",
    response_model=ReadFile,
    summary="Report how a file would be read",
    openapi_extra={"requestBody": {"required": False, **_FILE}},
)
async def read_file(reading: ReadingOf) -> object:
    """Check a file like `winnow import --dry-run`: a table, or a zip of a table with its files. It is the
    body, up to 8 MB, or an earlier upload. Nothing is stored."""
    return _told(await reading.done_with(importing.dry_run))


@router.post(
    "/projects",
    response_model=MadeProject,
    status_code=201,
    summary="Make a project",
    openapi_extra={"requestBody": {"required": False, **_FILE}},
)
async def make_project(
    seat: AnySeat,
    reading: ReadingOf,
    project: Annotated[Text, Query(min_length=1, max_length=200, description="Name of the project.")],
    description: Annotated[Text, Query(max_length=5_000, description="Notes for annotators.")] = "",
    settings: Annotated[
        Text | None,
        Query(max_length=20_000, description='Settings other than the default, as JSON: `{"strategy": "margin"}`.'),
    ] = None,
    accept: Annotated[
        list[Annotated[Text, Field(max_length=100)]] | None,
        Query(
            max_length=100,
            description="Names of doubts that stop the import otherwise: the file is right as it is read.",
        ),
    ] = None,
) -> object:
    """Create a project like `winnow import`. A second project of the same name is refused, so that a repeated
    request creates only one. A doubt about how the file is read stops it, until `accept` names the doubt."""
    number, found = await reading.done_with(
        importing.bring_in,
        project=project,
        description=description,
        settings=_object(settings, "settings"),
        accept=frozenset(accept or ()),
    )
    await reading.forget()
    made = await done(managing.get_project, seat.at(number))
    further = [vars(one) for one in await done(linking.further_of, seat.at(number))]
    told = {"reading": found.reading, "notes": list(found.notes), "further": further}
    return {**made.to_json(), "role": made.role, **told}
