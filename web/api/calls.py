"""Common parts of every call: its seat, its own thread pool, refusals, and limits for the body."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, FastAPI, Path, Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web.api.conventions import next_link
from web.api.shapes import ToldProblem
from web.guard import seat_of
from web.packed import has_too_many_parts
from web.problems import no_call, problem
from workflow.access import NotAllowed, NotFound
from workflow.answering.loop import AnswerError, StaleQuestion
from workflow.answering.room_settings import RoomError
from workflow.importing import CannotLearn, LongLine, TableError, arrivals
from workflow.importing.more_rows import RowsError
from workflow.models.choosing import CannotCompare
from workflow.models.encoders.offers import EncoderError
from workflow.models.language.requests import LanguageModelError
from workflow.people.members import MemberError
from workflow.projects.classes import ClassError
from workflow.projects.managing import ProjectNameError
from workflow.saving import STORE_FAULTS, NotSaved, words_for_fault
from workflow.seat import Seat

Given = TypeVar("Given")

AT_ONCE = CapacityLimiter(8)
"""Limit of concurrent calls, so that they take no threads from sign-in, files and answers."""
AT_LENGTH = CapacityLimiter(4)
"""The same for calls that read or write a whole file and may take minutes, so that they do not block other
calls."""
MOST = 8_000_000
"""Maximum bytes of a body: ten thousand rows of a few columns."""
MOST_TOGETHER = 4 * MOST
"""Maximum bytes of all bodies read or processed at once: as Python values they take about ten times as
much."""
SMALL = 100_000
"""Maximum bytes of a small body, such as an answer. MOST more bytes are reserved for these, so that files do
not block them."""
PARTS = 50_000
"""Maximum of lists and objects in a body, counted by their brackets."""
DROPPED = 100_000_000
"""Maximum bytes of an oversized body that are read and dropped before it is refused. If the connection closed
while a program still sends, it would get a reset instead of the reply."""
SILENCE = 30.0
"""Seconds within which a body must arrive completely."""
NAMED = 50
"""Characters of a sent name, such as a column's, that an error message repeats."""
AGAIN = "5"
"""Seconds before a retry if the store fails, or many calls are waiting."""

TOO_MUCH = (
    f"The bodies of all current calls have more than {MOST_TOGETHER:,} bytes together. Nothing was "
    f"done. Fix: send this one again in {AGAIN} seconds."
)
_STATUS: dict[type[Exception], int] = {
    NotAllowed: 403,
    NotFound: 404,
    StaleQuestion: 409,
    RowsError: 409,
    AnswerError: 422,
    TableError: 422,
    CannotLearn: 422,
    EncoderError: 422,
    ProjectNameError: 409,
    ClassError: 409,
    MemberError: 409,
    CannotCompare: 422,
    RoomError: 422,
    LanguageModelError: 422,
    arrivals.TooLarge: 413,
    arrivals.OneAtATime: 429,
    arrivals.NoRoom: 507,
    NotSaved: 503,
    LongLine: 503,
}
"""Errors of use cases, with messages for users."""
REFUSALS: dict[int | str, dict[str, object]] = {
    status: {"model": ToldProblem, "description": words}
    for status, words in {
        401: "The token is missing, unknown or expired.",
        403: "The person, or the token, may not do this.",
        404: "It does not exist for this person.",
        422: "The request is invalid.",
        429: "Too many calls.",
        503: "The database fails, or too many calls wait: try again.",
    }.items()
}
"""Possible refusals of every call, for the OpenAPI document."""
BODY_REFUSALS: dict[int | str, dict[str, object]] = REFUSALS | {
    status: {"model": ToldProblem, "description": words}
    for status, words in {
        400: "The body is not valid JSON.",
        408: "The body did not arrive in time.",
        409: "Too late: something else has been stored in the meantime.",
        413: "The body is too large.",
        507: "There is no room on the disk.",
    }.items()
}
"""The same for calls with a body."""


def _seat(request: Request) -> Seat:
    return seat_of(request)


def _seat_at(request: Request, project: Annotated[int, Path(ge=1, le=2**31 - 1)]) -> Seat:
    return seat_of(request, project)


AnySeat = Annotated[Seat, Depends(_seat)]
"""The caller's seat, without a project."""
SeatAt = Annotated[Seat, Depends(_seat_at)]
"""The caller's seat at the project in the address."""


async def refuse_unknown(request: Request) -> None:
    """Refuse unknown query parameters: a misspelt one would have no effect, and no one would notice."""
    route = request.scope["route"]
    known = _query_names(route.dependant)
    for name in request.query_params:
        if name not in known:
            near = get_close_matches(name[:NAMED].lower(), known, 1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            fix = f"send {', '.join(sorted(known))} alone" if known else "send none"
            raise HTTPException(422, f"query: there is no {name[:NAMED]!r} here.{meant} Fix: {fix}.")


def _query_names(call: Dependant) -> set[str]:
    own = {one.alias for one in call.query_params}
    return own.union(*map(_query_names, call.dependencies))


async def done(act: Callable[..., Given], *given: object, **more: object) -> Given:
    """Return the use case's result, computed in a thread."""
    return await to_thread.run_sync(partial(act, *given, **more), limiter=AT_ONCE)


async def done_at_length(act: Callable[..., Given], *given: object) -> Given:
    """The same for work on a whole file."""
    return await to_thread.run_sync(partial(act, *given), limiter=AT_LENGTH)


async def told(make: Callable[[], BaseModel]) -> Response:
    """Return a model as the reply. Both are made in a thread: thousands of values would block the event
    loop."""
    return await done(lambda: _json(make()))


async def told_page(make: Callable[[], tuple[BaseModel, Mapping[str, int]]]) -> Response:
    """The same for a page of a list. make : it, and the query of the page after it, empty for the last one"""

    def reply() -> Response:
        model, query = make()
        response = _json(model)
        if query:
            response.headers["link"] = next_link(query)
        return response

    return await done(reply)


def _json(model: BaseModel) -> Response:
    return Response(model.model_dump_json(), media_type="application/json")


def install_error_handlers(app: FastAPI) -> None:
    """Make the app answer refusals with problem documents, in Winnow's own words."""
    for kind in _STATUS:
        app.add_exception_handler(kind, _refused)
    for fault in STORE_FAULTS:
        app.add_exception_handler(fault, _failed)
    app.add_exception_handler(RequestValidationError, _misfit)
    app.add_exception_handler(HTTPException, _of_http)


def status_of(error: Exception) -> int:
    """Return the HTTP status of a refusal of a use case."""
    return next(_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)


async def _refused(_request: Request, error: Exception) -> Response:
    status = status_of(error)
    return problem(status, str(error), {"retry-after": AGAIN} if status == 503 else None)


async def _failed(_request: Request, error: Exception) -> Response:
    return problem(503, words_for_fault(error), {"retry-after": AGAIN})


async def _misfit(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered only for this class
    return problem(422, "; ".join(_misfit_words(one, request) for one in error.errors()[:5]))


def _misfit_words(one: Mapping[str, Any], request: Request) -> str:
    where = ".".join(str(part)[:NAMED] for part in one["loc"])
    words = one["msg"].removeprefix("Value error, ")  # pydantic's prefix to our message
    if isinstance(one["input"], bytes):  # FastAPI has not parsed it because of its content type
        kind = request.headers.get("content-type")
        words = (
            f"It is sent {f'as {kind:.100}' if kind else 'without Content-Type'}. "
            "Fix: send JSON, with Content-Type: application/json."
        )
    elif one["type"] == "json_invalid":
        words = f"It is not JSON from this character: {one['ctx']['error']}."
    elif one["loc"] == ("body",) and one["type"] == "missing":
        words = "There is none. Fix: send JSON, with Content-Type: application/json."
    return f"{where}: {words}"


async def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered only for this class
    words = str(error.detail)
    if error.status_code == 405:
        return no_call(405, {"allow": ", ".join(methods_at(request))})
    if words == HTTPStatus(error.status_code).phrase:  # unknown address: the standard phrase is enough
        return no_call(error.status_code, error.headers)
    return problem(error.status_code, words, error.headers)


def methods_at(request: Request) -> list[str]:
    """Return all methods of the request's address: the router itself names those of one route."""
    found = {
        method
        for router in request.app.state.routers
        for route in router.routes
        if route.matches(request.scope)[0] is not Match.NONE
        for method in route.methods
    }
    return sorted(found | {"HEAD"} if "GET" in found else found)


class Bounded:
    """ASGI middleware: reads each body completely before it is processed, within limits for one body and for all
    together. A body counts until its call has ended."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Files are streamed to disk, with their own limits.
        streamed = scope.get("path") == f"{scope.get('root_path', '')}{arrivals.PATH}"
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD") or streamed:
            await self._app(scope, receive, send)
            return
        body = bytearray()
        try:
            await self._read(body, scope, receive, send)
        finally:
            self._held -= len(body)

    async def _read(self, body: bytearray, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body into `body`, initially empty, and pass the call on."""
        dropped = 0
        try:
            async with asyncio.timeout(SILENCE):
                async for piece in Request(scope, receive).stream():
                    body += piece
                    self._held += len(piece)
                    if len(body) > MOST:
                        dropped += len(body)
                        self._held -= len(body)
                        body.clear()
                        if dropped > DROPPED:
                            break
                    elif not dropped and self._held > MOST_TOGETHER + (MOST if len(body) <= SMALL else 0):
                        await _closing(503, TOO_MUCH, {"retry-after": AGAIN})(scope, receive, send)
                        return
        except (TimeoutError, ClientDisconnect):
            await _closing(408, f"The body did not arrive within {SILENCE:.0f} s.")(scope, receive, send)
            return
        if dropped:
            words = f"A body has at most {MOST:,} bytes. Fix: send fewer rows at a time."
            await _closing(413, words)(scope, receive, send)
            return
        if has_too_many_parts(body, PARTS):
            await _closing(413, f"A body has at most {PARTS:,} lists and objects.")(scope, receive, send)
            return
        read = False

        async def receive_read() -> Message:
            nonlocal read
            if read:
                return await receive()
            read = True
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        await self._app(scope, receive_read, send)


def _closing(status: int, words: str, headers: Mapping[str, str] | None = None) -> Response:
    return problem(status, words, {"connection": "close", **(headers or {})})
