"""The client for programs that use asyncio."""

from __future__ import annotations

import asyncio
import inspect

import pytest

from tests.web.api.conftest import ONE_KIND
from tests.workflow.two_questions import two_labels_frame
from winnow_labels.client import AsyncWinnow, AsyncWinnowProject, Winnow, WinnowError, WinnowProject
from winnow_labels.connection import WinnowConnection
from workflow.people import tokens
from workflow.seat import Seat


def calls(kind: type) -> dict[str, inspect.Signature]:
    """The public methods and their signatures without what they return."""
    found = inspect.getmembers(kind, inspect.isfunction)
    shown = {name: inspect.signature(one) for name, one in found if not name.startswith("_")}
    return {name: one.replace(return_annotation=inspect.Signature.empty) for name, one in shown.items()}


def test_every_call_of_client_can_be_awaited() -> None:
    inner = set(calls(WinnowConnection)) - {"close"}
    ours = {name: one for name, one in calls(Winnow).items() if name not in inner}
    assert calls(AsyncWinnow) == ours
    assert calls(AsyncWinnowProject) == calls(WinnowProject)
    assert inspect.signature(AsyncWinnow).parameters == inspect.signature(Winnow).parameters


@ONE_KIND
def test_tasks_label_at_once_while_the_loop_goes_on(url: str, seat: Seat, winnow: Winnow) -> None:
    plain = winnow.project(seat.project_id or 0)

    async def label() -> None:
        async with AsyncWinnow(url, tokens.make_token(seat, "tasks")) as client:
            (shown,) = await client.projects()
            project = client.project(shown["id"])
            assert repr(project) == f"Async{plain!r}"
            asked = await project.questions(6)
            given = await asyncio.gather(*(project.answer(one, "is", [one.choices[0].label]) for one in asked))
            assert len({one.seq for one in given}) == len(asked) == 6
            assert [one async for one in project.log()] == list(plain.log())
            assert [one["row"] async for one in project.rows()] == [one["row"] for one in plain.rows()]
            assert [one async for one in project.predictions()] == list(plain.predictions())
            assert (await project.to_frame()).equals(plain.to_frame())
            made = await client.create(two_labels_frame(), "again", roles={"candidates": "species"})
            assert (await made.summary())["name"] == "again"
            with pytest.raises(WinnowError, match="no project") as refusal:
                await client.project(10_000).summary()
            assert refusal.value.status == 404

    asyncio.run(label())
