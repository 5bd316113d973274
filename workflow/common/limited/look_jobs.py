"""What the helper's children do with one picture or recording that somebody looks at, or that a model is to take in."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import soundfile
from PIL import Image

from plcore.tables import MediaError, Sound, thumbnail, to_png
from plcore.tables import spectrogram as picture_of
from plcore.tables.encoders import Description, taken

POINTS = "points.npy"
"""What the inputs of a model are called in the folder of their job."""

_READ = ("PNG", "JPEG", "WEBP", "GIF")
_RATE = 48_000


def small_picture(given: Mapping[str, Any], _folder: Path, _tell: Callable[[float], None]) -> str:
    """The small picture of an image, as base64. given : `path`, or `inline`, its bytes as base64. Raises MediaError."""
    inline = given.get("inline")
    data = Path(given["path"]).read_bytes() if inline is None else base64.b64decode(inline)
    return base64.b64encode(thumbnail(data)).decode()


def spectrogram(given: Mapping[str, Any], _folder: Path, _tell: Callable[[float], None]) -> dict[str, Any]:
    """The picture of a segment of a recording: `png`, as base64, and where it begins and ends.

    given : `path`; `start`, `end`, seconds or None; `drawn`, further arguments of `plcore.tables.spectrogram`;
        `longest`, seconds of the segment that are drawn at most, or None; `heard`, Hz that are drawn at most and the
        rate, Hz, up to which that is so, or None; `dark`, whether what sounds is dark and not light
    Raises MediaError.
    """
    start, end, longest, heard = (given[name] for name in ("start", "end", "longest", "heard"))
    with Sound(Path(given["path"])) as sound:
        facts = sound.facts
        last = facts.seconds if end is None else end
        if longest is not None and last > (start or 0.0) + longest:
            end = (start or 0.0) + longest
        highest = heard[0] if heard is not None and facts.rate <= heard[1] else None
        picture = picture_of(sound, start, end, highest=highest, **given["drawn"])
    if given["dark"]:
        picture = replace(picture, grey=255 - picture.grey)
    edges = {"t0": picture.t0, "t1": picture.t1, "f0": picture.f0, "f1": picture.f1, "seconds": facts.seconds}
    return {"png": base64.b64encode(to_png(picture)).decode(), "edges": edges}


def model_inputs(
    given: Mapping[str, Any], folder: Path, _tell: Callable[[float], None]
) -> list[list[str] | None]:
    """What a model of the owner's takes in of images or segments: left in the folder as POINTS, one after the other.

    given : `about`, the fields of a `Description`; `keys`, as `plcore.tables.encoders.taken` takes them; `paths`, where
        the files lie that they name
    Gives for each None, or why it has nothing there.
    """
    about = Description(**{name: _fixed(value) for name, value in given["about"].items()})
    found: list[Any] = []
    said: list[list[str] | None] = []
    for key in map(_fixed, given["keys"]):
        try:
            found.append(taken(key, about, partial(_opened, given["paths"])))
            said.append(None)
        except MediaError as error:
            said.append([str(one) for one in error.args])
    with (folder / POINTS).open("wb") as file:
        np.save(file, np.array(found, dtype=np.float64), allow_pickle=False)
    return said


def warm() -> None:
    """Read a picture and a sound of each kind, so that what libraries load then is there in every child."""
    for kind in _READ:
        out = io.BytesIO()
        Image.new("RGB", (32, 32)).save(out, kind)
        thumbnail(out.getvalue())
    out = io.BytesIO()
    soundfile.write(out, np.zeros(_RATE), _RATE, format="WAV")
    to_png(picture_of(out, width=64, height=64))


def _opened(paths: Mapping[str, str], name: str) -> BinaryIO:
    return Path(paths[name]).open("rb")


def _fixed(value: Any) -> Any:
    """Of JSON's lists tuples, which can be keys."""
    return tuple(value) if isinstance(value, list) else value
