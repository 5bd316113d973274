"""How the client makes its calls: what it takes for an address and a token, and how long it goes on."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from winnow_labels import client
from winnow_labels.client import Winnow, WinnowError, WinnowProject, WinnowQuestion

LIST = httpx2.Response(200, json={"projects": []})


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses, none of which is waited for."""
    found: list[float] = []
    monkeypatch.setattr("winnow_labels.client.time.sleep", found.append)
    return found


def asking(reply: Callable[[httpx2.Request], httpx2.Response], **more: Any) -> Winnow:
    return Winnow("http://127.0.0.1", "token", transport=httpx2.MockTransport(reply), **more)


def refused(_request: httpx2.Request) -> httpx2.Response:
    raise httpx2.ConnectError("refused")


@pytest.mark.parametrize(
    ("patience", "pauses"),
    [
        (0, []),
        (1.75, [0.5, 1, 0.25]),
        (client.PATIENCE, [0.5, 1, 2, 4, 8, 16, 28.5]),
        (120, [0.5, 1, 2, 4, 8, 16, 30, 30, 28.5]),
    ],
)
def test_it_waits_as_long_as_it_is_told_to(slept: list[float], patience: float, pauses: list[float]) -> None:
    with (
        asking(refused, patience=patience) as winnow,
        pytest.raises(WinnowError, match="did not answer") as gone,
    ):
        winnow.projects()
    assert gone.value.status == 0
    assert slept == pauses


@pytest.mark.parametrize(
    ("asked", "pauses"),
    [("60", [60.0]), ("5", [5.0]), ("600", [60.0]), ("Thu, 26 Nov 2026 12:00:00 GMT", [0.5]), (None, [0.5])],
)
def test_who_called_too_often_waits_as_long_as_the_server_says(
    slept: list[float], asked: str | None, pauses: list[float]
) -> None:
    """6,000 calls in half of a minute are followed by half a minute in which every call is refused."""
    many = httpx2.Response(
        429, json={"detail": "Too many."}, headers={} if asked is None else {"retry-after": asked}
    )
    replies = iter([many, LIST])
    with asking(lambda _request: next(replies)) as winnow:
        assert winnow.projects() == []
    assert slept == pauses


def test_what_does_not_pass_is_said_at_once(slept: list[float]) -> None:
    with (
        asking(lambda _request: httpx2.Response(422, json={"detail": "It does not fit."})) as winnow,
        pytest.raises(WinnowError, match="It does not fit"),
    ):
        winnow.projects()
    assert slept == []


@pytest.mark.parametrize("url", ["", "127.0.0.1:8501", "winnow.example.org", "ftp://winnow.example.org"])
def test_what_is_no_address_is_said_at_once(url: str) -> None:
    with pytest.raises(ValueError, match="begins with http:// or https://"):
        Winnow(url, "token")


@pytest.mark.parametrize("token", ["", " ", "winnow_a\nwinnow_b", "winnow_a b", "winnow_\xe4", "winnow_\0"])
def test_what_is_no_token_is_said_without_it(token: str) -> None:
    with pytest.raises(ValueError, match="A token is one word") as said:
        Winnow("http://127.0.0.1", token)
    assert "winnow_" not in str(said.value)


def test_a_token_may_come_from_a_file_and_an_address_with_a_slash() -> None:
    heard: list[httpx2.Request] = []

    def hear(request: httpx2.Request) -> httpx2.Response:
        heard.append(request)
        return LIST

    with Winnow(" http://127.0.0.1/there/\n", "winnow_a\n", transport=httpx2.MockTransport(hear)) as winnow:
        winnow.projects()
    assert heard[0].headers["authorization"] == "Bearer winnow_a"
    assert str(heard[0].url) == "http://127.0.0.1/there/api/v1/projects"


@pytest.fixture
def project() -> WinnowProject:
    """Of a server that must not be asked."""

    def fail(request: httpx2.Request) -> httpx2.Response:
        raise AssertionError(request.url)

    return asking(fail).project(1)


def test_one_text_is_no_list_of_labels(project: WinnowProject) -> None:
    """Of classes 1, 2 and 12 "not" of "12" would rule out the first two."""
    question = WinnowQuestion("t", "s", 0, "0", None, {}, [], None, None, None, [], ["not"], "")
    with pytest.raises(TypeError, match=r"Fix: \['12'\]"):
        project.answer(question, "not", "12")


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_a_score_that_is_no_number_is_said_before_any_row_is_sent(
    project: WinnowProject, score: float
) -> None:
    rows = itertools.chain(((row, {"ant": 1.0}) for row in range(10_000)), [(10_000, {"ant": score})])
    with pytest.raises(ValueError, match=f"score of 'ant' for row 10000 is {score}"):
        project.predict(dict(rows), "net")
