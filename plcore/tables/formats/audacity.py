"""Audacity's label tracks: text without a header, a stretch on each line: start, end, label and, of detectors, a score.

Such a track does not say what recording it is about: it is the one called as the track is, as `a.wav` is of `a.txt` or
`a.BirdNET.results.txt`; or the only one that came with it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd

from plcore.common.words import listed, quoted
from plcore.tables.base_names import base_name
from plcore.tables.csv_text import LINE_INDEX
from plcore.tables.file_tree import RECORDINGS
from plcore.tables.formats.detection_tables import AUDACITY
from plcore.tables.formats.reading import TableReading, refusal

FORMAT = "Audacity label track"
ONE_RECORDING = "CSV about one recording"
"""What a table of another tool is called that names no recording, as older versions of BirdNET and Raven write it."""
_NUMBER = r"\d+(?:[.,]\d+)?"
_LINE = re.compile(rf"({_NUMBER})\t({_NUMBER})\t([^\t]*)(?:\t([^\t]*))?")
_FREQUENCIES = re.compile(r"\\\t")
_LOOK = 4000
_ADDED = re.compile(
    r"(\.birdnet)?(\.results|\.labels?|\.audacity|(\.table\.\d+)?\.selections?(\.table)?)?\.(txt|tsv|csv)$",
    re.IGNORECASE,
)


def looks_like_labels(data: bytes) -> bool:
    """Whether the first lines of a text (UTF-8) are those of a label track."""
    lines = [line for _, line in _lines(data[:_LOOK].decode(errors="ignore"))]
    if len(data) > _LOOK:
        lines = lines[:-1]  # it may be cut
    labels = [found for line in lines if not _FREQUENCIES.match(line) for found in [_LINE.fullmatch(line)]]
    words = any(found is not None and not re.fullmatch(_NUMBER, found.group(3)) for found in labels)
    return all(found is not None for found in labels) and words


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Number and text of every line that is not blank."""
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if line.strip():
            yield number, line


def read_labels(data: bytes, name: str) -> TableReading:
    """The track as a table with the columns `AUDACITY`; the recording is that which the track is named after.

    name : of the file of the track
    Raises TableError: a line of another form, no labels, no name.
    """
    rows, lines, frequencies = [], [], 0
    recording = called_after(name)
    for number, line in _lines(data.decode()):
        if _FREQUENCIES.match(line):
            frequencies += 1
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            message = f"expected start, end and label with tabs between them, got {quoted(line)}."
            raise refusal(message, "Export the label track anew, or remove the line.", line=number)
        start, end, label, score = found.groups()
        rows.append((recording, start.replace(",", "."), end.replace(",", "."), label, score or ""))
        lines.append(number)
    if not rows:
        raise refusal("The label track has no labels.", "Export a track with at least one.")
    columns = dict(zip(AUDACITY, zip(*rows, strict=True), strict=True))
    cells = pd.DataFrame({name: pd.Series(list(column), dtype="str") for name, column in columns.items()})
    cells.index = pd.Index(lines, name=LINE_INDEX)
    said = (f"{frequencies} lines with frequencies are left out: a question is about a stretch of time.",)
    return TableReading(cells, FORMAT, notes=said if frequencies else ())


def called_after(name: str) -> str:
    """The name of a table without what its tool added: that of its recording, which lacks its own ending."""
    return _ADDED.sub("", base_name(name))


def about_recording(track: TableReading, names: Sequence[str]) -> TableReading:
    """The track, or another table about one recording, with the name of that recording. Raises TableError where nobody
    can tell.

    names : of the files that came with it
    """
    (called,) = set(track.cells[AUDACITY[0]])
    recordings = [name for name in names if name.lower().endswith(RECORDINGS)]
    alike = [name for name in recordings if _stem(name) == unicodedata.normalize("NFC", called).casefold()]
    if len(alike) == 1 or len(recordings) == 1:
        return replace(track, cells=track.cells.assign(**{AUDACITY[0]: (alike or recordings)[0]}))
    message = f"Nobody can tell which recording the table {quoted(called)} is about: {listed(recordings, 5)}."
    if not recordings:
        message = f"The zip holds no recording that the table {quoted(called)} could be about."
    raise refusal(
        message, "Put one recording into the zip, or name the table as the recording: a.txt for a.wav."
    )


def _stem(path: str) -> str:
    return base_name(path).rpartition(".")[0].casefold()
