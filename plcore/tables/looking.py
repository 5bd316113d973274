"""Looking at and listening to every file of a table ahead, so that the share done can be told."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from plcore.tables.columns import Finder, stripped
from plcore.tables.file_tree import MediaError
from plcore.tables.media_files import Kind, MediaFiles
from plcore.tables.pictures import is_inline, listed_images
from plcore.tables.problems import MAX_PROBLEMS
from plcore.tables.recordings import rows_by_recording, segment_of
from plcore.tables.roles import Roles
from plcore.tables.segments import parse_segments
from plcore.tables.sound import SoundError


def look_through(
    files: MediaFiles, cells: pd.DataFrame, roles: Roles, on_step: Callable[[float], None]
) -> None:
    """Look at every file that the rows name, and listen to what is learnt from, telling the share done now and then;
    `plcore.tables.media.parse_media` is quick afterwards.

    Stops early where there are more bad files than would be shown.
    """
    columns: list[tuple[Kind, str | None]] = [("image", name) for name in roles.picture_columns]
    columns.append(("audio", roles.audio))
    named = [
        (kind, part)
        for kind, column in columns
        if column is not None and column in cells
        for cell in dict.fromkeys(stripped(cells, column).to_pylist())
        for part in (listed_images(cell) if kind == "image" else [cell])
        if part and not is_inline(part)
    ]
    hear = roles.sound_features and roles.audio is not None and roles.audio in cells
    heard = rows_by_recording(cells, str(roles.audio)) if hear else {}
    segments = parse_segments(cells, roles.start, roles.end, Finder(None)) if heard else None
    total = len(named) + sum(map(len, heard.values()))
    done = bad = 0

    def step() -> None:
        nonlocal done
        if done % 50 == 0:
            on_step(done / total)
        done += 1

    for kind, cell in named:
        step()
        try:
            files.look_at(kind, cell)
            if kind == "audio" and cell in heard:
                asked = [segment_of(segments, row) for row in heard[cell]]
                files.listen(cell, asked, describe=True, tell=step)
        except SoundError:
            pass
        except MediaError:
            bad += 1
            if bad >= MAX_PROBLEMS:
                return
