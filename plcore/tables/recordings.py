"""Recordings that cells name, whole or by segments: found, checked against their length, described."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from plcore.common.types import FloatArray
from plcore.tables.columns import Finder, stripped
from plcore.tables.file_tree import MediaError
from plcore.tables.media_files import MediaFiles
from plcore.tables.problems import MAX_PROBLEMS
from plcore.tables.roles import Roles
from plcore.tables.segments import Segment, parse_segments
from plcore.tables.sound import SOUND_NAMES, SoundError

_ZIP_FIX = "Import a zip of the CSV and its files, or take the column's role away."


class Recordings(NamedTuple):
    """Fields of `plcore.tables.media.Media`."""

    names: npt.NDArray[np.object_]
    segments: FloatArray | None
    sounds: npt.NDArray[np.float32] | None


def parse_recordings(
    cells: pd.DataFrame, roles: Roles, files: MediaFiles | None, finder: Finder
) -> Recordings:
    """What the columns of recordings hold. Problems: files that are missing or no recordings, segments that are none or
    lie beyond the end of theirs. One that cannot be decoded is no problem: browsers play more."""
    column = str(roles.audio)
    segments = None
    if roles.start is not None or roles.end is not None:
        segments = parse_segments(cells, roles.start, roles.end, finder)
    names = np.full(len(cells), "", dtype=object)
    sounds = (
        np.full((len(cells), len(SOUND_NAMES)), np.nan, dtype=np.float32) if roles.sound_features else None
    )
    limit = len(finder.problems) + MAX_PROBLEMS
    for cell, rows in rows_by_recording(cells, column).items():
        if len(finder.problems) >= limit:
            break
        try:
            if files is None:
                raise MediaError("the recording is not there: this is a CSV alone.", _ZIP_FIX)
            names[rows], _ = files.look_at("audio", cell)
        except MediaError as error:
            for row in rows[:MAX_PROBLEMS]:
                finder.add(row, column, *error.args)
            continue
        if segments is None and sounds is None:
            continue
        asked = [segment_of(segments, row) for row in rows]
        try:
            heard = files.listen(cell, asked, describe=sounds is not None)
        except SoundError:
            continue
        for row, one in zip(rows, heard, strict=True):
            if isinstance(one, MediaError):
                finder.add(row, roles.start or roles.end or column, *one.args)
            elif sounds is not None:
                sounds[row] = one
    others = roles.numbers or roles.categories or roles.text or roles.embedding or roles.image_features
    if sounds is not None and not others and not finder.problems and np.isnan(sounds).all():
        message = (
            "there is no recording to learn from: every cell is empty, or names one that cannot be decoded."
        )
        finder.add(None, column, message, "Choose other features, or save them as WAV, FLAC, Ogg or MP3.")
    return Recordings(names, segments, sounds)


def rows_by_recording(cells: pd.DataFrame, column: str) -> Mapping[str, list[int]]:
    """The rows, from 0, of each cell that is not empty, in the order in which these first occur."""
    found: dict[str, list[int]] = {}
    for row, cell in enumerate(stripped(cells, column).to_pylist()):
        if cell:
            found.setdefault(cell, []).append(row)
    return found


def segment_of(segments: FloatArray | None, row: int) -> Segment:
    """That of a row; the whole recording where there are none."""
    if segments is None:
        return None, None
    start, end = (None if np.isnan(second) else float(second) for second in segments[row])
    return start, end
