"""Recordings for tests, and a project of their segments."""

from __future__ import annotations

import io
import wave
from typing import Any

import numpy as np

from plcore import LearnerSettings
from tests.plcore.tables.zips import make_zip
from workflow import importing
from workflow.seat import Seat
from workflow.server.home import Home

RATE = 16_000


def tone(seconds: float = 10.0, hertz: float = 3_000.0, rate: int = RATE, begins: float = 0.0) -> bytes:
    """A WAV of one channel, 16 bits: a tone, silent until it begins."""
    times = np.arange(round(seconds * rate)) / rate
    samples = np.where(times >= begins, 0.5 * np.sin(2 * np.pi * hertz * times), 0.0)
    out = io.BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes((samples * 32767).astype("<i2").tobytes())
    return out.getvalue()


TABLE = "id,candidates,call,start,end,hour\n" + "".join(
    f"r{n},wren|robin|tit,calls/{n % 2}.wav,{n % 6 + 1},{n % 6 + 3},{n}.5\n" for n in range(12)
)
RECORDINGS = {"calls/0.wav": tone(), "calls/1.wav": tone(hertz=1_500.0)}


def segments_project(home: Home, owner: int, name: str = "calls", **settings: Any) -> int:
    """Twelve segments of two seconds each, of two recordings of ten."""
    return _project(home, owner, name, make_zip({"calls.csv": TABLE.encode(), **RECORDINGS}), **settings)


def files_project(home: Home, owner: int, files: dict[str, bytes], name: str = "files") -> int:
    """Four rows for each whole recording."""
    rows = "".join(f"wren|robin,{path},{n}.5\n" for path in files for n in range(4))
    return _project(home, owner, name, make_zip({"t.csv": f"candidates,song,hour\n{rows}".encode(), **files}))


def _project(home: Home, owner: int, name: str, data: bytes, **settings: Any) -> int:
    upload = importing.read_upload(data)
    checked = importing.check(upload, upload.suggest_roles())
    assert checked.table is not None, checked.problems
    return importing.create(Seat(home, owner), name, checked.table, LearnerSettings(n_neighbors=3, **settings))
