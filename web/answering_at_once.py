"""What the server says goes out at once, in however many pieces it comes.

By itself TCP holds a piece back until the one before has been acknowledged, and who receives waits with that, for 40 ms
on Linux: an answer whose head goes out before its body took so long each time. asyncio switches it off for sockets that
name their protocol; Streamlit 1.67 makes one that does not.
"""

from __future__ import annotations

import socket
from contextlib import suppress

MOST = 256
"""Descriptors are looked at below this: what a server listens at is among the first that it opens."""


def answer_at_once() -> None:
    """Have every connection to this process, from now on, send what there is; they are as what is listened at is."""
    for descriptor in range(MOST):
        with suppress(OSError):  # it is open, and a socket, or it is none of ours
            # Not a copy: to close one of SQLite's file would give back the locks that the process has on it.
            one = socket.socket(fileno=descriptor)
            try:
                if one.family in (socket.AF_INET, socket.AF_INET6) and one.getsockopt(
                    socket.SOL_SOCKET, socket.SO_ACCEPTCONN
                ):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            finally:
                one.detach()  # it stays open
