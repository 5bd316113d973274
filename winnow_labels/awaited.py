"""The client for programs that use asyncio: every call of `winnow_labels.client`, awaited.

    from winnow_labels.awaited import AsyncWinnow

    async with AsyncWinnow("http://127.0.0.1:8501", token) as winnow:
        birds = winnow.project(3)
        while (question := await birds.next_question()) is not None:
            await birds.answer(question, "is", [await best(question)])

Each call is the one of the client, in a thread of its own, so that the event loop never waits for the server. A
task that is cancelled does not stop a request that was sent; the same answer, sent again, is stored once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, Self, TypeVar

from winnow_labels.client import Winnow, WinnowProject
from winnow_labels.connection import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

    import httpx2
    import pandas as pd

Given = ParamSpec("Given")
Reply = TypeVar("Reply")
Client = TypeVar("Client")
_TOGETHER = 256
"""Rows, or entries, taken from a thread at a time."""


class _Wraps(Protocol[Client]):
    """Has the client that does the work."""

    client: Client


def _awaited(
    call: Callable[Concatenate[Client, Given], Reply],
) -> Callable[Concatenate[_Wraps[Client], Given], Coroutine[Any, Any, Reply]]:
    """Return the method that does this call of the client in a thread."""

    @wraps(call)
    async def method(self: _Wraps[Client], /, *given: Given.args, **named: Given.kwargs) -> Reply:
        return await asyncio.to_thread(call, self.client, *given, **named)

    return method


def _each(
    call: Callable[Concatenate[Client, Given], Iterator[Reply]],
) -> Callable[Concatenate[_Wraps[Client], Given], AsyncIterator[Reply]]:
    """Return the method that yields what this call of the client yields, some at a time."""

    @wraps(call)
    async def method(self: _Wraps[Client], /, *given: Given.args, **named: Given.kwargs) -> AsyncIterator[Reply]:
        found = call(self.client, *given, **named)
        while some := await asyncio.to_thread(lambda: list(islice(found, _TOGETHER))):
            for one in some:
                yield one

    return method


class AsyncWinnow:
    """A Winnow server, as the person of a token; parameters and errors are those of `winnow_labels.client.Winnow`.
    Usable with `async with`.

    client : the client that does the work
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        seconds: float = 60.0,
        patience: float = PATIENCE,
        progress: bool | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self.client = Winnow(url, token, seconds=seconds, patience=patience, progress=progress, transport=transport)

    def __repr__(self) -> str:
        return f"Async{self.client!r}"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await asyncio.to_thread(self.client.close)

    projects = _awaited(Winnow.projects)
    read = _awaited(Winnow.read)

    def project(self, number: int) -> AsyncWinnowProject:
        """Return the project of this number, without a request."""
        return AsyncWinnowProject(self.client.project(number))

    async def create(self, /, file: str | Path | pd.DataFrame, name: str, **how: object) -> AsyncWinnowProject:
        """Create a project as `Winnow.create` does."""
        return AsyncWinnowProject(await asyncio.to_thread(self.client.create, file, name, **how))


class AsyncWinnowProject:
    """One project of a server. Every call raises WinnowError if the server refuses.

    client : the same project of the client that does the work
    """

    def __init__(self, client: WinnowProject) -> None:
        self.client, self.number = client, client.number

    def __repr__(self) -> str:
        return f"Async{self.client!r}"

    summary = _awaited(WinnowProject.summary)
    settings = _awaited(WinnowProject.settings)
    change_settings = _awaited(WinnowProject.change_settings)
    further = _awaited(WinnowProject.further)
    set_further = _awaited(WinnowProject.set_further)
    archive = _awaited(WinnowProject.archive)
    restore = _awaited(WinnowProject.restore)
    delete = _awaited(WinnowProject.delete)
    members = _awaited(WinnowProject.members)
    give_role = _awaited(WinnowProject.give_role)
    remove_member = _awaited(WinnowProject.remove_member)
    classes = _awaited(WinnowProject.classes)
    change_classes = _awaited(WinnowProject.change_classes)
    models = _awaited(WinnowProject.models)
    compare_models = _awaited(WinnowProject.compare_models)
    cancel_comparison = _awaited(WinnowProject.cancel_comparison)
    suggest = _awaited(WinnowProject.suggest)
    suggestions = _awaited(WinnowProject.suggestions)
    cancel_suggestions = _awaited(WinnowProject.cancel_suggestions)
    figures = _awaited(WinnowProject.figures)
    next_question = _awaited(WinnowProject.next_question)
    questions = _awaited(WinnowProject.questions)
    answer = _awaited(WinnowProject.answer)
    answer_row = _awaited(WinnowProject.answer_row)
    answer_rows = _awaited(WinnowProject.answer_rows)
    append = _awaited(WinnowProject.append)
    predict = _awaited(WinnowProject.predict)
    export = _awaited(WinnowProject.export)
    to_frame = _awaited(WinnowProject.to_frame)
    rows = _each(WinnowProject.rows)
    predictions = _each(WinnowProject.predictions)
    log = _each(WinnowProject.log)
