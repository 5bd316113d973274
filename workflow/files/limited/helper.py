"""The helper: a process of one thread with all readers loaded, which forks a limited child for each job.

It is asked over the socket that is its standard input: a byte with the socket of a job. The child reads the job from
that socket, a line of JSON, and writes lines of JSON to it: `{"begun": true}`, `{"step": 0.5}` on the way, then
`{"result": ...}` or `{"problems": [...]}`, `{"unreadable": [...]}`, `{"failed": text}`. When the child has ended, the
helper writes `{"ended": ...}` with its status and cost, and closes. When the caller closes the other end, the child is
ended, because its result is no longer needed. When anyone who started the helper ends, however that is, the socket
ends, and with it helper and children. A helper without jobs for a while ends, too.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workflow.files.limited.bounds import Bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

JOBS = "workflow.files.limited.jobs"
_PR_SET_PDEATHSIG = 1
IDLE = 60.0
"""Seconds without a job after which the helper ends: it takes some 90 MB, and a new one starts in a second."""


class Helper:
    """Forks for the caller and reports how the children end, until the caller has gone."""

    def __init__(self, control: socket.socket, idle: float) -> None:
        self._control, self._idle = control, idle
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._children: dict[int, tuple[int, socket.socket]] = {}
        """For the reading end of each child's pipe: the child's process id, and the socket of its job."""
        self._asked: dict[int, int] = {}
        """By the socket of its job: the number of a child whose work someone waits for."""

    def serve(self) -> None:
        """Fork for each byte; end a child whose caller has gone, and all children once the server has gone. Returns
        when no one asks; a job that arrives at that moment goes to the next helper, because it has not begun."""
        try:
            while found := self._poll.poll(None if self._children else 1000 * self._idle):
                # The control comes first, as it was registered: so no number of this round is used again within it.
                for descriptor, _events in found:
                    if descriptor in self._children:
                        self._end(descriptor)
                    elif descriptor in self._asked:
                        self._poll.unregister(descriptor)
                        os.kill(self._asked.pop(descriptor), signal.SIGKILL)
                    elif descriptor == self._control.fileno():
                        data, sockets, _, _ = socket.recv_fds(self._control, 1, 1)
                        if not data:
                            return
                        self._fork(socket.socket(fileno=sockets[0]))
        finally:
            for number, _job in self._children.values():
                os.kill(number, signal.SIGKILL)

    def _fork(self, job: socket.socket) -> None:
        reading, writing = os.pipe()
        helper = os.getpid()
        number = os.fork()
        if number == 0:
            self._control.close()
            os.close(reading)
            for _, other in self._children.values():
                other.close()  # who reads it to its end would wait for this child, too
            _work(job, helper)
        os.close(writing)
        self._children[reading] = number, job
        self._poll.register(reading, select.POLLIN)
        self._asked[job.fileno()] = number
        self._poll.register(job, 0)  # the end of the connection is noticed, no matter what the process waits for

    def _end(self, reading: int) -> None:
        """The child that held the other end is gone, or about to be."""
        number, job = self._children.pop(reading)
        self._poll.unregister(reading)
        os.close(reading)
        if self._asked.pop(job.fileno(), None) is not None:
            self._poll.unregister(job)
        _, status, cost = os.wait4(number, 0)
        code = os.waitstatus_to_exitcode(status)
        unit = 1 if sys.platform == "darwin" else 1024
        ended = {"code": code, "peak": cost.ru_maxrss * unit, "cpu": cost.ru_utime + cost.ru_stime}
        with job:
            # The child may have been ended in the middle of a line. The caller may be gone.
            _send(job, {"ended": ended}, before=b"\n")


def _work(job: socket.socket, helper: int) -> None:
    """The value that the child of the helper does; it never returns."""
    code = 1

    def tell(share: float) -> None:
        if not _send(job, {"step": share}):
            os._exit(code)  # the caller has gone

    try:
        _end_with(helper)
        with job.makefile("r", encoding="utf-8") as lines:
            request = json.loads(lines.readline())
        _send(job, {"begun": True})
        Bounds(**request["bounds"]).set()
        said = _answer(request, tell)
        try:
            code = 0 if _send(job, said) else 1
        except MemoryError:  # the words of the result did not fit any more
            _send(job, {"memory": True})
    finally:
        os._exit(code)  # the child must not close the helper's buffers or temporary files a second time


def _answer(request: Mapping[str, Any], tell: Callable[[float], None]) -> dict[str, object]:
    """The result of a job."""
    module, _, job = request["job"].rpartition(".")
    from plcore.tables import MediaError, TableError

    try:
        return {
            "result": getattr(importlib.import_module(module or JOBS), job)(
                request["given"], Path(request["folder"]), tell
            )
        }
    except TableError as error:
        return {"problems": [asdict(problem) for problem in error.problems]}
    except MediaError as error:
        return {"unreadable": [str(one) for one in error.args]}
    except MemoryError:
        return {"memory": True}
    except OSError as error:
        return {"system": [error.errno, error.strerror or str(error), error.filename and str(error.filename)]}
    except Exception:
        return {"failed": traceback.format_exc()}


def _send(job: socket.socket, said: dict[str, object], before: bytes = b"") -> bool:
    """Whether anyone listens."""
    try:
        job.sendall(before + json.dumps(said).encode() + b"\n")
    except OSError:
        return False
    return True


def _end_with(parent: int) -> None:
    """Have the system end this process with the helper, if it can; elsewhere the limit of time does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def main(idle: float = IDLE) -> None:
    """Load the readers and serve. idle : seconds without a job after which it ends"""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl+C goes to all processes of a terminal; the socket says when to end
    control = socket.socket(fileno=0)
    gc.disable()  # searches for garbage take a fifth of the time of loading
    importlib.import_module(JOBS).warm()
    gc.collect()
    gc.freeze()  # children share this memory as long as no one writes to it
    gc.enable()
    Helper(control, idle).serve()
