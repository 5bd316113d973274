"""Calls of owners: change a project's settings; archive, delete and restore it."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter, HTTPException
from pydantic import Field
from starlette.responses import Response

from web.api.calls import BODY_REFUSALS, NAMED, SeatAt, done
from web.api.sent import Sent
from web.api.shapes import ProjectSettings
from workflow.projects import managing

router = APIRouter(responses=BODY_REFUSALS, tags=["Manage"])


class SettingsBody(Sent):
    """Settings to change; all others stay as they are."""

    settings: dict[str, Any] = Field(min_length=1, max_length=100)
    keep_latest: bool = Field(
        False, description="Let the latest of several people's answers count, where the change makes it so."
    )


@router.patch(
    "/projects/{project}/settings", response_model=ProjectSettings, summary="Change settings, all or none"
)
async def change_settings(seat: SeatAt, body: SettingsBody) -> object:
    """Change settings, with the checks of the Settings page. The reply has all settings after the change."""
    known = await done(managing.learner_settings, seat)
    unknown = next((name for name in body.settings if name not in known), None)
    if unknown is not None:
        raise HTTPException(
            422, f"A project has no setting {unknown[:NAMED]!r}. Fix: send {', '.join(known)} alone."
        )
    try:
        await done(partial(managing.change_learner, seat, keep_latest=body.keep_latest, **body.settings))
    except ValueError as error:
        raise HTTPException(422, str(error)) from error
    return {"settings": await done(managing.learner_settings, seat)}


@router.post("/projects/{project}/archive", status_code=204, summary="Archive a project")
async def archive_project(seat: SeatAt) -> Response:
    """Archive the project: no one is asked about it any more; table and log stay. Idempotent."""
    await done(managing.archive_project, seat)
    return Response(status_code=204)


@router.post("/projects/{project}/restore", status_code=204, summary="Restore a project")
async def restore_project(seat: SeatAt) -> Response:
    """Restore the project from the archive or the bin. Idempotent; refused if another project now has its
    name."""
    await done(managing.restore_project, seat)
    return Response(status_code=204)


@router.delete("/projects/{project}", status_code=204, summary="Move a project to the bin")
async def bin_project(seat: SeatAt) -> Response:
    """Move the project to the bin: table and log stay, and it can be restored. Idempotent."""
    await done(managing.bin_project, seat)
    return Response(status_code=204)
