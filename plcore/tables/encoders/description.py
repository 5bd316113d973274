"""`encoder.json`: the owner's description of a model, next to `model.onnx` in its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeGuard

from plcore.arrays.words import listed, quoted

Kind = Literal["image", "text", "sound"]
KINDS: tuple[Kind, ...] = ("image", "text", "sound")
Pooling = Literal["mean", "first"]
POOLINGS: tuple[Pooling, ...] = ("mean", "first")
Interpolation = Literal["nearest", "bilinear", "bicubic", "box", "lanczos"]
INTERPOLATIONS: tuple[Interpolation, ...] = ("nearest", "bilinear", "bicubic", "box", "lanczos")
Activation = Literal["none", "sigmoid", "softmax"]
ACTIVATIONS: tuple[Activation, ...] = ("none", "sigmoid", "softmax")
MODEL, DESCRIPTION = "model.onnx", "encoder.json"
MAX_SIDE = 2048  # pixels per side; encoders use a few hundred
MAX_RATE = 400_000  # samples per second, for bat recordings
MAX_SECONDS = 600.0
MAX_SAMPLES = 30_000_000  # of all windows of a segment: ten minutes at 48,000 a second
MAX_TOKENS = 8192
MAX_PREFIX = 200  # characters
_COLORS = 3
_MOST = 100_000  # maximum bytes of encoder.json


class EncoderError(ValueError):
    """An encoder cannot be used; the message includes the fix."""


@dataclass(frozen=True)
class Description:
    """Preparation of a model's inputs.

    kind : of the encoded column: "image", "text" or "sound"
    output : name of the model's output; None: the first
    pooling : of an output (n, tokens or time steps, d): the "mean", or the "first" of them

    size : (width, height) in pixels to which images are scaled
    crop : whether the centre of an image is cropped to the aspect ratio of `size`, instead of distorting the image
    mean, std : for red, green and blue in [0, 1]: subtracted, then divided by
    resize : length of an image's shorter side in pixels before the centre crop; None: as long as that side of `size`
    interpolation : method by which images are scaled

    rate : samples per second      seconds : length of a window; shorter segments are padded with silence
    hop : seconds from the start of one window to the next; None: `seconds`
    windows : maximum number of windows per segment, spread evenly; the vector is their mean
    centred : whether the windows are centred in the segment and include sound around a shorter one; otherwise they
        start where the segment starts, and include nothing after its end
    peak : maximum to which each window is scaled after its mean is subtracted; None: as recorded

    tokenizer : file name of a `tokenizer.json`, or of the `vocab.txt` of a WordPiece model; None: the model takes text
    tokens : maximum tokens per text, which is truncated      lowercase : whether a `vocab.txt` is lower-case only
    prefix : text that the model needs before each text, such as "query: "

    classes : name of a text file with a label per line, if the output is a score for each: the model is a classifier
    activation : converts the output to scores
    """

    kind: Kind
    output: str | None = None
    pooling: Pooling = "mean"
    size: tuple[int, int] = (224, 224)
    crop: bool = False
    mean: tuple[float, ...] = (0.0,) * _COLORS
    std: tuple[float, ...] = (1.0,) * _COLORS
    resize: int | None = None
    interpolation: Interpolation = "bilinear"
    rate: int = 0
    seconds: float = 0.0
    hop: float | None = None
    windows: int = 1
    centred: bool = False
    peak: float | None = None
    tokenizer: str | None = None
    tokens: int = 256
    lowercase: bool = True
    prefix: str = ""
    classes: str | None = None
    activation: Activation = "none"

    @property
    def numbers(self) -> int:
        """How many numbers an image or a window has; 0 for a text."""
        width, height = self.size
        return {"image": _COLORS * width * height, "sound": round(self.rate * self.seconds), "text": 0}[self.kind]


_FIELDS: Mapping[str, tuple[str, ...]] = {
    "image": ("size", "crop", "mean", "std", "resize", "interpolation"),
    "sound": ("rate", "seconds", "hop", "windows", "centred", "peak"),
    "text": ("tokenizer", "tokens", "lowercase", "prefix"),
}


def read_description(folder: Path) -> Description:
    """Read `encoder.json` in this folder. Raises EncoderError: no such file, unknown or wrong values."""
    path = inside(folder, DESCRIPTION)
    try:
        with path.open("rb") as file:
            told = json.loads(file.read(_MOST))
    except (ValueError, RecursionError) as error:
        raise EncoderError(f"{DESCRIPTION} is not JSON ({error}). Fix: write one object.") from error
    if not isinstance(told, dict):
        raise EncoderError(f'{DESCRIPTION} must hold one object. Fix: write {{"kind": "image", ...}}.')
    return described(told)


def described(told: Mapping[str, Any]) -> Description:
    """Parse the object in `encoder.json`. Raises EncoderError: unknown or wrong values."""
    kind = told.get("kind")
    if kind not in KINDS:
        _wrong("kind", f"one of {listed(KINDS)}", kind)
    allowed = ("kind", "output", "pooling", *_FIELDS[kind], "classes", "activation")
    if unknown := [name for name in told if name not in allowed]:
        raise EncoderError(f"{DESCRIPTION} has {listed(unknown)}. Fix: for {kind}, give {listed(allowed)}.")
    return Description(**_checked(told))


def inside(folder: Path, name: str) -> Path:
    """Return the path of a file in the folder. Raises EncoderError if it does not exist, or is outside the folder."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise EncoderError(f"{quoted(name)} leads out of the encoder's folder. Fix: put the file into it.")
    if not path.is_file():
        raise EncoderError(
            f"There is no {quoted(name)} in {quoted(folder.name)}. Fix: put {MODEL} and {DESCRIPTION} there."
        )
    return path


def _checked(told: Mapping[str, object]) -> dict[str, Any]:
    kind = told["kind"]
    found: dict[str, Any] = {"kind": kind}
    for name in ("output", "tokenizer", "classes"):
        if name in told:
            found[name] = told[name]
            if not isinstance(told[name], str) or not told[name]:
                _wrong(name, "a name", told[name])
    for name in ("crop", "lowercase", "centred"):
        if name in told:
            found[name] = told[name]
            if not isinstance(told[name], bool):
                _wrong(name, "true or false", told[name])
    if "size" in told:
        size = told["size"] if isinstance(told["size"], list) else [told["size"]] * 2
        if len(size) != 2 or not all(_is_whole(side, MAX_SIDE) for side in size):
            _wrong("size", f"[width, height], from 1 to {MAX_SIDE} points", told["size"])
        found["size"] = tuple(size)
    for name in ("mean", "std"):
        if name in told:
            found[name] = _of_colors(name, told[name])
    choices = {"pooling": POOLINGS, "interpolation": INTERPOLATIONS, "activation": ACTIVATIONS}
    for name, words in choices.items():
        if name in told:
            found[name] = told[name]
            if told[name] not in words:
                _wrong(name, f"one of {listed(words)}", told[name])
    if "resize" in told:
        found["resize"] = _resize(told["resize"], found)
    if "prefix" in told:
        found["prefix"] = told["prefix"]
        if not isinstance(told["prefix"], str) or len(told["prefix"]) > MAX_PREFIX:
            _wrong("prefix", f"a text of at most {MAX_PREFIX} characters", told["prefix"])
    if "tokens" in told and not _is_whole(told["tokens"], MAX_TOKENS):
        _wrong("tokens", f"a whole number from 1 to {MAX_TOKENS:,}", told["tokens"])
    if kind == "sound":
        if not _is_whole(told.get("rate"), MAX_RATE):
            _wrong("rate", f"samples a second, a whole number up to {MAX_RATE:,}", told.get("rate"))
        seconds = told.get("seconds")
        if not _is_number(seconds) or not 0 < seconds <= MAX_SECONDS:
            _wrong("seconds", f"a number above 0, up to {MAX_SECONDS:g}", seconds)
        most = max(1, int(MAX_SECONDS / seconds))
        if not _is_whole(told.get("windows", 1), most):
            limit = f"a whole number from 1 to {most}, for {MAX_SECONDS:g} seconds are heard at most"
            _wrong("windows", limit, told["windows"])
        if not _is_number(hop := told.get("hop", seconds)) or not 0 < hop <= seconds:
            _wrong("hop", "a number above 0, up to 'seconds', so that nothing between two windows is left out", hop)
        if not _is_number(peak := told.get("peak", 1)) or not peak > 0:
            _wrong("peak", "a number above 0", peak)
    for name in ("tokens", "rate", "seconds", "hop", "windows", "peak"):
        if name in told:
            found[name] = told[name]
    if kind == "sound" and (samples := found["rate"] * found["seconds"] * found.get("windows", 1)) > MAX_SAMPLES:
        raise EncoderError(
            f"'rate', 'seconds' and 'windows' in {DESCRIPTION} give {samples:,.0f} samples a segment; at most "
            f"{MAX_SAMPLES:,} are allowed. Fix: give a lower rate, or fewer or shorter windows."
        )
    return found


def _resize(value: object, found: Mapping[str, Any]) -> int:
    least = max(found.get("size", Description.size))
    if not found.get("crop", False):
        raise EncoderError(
            f"'resize' in {DESCRIPTION} is the shorter side before the middle is cut out, and nothing is cut out. "
            "Fix: add \"crop\": true, or leave 'resize' out."
        )
    if not _is_whole(value, MAX_SIDE) or value < least:
        _wrong("resize", f"a whole number of points from {least}, the longer side of 'size', to {MAX_SIDE}", value)
    return value


def _of_colors(name: str, value: object) -> tuple[float, ...]:
    values = value if isinstance(value, list) else [value] * _COLORS
    good = len(values) == _COLORS and all(_is_number(each) for each in values)
    if not good or (name == "std" and min(values) <= 0):
        above = ", above 0" if name == "std" else ""
        _wrong(name, f"three numbers, for red, green and blue of values from 0 to 1{above}", value)
    return tuple(map(float, values))


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e9


def _is_whole(value: object, most: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _wrong(name: str, allowed: str, value: object) -> NoReturn:
    raise EncoderError(f"{name!r} in {DESCRIPTION} must be {allowed}. Got {quoted(json.dumps(value)[:60])}.")
