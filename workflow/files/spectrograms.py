"""Spectrograms of recordings: drawn once, when someone's card asks for one, and kept in the cache of the data folder.

A picture is grey, 8 bits a point; the card gives it the colours of its theme, so that one file serves both.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, cast

from workflow.files import limited
from workflow.files.media import find
from workflow.files.stored import whole_file

if TYPE_CHECKING:
    from pathlib import Path

    from workflow.seat import Seat
    from workflow.server.home import Home

Scale = Literal["linear", "log"]
SCALES = ("linear", "log")
"""How the frequencies are spread over the height."""

WIDTH, HEIGHT = 960, 480
"""Points of a picture."""

AROUND = 2.0
"""Seconds that are drawn before and after the segment."""

LONGEST = 60.0
"""Seconds of a segment that are drawn; of a longer one, or of a whole recording, the first."""

HEARD, ORDINARY_RATE = 12_000.0, 48_000
"""Hz that are drawn at most of a recording with an ordinary rate, Hz; one with more was made for bats: all of it."""

LATEST = 1_000_000.0
"""The last second that can be asked for: more than eleven days."""

MOST_KEPT = 256 * 2**20
"""Bytes of all pictures in the cache; those drawn longest ago go first."""

LEAST_COUNTED = 2**16
"""Bytes that a picture counts at least: of silence it has hardly any, and very many files are slow to look through."""

_DRAWN_AS = 1
"""Version of the drawing code: cached pictures of earlier versions are not shown."""


class BadRequestError(ValueError):
    """The request cannot be meant."""


class NotDrawnError(ValueError):
    """The file cannot be decoded, or has nothing at those seconds. It may still be played."""


@dataclass(frozen=True)
class Asked:
    """Which picture. start, end : seconds of the recording, in order; None is its own begin or end"""

    start: float | None = None
    end: float | None = None
    scale: Scale = "linear"

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Asked:
        """Read the parameters of an address. Raises BadRequestError."""
        if unknown := set(query) - {"start", "end", "scale"}:
            raise BadRequestError(f"A spectrogram has start, end and scale. Got {min(unknown)!r}.")
        start, end, scale = _second(query, "start"), _second(query, "end"), query.get("scale", SCALES[0])
        if scale not in SCALES:
            raise BadRequestError(f"scale is one of {', '.join(SCALES)}. Got {scale!r}.")
        if end is not None and end <= (start or 0.0):
            raise BadRequestError(f"end is later than start, {start or 0.0:g} s. Got {end:g}.")
        return cls(start, end, cast("Scale", scale))

    @property
    def key(self) -> str:
        """A name for it, the same for the same picture."""
        return f"{self.start or 0.0:.3f}-{'end' if self.end is None else f'{self.end:.3f}'}-{self.scale}"


@dataclass(frozen=True)
class Edges:
    """Where a picture begins and ends. t0, t1 : seconds      f0, f1 : Hz      seconds : of the whole recording"""

    t0: float
    t1: float
    f0: float
    f1: float
    seconds: float

    def as_json(self) -> str:
        """One line of ASCII."""
        return json.dumps(asdict(self))


@dataclass(frozen=True)
class Spectrogram:
    """A picture. png : grey, 8 bits, HEIGHT by WIDTH, the highest frequency at the top, loud is white"""

    png: bytes
    edges: Edges


def kept(seat: Seat, name: str, asked: Asked) -> Spectrogram | None:
    """The picture, if it was drawn before and is kept still. Raises NotFound, NotAllowed as `media.find`."""
    find(seat, name)
    return _read(_place(seat.home, name, asked))


def draw(seat: Seat, name: str, asked: Asked) -> Spectrogram:
    """The picture of this recording, drawn if it is not kept, in a limited process. It takes a tenth of a second of
    a processor: the caller bounds how many are drawn at once.

    Raises
    NotDrawnError
    NotFound, NotAllowed : As `media.find`.
    """
    path, _ = find(seat, name)
    place = _place(seat.home, name, asked)
    drawn = _read(place)  # someone else may have waited for it, too
    if drawn is None:
        drawn = _drawn(path, asked)
        with suppress(OSError):  # a disk that is full keeps no one from looking
            _keep(place, drawn)
    return drawn


def _second(query: Mapping[str, str], name: str) -> float | None:
    text = query.get(name)
    if text is None:
        return None
    try:
        second = float(text)
    except ValueError:
        second = math.nan
    if not 0 <= second <= LATEST:
        raise BadRequestError(f"{name} is a number of seconds from 0 to {LATEST:,.0f}. Got {text[:40]!r}.")
    return round(second, 3)


def _drawn(path: Path, asked: Asked) -> Spectrogram:
    from plcore.tables import MediaError

    drawn = {"scale": asked.scale, "around": AROUND, "width": WIDTH, "height": HEIGHT}
    given = {
        "path": str(path),
        "start": asked.start,
        "end": asked.end,
        "longest": LONGEST,
        "heard": [HEARD, ORDINARY_RATE],
        "drawn": drawn,
        "dark": False,
    }
    try:
        found = limited.look("spectrogram", given, path.stat().st_size)
    except MediaError as error:
        raise NotDrawnError(" ".join(map(str, error.args))) from error
    return Spectrogram(base64.b64decode(found["png"]), Edges(**found["edges"]))


def _place(home: Home, name: str, asked: Asked) -> Path:
    return home.cache_dir / "spectrograms" / f"{name}-{asked.key}-{_DRAWN_AS}"


def _read(place: Path) -> Spectrogram | None:
    """Cache of spectrograms: a line with the edges, then the picture."""
    try:
        edges, _, png = place.read_bytes().partition(b"\n")
        return Spectrogram(png, Edges(**json.loads(edges)))
    except (FileNotFoundError, ValueError, TypeError):  # not there, or not what was written: it is redrawn
        return None


def _keep(place: Path, drawn: Spectrogram) -> None:
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with whole_file(place) as file:
        file.write(drawn.edges.as_json().encode() + b"\n" + drawn.png)
    _make_room(place.parent)


def _make_room(folder: Path) -> None:
    """Remove what was drawn longest ago until the rest fits."""
    found = []
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # another process makes room as well
            facts = path.stat()
            found.append((facts.st_mtime_ns, max(facts.st_size, LEAST_COUNTED), path))
    too_much = sum(size for _, size, _ in found) - MOST_KEPT
    for _, size, path in sorted(found):
        if too_much <= 0:
            break
        path.unlink(missing_ok=True)
        too_much -= size
