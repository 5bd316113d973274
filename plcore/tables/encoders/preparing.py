"""Prepare images, sounds and texts as model input, as described in `encoder.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from PIL import Image

from plcore.arrays.types import AnyArray, FloatArray
from plcore.arrays.words import listed
from plcore.tables.encoders.description import Description, EncoderError, inside
from plcore.tables.encoders.model import OnnxModel
from plcore.tables.media.images import small_rgb
from plcore.tables.media.sound import Sound

_EVEN = 1e-6  # share of a hop: a segment of 9.000000001 s has three windows of 3 s
_SILENT = 1e-9  # below the rounding of any recording: the residue of silence without its mean
_FINEST = 1000  # largest denominator of a resampling ratio: 44,100 to 32,000 is 320 / 441
_TOKEN_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def image_points(image: Image.Image, about: Description) -> FloatArray:
    """Scale an image to the model's size: (height, width, 3) RGB in [0, 1], minus `mean`, divided by `std`.

    Transparent parts are white.
    """
    box = None
    if about.crop:
        width, height = about.size
        if about.resize is None:
            scale = min(image.width / width, image.height / height)
        else:
            scale = min(image.width, image.height) / about.resize
        # Crop and scale in one step: scaling first would turn a one-pixel strip into millions of pixels at 256.
        across, down = (image.width - scale * width) / 2, (image.height - scale * height) / 2
        box = (max(0.0, across), max(0.0, down), image.width - across, image.height - down)
        box = (*box[:2], min(box[2], image.width), min(box[3], image.height))
    how = Image.Resampling[about.interpolation.upper()]
    points = np.asarray(small_rgb(image, about.size, box, how), dtype=np.float64)
    return (points / 255 - about.mean) / about.std


def sound_windows(sound: Sound, start: float | None, end: float | None, about: Description) -> tuple[FloatArray, bool]:
    """Return the windows (windows, rate * seconds) of a segment at the model's rate, and whether they cover it.

    start, end : seconds; None for the recording's own
    Raises SoundError. Only the windows are read, as a row may be a recording of hours.
    """
    first, last = sound.span(start, end)
    begin = first / sound.facts.rate if start is None else start
    close = min(sound.facts.seconds, last / sound.facts.rate if end is None else end)
    begins, whole = window_begins(begin, close, about)
    limit = sound.facts.seconds if about.centred else close
    made = []
    for at in begins:
        wanted = max(0.0, at), min(limit, at + about.seconds)
        read = sound.read(*wanted)
        made.append(sound_samples(read, sound.facts.rate, about, silence=max(0.0, -at)))
    return np.stack(made), whole


def window_begins(begin: float, end: float, about: Description) -> tuple[FloatArray, bool]:
    """Return the start (windows,) of each window of a segment in seconds, and whether they cover the segment.

    The windows cover it at a distance of `hop`. If that takes more than `windows`, only that many are used, evenly
    spread from first to last. A single window is the first or, if `centred`, in the middle.
    """
    hop = about.hop or about.seconds
    needed = 1 + max(0, ceil((end - begin - about.seconds) / hop - _EVEN))
    length = (needed - 1) * hop
    first = (begin + end - length - about.seconds) / 2 if about.centred else begin
    if needed > about.windows == 1:
        return np.array([first + length / 2 if about.centred else first]), False
    return first + np.linspace(0.0, length, min(needed, about.windows)), needed <= about.windows


def sound_samples(samples: AnyArray, rate: int, about: Description, silence: float = 0.0) -> FloatArray:
    """Resample the first `seconds` of a sound (frames,) to the model's rate, (rate * seconds,), and scale it to `peak`.

    silence : seconds of silence before it; more follows if the sound is too short
    """
    wanted = round(about.rate * about.seconds)
    lead = min(wanted, round(about.rate * silence))
    ratio = Fraction(about.rate, rate).limit_denominator(_FINEST)
    most = ceil((wanted + 1) / ratio)
    taken = np.asarray(samples[:most], dtype=np.float64)
    if ratio != 1:
        from scipy.signal import resample_poly  # adds 4 MB to each process

        taken = resample_poly(taken, ratio.numerator, ratio.denominator)
    found = np.zeros(wanted)
    taken = taken[: wanted - lead]
    found[lead : lead + len(taken)] = taken
    if about.peak is not None:
        found -= found.mean()
        if (loudest := np.abs(found).max()) > _SILENT:
            found *= about.peak / loudest
    return found


class Prepare(Protocol):
    """Convert the items of one batch to model inputs."""

    def __call__(self, items: Sequence[Any], /) -> Mapping[str, AnyArray]:
        """Return the inputs by name, (n, ...)."""


def preparation(about: Description, model: OnnxModel, folder: Path) -> Prepare:
    """Return the function that converts items (image pixels, sound samples or texts) to this model's inputs.

    Raises EncoderError if the model's inputs do not suit its kind.
    """
    if about.kind == "text":
        return _text_preparation(about, model, folder)
    if len(model.inputs) != 1:
        raise EncoderError(f"The model has {len(model.inputs)} inputs. Fix: give one with the {about.kind} alone.")
    ((name, shape),) = model.inputs.items()
    if model.types[name] not in (np.float32, np.float16, np.float64):
        raise EncoderError(f"The model's input {name!r} takes no real numbers. Fix: give one of float32.")
    return (_image_preparation if about.kind == "image" else _sound_preparation)(about, name, shape)


def _image_preparation(about: Description, name: str, shape: tuple[int | None, ...]) -> Prepare:
    width, height = about.size
    last = (height, width, 3)
    first = (3, height, width)
    fits = [order for order in (first, last) if _fits(shape[1:], order)]
    if not fits:
        raise EncoderError(
            f"The model's input {name!r} has the sides {_shown(shape)}, not (n, 3, {height}, {width}) or "
            f"(n, {height}, {width}, 3). Fix: correct 'size' in encoder.json."
        )

    def prepare(items: Sequence[FloatArray]) -> Mapping[str, AnyArray]:
        points = np.stack(items)
        return {name: points.transpose(0, 3, 1, 2) if fits[0] == first else points}

    return prepare


def _sound_preparation(about: Description, name: str, shape: tuple[int | None, ...]) -> Prepare:
    samples = round(about.rate * about.seconds)
    if not (_fits(shape[1:], (samples,)) or _fits(shape[1:], (1, samples))):
        raise EncoderError(
            f"The model's input {name!r} has the sides {_shown(shape)}, not (n, {samples}) or (n, 1, {samples}). Fix: "
            "correct 'rate' and 'seconds' in encoder.json."
        )

    def prepare(items: Sequence[FloatArray]) -> Mapping[str, AnyArray]:
        return {name: np.stack(items).reshape(len(items), *(1,) * (len(shape) - 2), samples)}

    return prepare


def _text_preparation(about: Description, model: OnnxModel, folder: Path) -> Prepare:
    if about.tokenizer is None:
        ((name, shape),) = model.inputs.items() if len(model.inputs) == 1 else [("", ())]
        if not name or model.types[name] is not object or not (len(shape) == 1 or _fits(shape[1:], (1,))):
            raise EncoderError(
                "The model takes no text, (n,) or (n, 1). Fix: name its tokenizer.json or vocab.txt as 'tokenizer' in "
                "encoder.json."
            )
        return lambda items: {
            name: np.array([about.prefix + one for one in items], dtype=object).reshape(
                len(items), *(1,) * (len(shape) - 1)
            )
        }
    if "input_ids" not in model.inputs or set(model.inputs) - set(_TOKEN_INPUTS):
        fix = f"Fix: export it with inputs {listed(_TOKEN_INPUTS)}; the first is needed."
        raise EncoderError(f"The inputs of the model are {listed(list(model.inputs))}. {fix}")
    tokenizer = _tokenizer(about, folder)
    length = model.inputs["input_ids"][1] if len(model.inputs["input_ids"]) == 2 else None
    most = min(about.tokens, length or about.tokens)
    added = tokenizer.num_special_tokens_to_add(False)
    if most <= added:
        message = f"The tokenizer adds {added} tokens of its own to a text, and at most {most} are allowed."
        raise EncoderError(f"{message} Fix: give more 'tokens' in encoder.json.")
    tokenizer.enable_truncation(most)
    tokenizer.enable_padding(length=length)

    def prepare(items: Sequence[str]) -> Mapping[str, AnyArray]:
        with _its_faults(f"{about.tokenizer} cannot split a text into tokens", "Fix: export it again."):
            found = tokenizer.encode_batch([about.prefix + one for one in items])
        values = {
            "input_ids": [one.ids or [0] for one in found],
            "attention_mask": [one.attention_mask or [0] for one in found],
            "token_type_ids": [one.type_ids or [0] for one in found],
        }
        # Return the mask even if the model has no such input: pooling averages over its tokens.
        return {name: np.array(rows) for name, rows in values.items()}

    return prepare


def _tokenizer(about: Description, folder: Path) -> Any:
    try:
        import tokenizers
        from tokenizers import normalizers, pre_tokenizers, processors
    except ImportError as error:
        message = "A tokenizer needs the package tokenizers, which is not installed."
        raise EncoderError(f"{message} Fix: pip install 'plcore[onnx]', then try again.") from error
    path = inside(folder, str(about.tokenizer))
    fix = "Fix: give a tokenizer.json, or the vocab.txt of a WordPiece model with [CLS], [SEP] and [UNK]."
    with _its_faults(f"{about.tokenizer} cannot be read", fix):
        if path.suffix.lower() == ".json":
            return tokenizers.Tokenizer.from_file(str(path))
        vocabulary = {word: place for place, word in enumerate(path.read_text("utf-8").splitlines())}
        model = tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]")  # noqa: S106 - the name of a token
        found = tokenizers.Tokenizer(model)
        found.normalizer = normalizers.BertNormalizer(lowercase=about.lowercase)
        found.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        ends = {name: (name, vocabulary[name]) for name in ("[SEP]", "[CLS]")}
        found.post_processor = processors.BertProcessing(ends["[SEP]"], ends["[CLS]"])
    return found


@contextmanager
def _its_faults(what: str, fix: str) -> Iterator[None]:
    """Raise EncoderError for whatever the package raises: plain Exception, and for a panic no Exception at all."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise EncoderError(f"{what} ({type(error).__name__}: {str(error)[:200]}). {fix}") from error


def _fits(shape: tuple[int | None, ...], wanted: tuple[int, ...]) -> bool:
    return len(shape) == len(wanted) and all(side in (None, one) for side, one in zip(shape, wanted, strict=True))


def _shown(shape: tuple[int | None, ...]) -> str:
    return f"({', '.join('n' if side is None else str(side) for side in shape)})"
