from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.types import Message

from web.signin import MOST_BYTES, FormError, read_form

FORM = b"application/x-www-form-urlencoded"


def read(*chunks: bytes, kind: bytes = FORM) -> tuple[dict[str, str], int]:
    """The form in these chunks, and how many of them were asked for."""
    left: Iterator[bytes] = iter(chunks)
    asked = 0

    async def receive() -> Message:
        nonlocal asked
        asked += 1
        return {"type": "http.request", "body": next(left, b""), "more_body": asked < len(chunks)}

    request = Request({"type": "http", "method": "POST", "headers": [(b"content-type", kind)]}, receive)
    return asyncio.run(read_form(request)), asked


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=40), max_size=5), st.integers(1, 50))
def test_any_small_form_is_read_in_whatever_pieces_it_comes(fields: dict[str, str], size: int) -> None:
    body = urlencode(fields).encode()
    pieces = [body[at : at + size] for at in range(0, len(body), size)] or [b""]
    found, _ = read(*pieces)
    assert found == fields


@given(st.binary(max_size=200))
def test_any_bytes_are_a_form_or_are_refused(body: bytes) -> None:
    with suppress(FormError):
        assert len(read(body)[0]) <= 20


def test_no_more_is_read_than_a_form_can_have() -> None:
    asked = 0

    async def endless() -> Message:
        nonlocal asked
        asked += 1
        return {"type": "http.request", "body": b"x" * 1024, "more_body": True}

    request = Request({"type": "http", "method": "POST", "headers": [(b"content-type", FORM)]}, endless)
    with pytest.raises(FormError) as refused:
        asyncio.run(read_form(request))
    assert refused.value.status == 413
    assert asked == MOST_BYTES // 1024 + 1


@pytest.mark.parametrize("kind", [b"multipart/form-data; boundary=x", b"application/json", b"text/plain"])
def test_other_types_are_refused_unread(kind: bytes) -> None:
    with pytest.raises(FormError) as refused:
        read(b"name=ada", kind=kind)
    assert refused.value.status == 415


def test_too_many_fields_are_refused_and_of_two_the_first_counts() -> None:
    with pytest.raises(FormError):
        read(b"a=1&" * 21)
    assert read(b"link=one&link=two")[0] == {"link": "one"}
    assert read(b"name=ada", kind=FORM + b"; charset=utf-8")[0] == {"name": "ada"}
