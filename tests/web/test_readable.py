"""What a page sends that Streamlit could not read is a press that is none."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from streamlit.components.v2.bidi_component.serialization import BidiComponentSerde, deserialize_trigger_list
from streamlit.proto.BackMsg_pb2 import BackMsg

from plcore import AnswerError
from web.packed import MOST, NO_PRESS, Readable, readable
from workflow.answering.press import Press

DEEP = "[" * 100_000 + "]" * 100_000
UNREADABLE = (
    "9" * 5_000,
    DEEP,
    '{"press": ' + "9" * 5_000 + "}",
    '{"a":' * 100_000,
    "",
    "not JSON",
    '["half',
)


def message(part: str, value: str) -> bytes:
    made = BackMsg()
    one = made.rerun_script.widget_states.widgets.add(id="card")
    setattr(one, part, value)
    made.rerun_script.widget_states.widgets.add(id="box", string_value=value)
    return made.SerializeToString()


def value_of(sent: bytes, part: str) -> str:
    read = BackMsg()
    read.ParseFromString(sent)
    card, box = read.rerun_script.widget_states.widgets
    assert (card.id, box.id) == ("card", "box")
    return str(getattr(card, part))


@pytest.mark.parametrize("value", UNREADABLE, ids=range(len(UNREADABLE)))
def test_what_cannot_be_read_becomes_a_press_that_is_refused_in_words(value: str) -> None:
    trigger = value_of(readable(message("json_trigger_value", value)), "json_trigger_value")
    assert trigger == NO_PRESS
    (sent,) = deserialize_trigger_list(trigger) or []
    assert sent["event"] == "press"
    with pytest.raises(AnswerError, match="is no press"):
        Press.read(sent["value"])
    state = value_of(readable(message("json_value", value)), "json_value")
    assert BidiComponentSerde().deserialize(state) == {}


@pytest.mark.parametrize(
    "value", ['[{"event": "press", "value": {"note": "\\ud800"}}]', "null", "NaN", "[1e999]"]
)
@pytest.mark.parametrize("part", ["json_trigger_value", "json_value"])
def test_all_else_is_left_as_it_came(part: str, value: str) -> None:
    json.loads(value)
    sent = message(part, value)
    assert readable(sent) is sent
    for other in (b"", b"no message \xff", BackMsg(clear_cache=True).SerializeToString()):
        assert readable(other) is other


def test_messages_of_a_websocket_are_read_and_nothing_else() -> None:
    bad = message("json_trigger_value", DEEP)
    coming = [
        {"type": "websocket.connect"},
        {"type": "websocket.receive", "bytes": bad},
        {"type": "websocket.receive", "bytes": None, "text": "a"},
        {"type": "websocket.disconnect", "code": 1000},
    ]

    def received(kind: str) -> list[Any]:
        left, got = [dict(one) for one in coming], []

        async def receive() -> Any:
            return left.pop(0)

        async def app(_scope: Any, take: Any, _send: Any) -> None:
            got.extend([await take() for _ in coming])

        async def run() -> None:
            async def send(_message: Any) -> None:
                raise AssertionError

            await Readable(app)({"type": kind}, receive, send)

        asyncio.run(run())
        return got

    assert received("http") == coming
    got = received("websocket")
    assert value_of(got[1]["bytes"], "json_trigger_value") == NO_PRESS
    assert [got[0], got[2], got[3]] == [coming[0], coming[2], coming[3]]


def test_a_message_too_large_to_be_a_press_ends_the_websocket_unread() -> None:
    got: list[str] = []
    told: list[Any] = []

    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        got.append((await receive())["type"])

    async def receive() -> Any:
        return {"type": "websocket.receive", "bytes": b"x" * (MOST + 1)}

    async def send(message: Any) -> None:
        told.append(message)

    asyncio.run(Readable(app)({"type": "websocket"}, receive, send))
    assert got == ["websocket.disconnect"]
    assert told == [{"type": "websocket.close", "code": 1009}]
