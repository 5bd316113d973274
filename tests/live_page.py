"""A page of a running server without a browser: the websocket of Streamlit's own JavaScript, which draws the first
card, and answers as the card sends them."""

from __future__ import annotations

import contextlib
import json
from http.client import HTTPConnection
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect
from websockets.typing import Subprotocol


class LivePage:
    """The Annotate page of anyone who has this cookie. It is opened at once, and closed at the end of a `with`.

    Raises OSError or a WebSocketException, here and later, if the server is missing or goes away.
    """

    def __init__(self, port: int, cookie: str, query: str = "", timeout: float = 120) -> None:
        self.timeout = timeout
        self.question: dict[str, Any] | None = None
        self._still = False
        self._cookie = cookie
        self._route = HTTPConnection("127.0.0.1", port, timeout=timeout)
        self._held = contextlib.ExitStack()
        self._socket = self._held.enter_context(
            connect(
                f"ws://127.0.0.1:{port}/_stcore/stream",
                additional_headers={"Cookie": cookie},
                subprotocols=[Subprotocol("streamlit"), Subprotocol("none")],
                max_size=None,
                open_timeout=timeout,
            )
        )
        self._state = ClientState(page_name="annotate", query_string=query)
        self._socket.send(BackMsg(rerun_script=self._state).SerializeToString())
        while self.question is None or not self._still:
            self._read()

    def __enter__(self) -> LivePage:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(Exception):  # it may have gone away
            self._route.close()
            self._held.close()

    def press(self, kind: str, labels: list[str], *, again: bool = False) -> str:
        """Answer the displayed question, bypassing the page as the card does; the card then shows the next one. Returns
        the result.

        again : the card sends it once more, because the reply was lost

        Also raises HTTPException, and RuntimeError if the server refuses it only in words.
        """
        assert self.question is not None
        said = {
            "kind": kind,
            "labels": labels,
            "seq": None,
            "token": self.question["token"],
            "shown": self.question["question"]["shown"],
            "note": "",
            "flagged": False,
            "person": self.question["person"],
            "zone": "UTC",
            "again": again,
        }
        headers = {"Content-Type": "application/json", "Cookie": self._cookie}
        self._route.request("POST", "/" + self.question["route"], json.dumps(said), headers)
        reply = self._route.getresponse()
        words = reply.read().decode()
        if not words.startswith("{"):
            raise RuntimeError(f"{reply.status}: {words[:200]}")
        card = json.loads(words)["card"]
        if card is None:  # the next question was not available; the card would ask its page for it
            self.question = None
            return "Saved"
        self.question = {**self.question, **card} if card["question"] else None
        return str(card["saved"]["message"])

    def _read(self) -> None:
        """Read one message. The latest drawn card is the one on the screen."""
        told = ForwardMsg()
        told.ParseFromString(bytes(self._socket.recv(timeout=self.timeout)))  # type: ignore[arg-type]
        if told.WhichOneof("type") == "new_session":
            self._state.page_script_hash = told.new_session.page_script_hash
        elif told.delta.new_element.WhichOneof("type") == "bidi_component":
            card = told.delta.new_element.bidi_component
            drawn = json.loads(card.json or card.mixed.json or "{}")
            if drawn.get("question"):
                self.question = drawn
        elif told.WhichOneof("type") == "script_finished":
            self._still = True  # an earlier press would find no matching card
