"""Decoding of an encoder's inputs, images and segments of recordings, in limited processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from plcore.tables import MediaError, is_inline
from plcore.tables.encoders import Description, Key, ModelInputs, Take, windows_at_most
from workflow.files import limited
from workflow.files.limited.jobs import POINTS
from workflow.files.scratch import Scratch

_MB = 1_000_000
_COPIES = 3
"""Copies of all numbers in memory at a time: one by one, stacked, and one while the stack is made."""


def taking(path_of: Callable[[str], Path]) -> Take:
    """Return the function that decodes batches for `Encoder.encode`. path_of : path of a stored file by its name;
    raises MediaError"""
    return partial(_take, path_of)


def _take(path_of: Callable[[str], Path], keys: Sequence[Key], about: Description) -> list[ModelInputs | MediaError]:
    """Decode the inputs of a batch; a MediaError in place of each that cannot be decoded."""
    if about.kind == "text":
        return [ModelInputs((key,)) for key in keys]
    found: dict[int, Any] = {}
    paths: dict[str, str] = {}
    size = 0
    for place, key in enumerate(keys):
        name = key if isinstance(key, str) else key[0]
        if is_inline(name):
            size += len(name)
            continue
        try:
            path = path_of(name)
            size += path.stat().st_size
            paths[name] = str(path)
        except (MediaError, OSError) as error:
            found[place] = _as_media_error(error)
    asked = [place for place in range(len(keys)) if place not in found]
    if asked:
        found |= zip(asked, _decoded([keys[place] for place in asked], about, paths, size), strict=True)
    return [found[place] for place in range(len(keys))]


def _decoded(keys: Sequence[Key], about: Description, paths: dict[str, str], size: int) -> list[Any]:
    given = {"about": asdict(about), "keys": list(keys), "paths": paths}
    mb = _COPIES * 8 * about.numbers * sum(windows_at_most(key, about) for key in keys) // _MB
    with closing(Scratch()) as scratch:
        try:
            said = limited.look("model_inputs", given, size, scratch.path, mb)
            made = iter(np.load(scratch.path / POINTS, allow_pickle=False))
        except MediaError as error:
            if len(keys) == 1:
                return [error]
            # One input is too large or crashes the decoder: decode each alone, so that the others still succeed.
            return [one for key in keys for one in _decoded([key], about, paths, size)]
    return [
        ModelInputs(np.array(list(islice(made, one[0]))), one[1]) if isinstance(one[0], int) else MediaError(*one)
        for one in said
    ]


def _as_media_error(error: MediaError | OSError) -> MediaError:
    if isinstance(error, MediaError):
        return error
    return MediaError("the file cannot be read any more.", "Restore it from a backup.")
