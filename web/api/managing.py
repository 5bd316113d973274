"""Calls of owners: settings, members, classes and models of a project; archive, delete and restore it."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Path
from pydantic import Field

from web.api.calls import BODY_REFUSALS, NAMED, REFUSALS, SeatAt, done
from web.api.sent import Sent, Text, Whole
from web.api.shapes import FurtherProjects, ProjectClasses, ProjectMembers, ProjectModels, ProjectSettings, RoleName
from workflow.answering.room_settings import MOST_FURTHER
from workflow.models import choosing, showing
from workflow.people import members
from workflow.projects import classes, linking, managing

router = APIRouter(responses=BODY_REFUSALS, tags=["Manage"])
reads = APIRouter(responses=REFUSALS, tags=["Manage"])
"""The calls without a body."""


MemberId = Annotated[int, Path(ge=1, le=2**31 - 1)]
"""The `person` of a member, in the address."""


class RoleBody(Sent):
    """The role of a person in the project."""

    role: RoleName


class ClassesBody(Sent):
    """A change of the classes."""

    version: Whole = Field(ge=0, description="Version of the classes that the change is based on.")
    kind: Literal["add", "rename", "merge", "back"] = Field(description="`back` withdraws the latest change.")
    names: Annotated[list[Annotated[Text, Field(max_length=1_000)]], Field(max_length=100)] = Field(
        [],
        description="`add`: the new name. `rename`: the old and the new one. `merge`: the class to remove, and the "
        "class that replaces it.",
    )


class SettingsBody(Sent):
    """Settings to change; all others stay as they are."""

    settings: dict[str, Any] = Field(min_length=1, max_length=100)
    keep_latest: bool = Field(
        False, description="Accept that after this change only the latest answer of several people counts."
    )


@router.patch("/projects/{project}/settings", response_model=ProjectSettings, summary="Change settings, all or none")
async def change_settings(seat: SeatAt, body: SettingsBody) -> object:
    """With the checks of the Settings page. The reply has all settings after the change."""
    known = await done(managing.learner_settings, seat)
    unknown = next((name for name in body.settings if name not in known), None)
    if unknown is not None:
        raise HTTPException(422, f"A project has no setting {unknown[:NAMED]!r}. Fix: send {', '.join(known)} alone.")
    try:
        await done(partial(managing.change_learner, seat, keep_latest=body.keep_latest, **body.settings))
    except ValueError as error:
        raise HTTPException(422, str(error)) from error
    return {"settings": await done(managing.learner_settings, seat)}


class FurtherBody(Sent):
    """The projects that ask about the same row, in order; none ends that."""

    projects: Annotated[list[Annotated[Whole, Field(ge=1, le=2**31 - 1)]], Field(max_length=MOST_FURTHER)]


@reads.get("/projects/{project}/further", response_model=FurtherProjects, summary="List its further questions")
async def get_further(seat: SeatAt) -> object:
    """The projects that ask about the same row after an answer in this one, in order."""
    return {"further": [vars(one) for one in await done(linking.further_of, seat)]}


@router.put("/projects/{project}/further", response_model=FurtherProjects, summary="Set its further questions")
async def set_further(seat: SeatAt, body: FurtherBody) -> object:
    """On the Answer page, these projects ask about the same row after an answer in this one. Idempotent; refused for a
    project that has none of its rows."""
    return {"further": [vars(one) for one in await done(linking.link, seat, body.projects)]}


@router.post("/projects/{project}/archive", status_code=204, summary="Archive a project")
async def archive_project(seat: SeatAt) -> None:
    """It asks no more questions; table and log stay. Twice is harmless."""
    await done(managing.archive_project, seat)


@router.post("/projects/{project}/restore", status_code=204, summary="Restore a project")
async def restore_project(seat: SeatAt) -> None:
    """From the archive or the bin. Twice is harmless; refused if another project has its name by now."""
    await done(managing.restore_project, seat)


@router.delete("/projects/{project}", status_code=204, summary="Move a project to the bin")
async def bin_project(seat: SeatAt) -> None:
    """Table and log stay, and it can be restored. Twice is harmless."""
    await done(managing.bin_project, seat)


@reads.get("/projects/{project}/members", response_model=ProjectMembers, summary="List the members")
async def get_members(seat: SeatAt) -> object:
    """The people who see the project, with their roles, and those who could be added."""
    found = await done(members.list_members, seat)
    return {
        "members": [vars(one) | {"person": one.person_id} for one in found.members],
        "others": [{"person": person, "name": name} for person, name in found.others],
    }


@router.put("/projects/{project}/members/{person}", status_code=204, summary="Give a person a role")
async def give_role(seat: SeatAt, person: MemberId, body: RoleBody) -> None:
    """Add the person as a member if they are none yet. Idempotent."""
    await done(members.give_role, seat, [person], body.role)


@router.delete("/projects/{project}/members/{person}", status_code=204, summary="Remove a member")
async def remove_member(seat: SeatAt, person: MemberId) -> None:
    """Their answers stay. Twice is harmless; refused for the last owner."""
    await done(members.remove_member, seat, person)


@reads.get(
    "/projects/{project}/classes",
    response_model=ProjectClasses,
    summary="List the classes",
    responses={409: BODY_REFUSALS[409]},
)
async def get_classes(seat: SeatAt) -> object:
    """In order, with the rows that have each, and the version that a change names."""
    return await done(classes.classes_view, seat)


@router.post("/projects/{project}/classes", response_model=ProjectClasses, summary="Change the classes")
async def change_classes(seat: SeatAt, body: ClassesBody) -> object:
    """One change, stored exactly once: refused if the classes have changed since that version. The reply has the
    classes after it."""
    if body.kind == "back":
        await done(classes.take_back, seat, body.version)
    else:
        await done(classes.change_classes, seat, body.version, body.kind, body.names)
    return await done(classes.classes_view, seat)


@reads.get("/projects/{project}/models", response_model=ProjectModels, summary="List the models")
async def get_models(seat: SeatAt) -> object:
    """The model in use, the figures of the latest comparison, and the progress of a running one."""
    found = await done(showing.models_view, seat)
    return {
        "automatic": found.story.automatic,
        "model": found.story.model,
        "models": [vars(one.figures) | vars(one) | {"in_use": one.in_force} for one in found.lines],
        "running": found.running and vars(found.running),
        "compared_at": found.done and found.done.at,
        "failed": found.failed,
    }


@router.post("/projects/{project}/models/compare", status_code=204, summary="Compare the models")
async def compare_models(seat: SeatAt) -> None:
    """A worker does it; `GET` of the models has the progress. Harmless if it is under way already."""
    await done(choosing.compare_now, seat)


@router.post("/projects/{project}/models/cancel", status_code=204, summary="Cancel the comparison of models")
async def cancel_comparison(seat: SeatAt) -> None:
    """Harmless if there is none."""
    await done(choosing.cancel, seat)
