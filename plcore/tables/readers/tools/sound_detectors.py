"""Tables of sound detectors: BirdNET, Raven Pro, Kaleidoscope, Audacity and R."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd
import pyarrow as pa

from plcore.arrays.words import listed, quoted
from plcore.tables.columns import LARGEST, Finder, numbers_in
from plcore.tables.media.file_tree import RECORDINGS, base_name
from plcore.tables.problems import MAX_PROBLEMS, refusal
from plcore.tables.readers.mapping import LOOK, TableTool
from plcore.tables.readers.reading import TableReading, texts_of
from plcore.tables.readers.tools.detections import VERIFIED, Detection, detections_reading
from plcore.tables.roles.sample import JUDGED, NO_WORDS, NOT_ASKED_WORDS, VERDICTS, YES_WORDS, key_of, may_be_verdict
from plcore.tables.text.csv import LINE_INDEX

AUDACITY = ("Recording", "Start (s)", "End (s)", "Label", "Score")
"""The columns given to label tracks of Audacity, which have no header. Other tools' tables about one recording, without
a column that names it, get the first of them."""
_GIVEN = AUDACITY[0].lower()

_NO_SCORE = ("", "na", "nan", "none")


@dataclass(frozen=True)
class DetectionTable:
    """A layout of columns. Of each tuple of names (lower case), the first that the file has counts.

    name : of the tool and its table, in words
    needs : columns that identify this layout
    recording : columns whose cells, joined by `/`, are the path
    start : the second of the recording at which a row begins
    clock, end : the times that give its length; `clock` may continue over several recordings
    length : or the length itself
    maybe_score : a column that is a score in some versions and a distance in others, if no other is a score
    needs_recordings : whether other tools have these columns too, so that its files must be recordings
    label, scientific, score : the detected species; of a label such as species, species 2 and so on are further species
        detected at the same time
    """

    name: str
    needs: tuple[str, ...]
    recording: tuple[tuple[str, ...], ...]
    start: tuple[str, ...]
    label: tuple[str, ...]
    scientific: tuple[str, ...] = ()
    score: tuple[str, ...] = ()
    clock: tuple[str, ...] = ()
    end: tuple[str, ...] = ()
    length: tuple[str, ...] = ()
    maybe_score: tuple[str, ...] = ()
    needs_recordings: bool = False

    def fits(self, cells: pd.DataFrame) -> bool:
        """Whether a table has the columns that identify this layout, including one of labels."""
        low = _by_low(cells)
        known = all(name in low for name in self.needs) and _first(low, self.label) is not None
        return known and (not self.needs_recordings or self._has_segments(cells, low))

    def _has_segments(self, cells: pd.DataFrame, low: dict[str, str]) -> bool:
        """Whether a table names files of sound, and where each segment starts and ends; without a column of files, it
        is about one recording if it names species as birdnetlib does."""
        paths = self._paths(low)
        if _first(low, self.start) is None or _first(low, self.end) is None:
            return False
        if not paths or paths[-1] == AUDACITY[0]:
            return {"common_name", "scientific_name"} <= low.keys() and "filepath" not in low
        return all(cell.lower().endswith(RECORDINGS) for cell in texts_of(cells.head(LOOK), paths[-1]))

    def names_recordings(self, cells: pd.DataFrame) -> bool:
        """Whether a column of a table in this layout names the recordings."""
        return bool(self._paths(_by_low(cells)))

    def _paths(self, low: dict[str, str]) -> list[str]:
        return [column for names in self.recording if (column := _first(low, names)) is not None]

    def read(self, cells: pd.DataFrame) -> TableReading:
        """Read one row for each segment of a recording (`plcore.tables.readers.tools.detections`). Raises
        TableError."""
        low = _by_low(cells)
        paths = self._paths(low)
        if not paths:
            raise refusal(
                f"No column names the recordings; the columns are {listed(list(map(str, cells.columns)))}.",
                f"Add one called {quoted(self.recording[-1][0].title())} with the file name of each row's recording.",
            )
        finder = Finder.of(cells)
        start = _numbers(cells, _first(low, self.start), finder)
        if (measured := _first(low, self.length)) is not None:
            lengths, length_column = _numbers(cells, measured, finder), measured
        else:
            clock = start
            if (running := _first(low, self.clock)) not in (None, _first(low, self.start)):
                clock = _numbers(cells, running, finder)
            length_column = str(_first(low, self.end))
            ends = _numbers(cells, length_column, finder)
            lengths = [end - begin for begin, end in zip(clock, ends, strict=True)]
        scored = _first(low, self.score)
        notes: tuple[str, ...] = ()
        if scored is None and (maybe := _first(low, self.maybe_score)) is not None:
            spans = zip(*(texts_of(cells, name) for name in (*paths, str(_first(low, self.start)))), strict=True)
            # A distance has one best match per segment; several rows for one segment are candidates with scores.
            several = len(set(spans)) < len(cells)
            scored = maybe if several else None
            notes = (_maybe_note(maybe, several),)
        scores = _scores(cells, scored, finder)
        labels, latin = (texts_of(cells, _first(low, names)) for names in (self.label, self.scientific))
        main = str(_first(low, self.label)).strip().lower()
        told = main in _COMMON
        others = [texts_of(cells, low[name]) for name in low if re.fullmatch(rf"{re.escape(main)}[ _]?[2-9]", name)]
        path_cells = [texts_of(cells, column) for column in paths]
        right, true, asks = _verdicts(cells, low, main)
        found = []
        for row, record in enumerate(cells.to_dict("records")):
            if len(finder.problems) >= MAX_PROBLEMS:
                break
            recording = "/".join(part for texts in path_cells if (part := texts[row].rstrip("/")))
            label, scientific = (labels[row], latin[row]) if told else _two_names(labels[row], latin[row])
            if not recording:
                finder.add(row, paths[-1], "the row names no recording.", "Write its name, or remove the row.")
            elif not (label or scientific):
                fix = "Write what was heard, nocall for nothing, or remove the row."
                finder.add(row, str(_first(low, self.label)), "the label is empty.", fix)
            elif lengths[row] <= 0:
                message = f"the detection ends {-lengths[row]:g} seconds before it begins."
                if lengths[row] == 0:
                    message = "the detection has no length: it ends where it begins."
                finder.add(row, length_column, message, "Correct the times, or remove the row.")
            else:
                begin = round(start[row], 6)
                end = round(start[row] + lengths[row], 6)
                texts = {str(name): value for name, value in record.items()}
                heard = [(label, scientific), *(_two_names(other[row], "") for other in others if other[row])]
                found += [
                    Detection(row, recording, begin, end, *names, scores[row], texts, right[row], true[row])
                    for names in heard
                ]
        finder.refuse()
        reading = detections_reading(found, self.name, notes)
        return replace(reading, asks=(*reading.asks, *asks))


_VERDICTS = ("verify", "valid", "correct", "is_correct")
"""Columns of a person's yes or no to the detection, next to that of Winnow's own export."""
_NOT_LOOKED_AT = {"", "na", "nan", "none", "null", *NOT_ASKED_WORDS}


def _verdicts(
    cells: pd.DataFrame, low: dict[str, str], label: str
) -> tuple[list[bool | None], list[tuple[str, ...]], list[tuple[str, str, str]]]:
    """Return a person's verdicts on the rows, the true names that they gave, and the doubt about a column that may hold
    verdicts. low, label : the columns by their names in lower case, and that of the detected species"""

    def texts(name: str) -> list[str]:
        """Return the cells of our own column, or if empty, those of an earlier export."""
        earlier = f"before_{name}" if f"before_{VERIFIED[1]}" in low else ""
        columns = [texts_of(cells, low.get(one)) for one in (name, earlier)]
        return [now or before for now, before in zip(*columns, strict=True)]

    own = VERIFIED[1] in low
    taken = VERIFIED[0] if own else next((name for name in _VERDICTS if name in low), None)
    words = [one.lower() for one in (texts(taken) if taken else [""] * len(cells))]
    right = [True if one in _YES else False if one in _NO else None for one in words]
    true: list[tuple[str, ...]] = [(one,) if one else () for one in texts(VERIFIED[1])]
    if "manual id" in low and label != "manual id":
        said = [[part.strip() for part in cell.split(",")] for cell in texts_of(cells, low["manual id"])]
        true = [tuple(part for part in parts if part and part.lower() != "noid") for parts in said]
    for name in low:
        if name == label or name.startswith("before_"):
            continue
        values = {one.strip().lower() for one in cells[low[name]].unique()} - _NOT_LOOKED_AT
        if name == taken:
            doubtful = not values <= _YES | _NO
        else:
            named = len(values) > 1 and bool(values & VERDICTS) and may_be_verdict(key_of(name)) is not None
            doubtful = named or (bool(values) and values <= JUDGED)
        if doubtful:
            message = (
                f"Column {quoted(low[name])} says {listed(sorted(values), 3)} of detections: read here, "
                f"{'only yes and no count' if name == taken else 'it counts for nothing'}, but it may say which of "
                "them a person found right."
            )
            fix = "If it does, call it verify, and write y for right, n for wrong and nothing for not looked at."
            return right, true, [("verdicts-on-labels", message, fix)]
    return right, true, []


_YES, _NO = {*YES_WORDS, "1", "1.0"}, {*NO_WORDS, "0", "0.0"}


def _maybe_note(column: str, several: bool) -> str:
    if several:
        return (
            f"{column} is read as a score, where more is better: several rows of one segment differ in it, as BirdNET "
            "wrote it in early 2026. In Kaleidoscope's own tables it is a distance."
        )
    return (
        f"{column} is not read: it may be a score, as BirdNET wrote it in early 2026, or a distance, as Kaleidoscope "
        "writes it. If it is a score, call the column confidence."
    )


DETECTION_TABLES = (
    DetectionTable(
        "BirdNET table of detections",
        ("start (s)", "end (s)", "scientific name", "confidence"),
        (("file", _GIVEN),),
        ("start (s)",),
        ("common name", "scientific name"),
        ("scientific name",),
        ("confidence",),
        end=("end (s)",),
    ),
    DetectionTable(
        "Raven selection table",
        ("begin time (s)", "end time (s)"),
        (("begin path", "begin file", _GIVEN),),
        ("file offset (s)", "begin time (s)"),
        ("common name", "species", "species code", "scientific name", "annotation", "label"),
        ("scientific name",),
        ("confidence", "score"),
        ("begin time (s)",),
        ("end time (s)",),
    ),
    DetectionTable(
        "Kaleidoscope table",
        ("in file", "offset", "duration"),
        (("indir",), ("folder",), ("in file",)),
        ("offset",),
        ("common_name", "top1match", "manual id", "auto id", "scientific_name"),
        ("scientific_name",),
        ("confidence", "match ratio"),
        length=("duration",),
        maybe_score=("top1dist",),
    ),
    DetectionTable(
        "table of detections as R packages write it",
        ("filepath", "start", "end", "confidence"),
        (("filepath",),),
        ("start",),
        ("common_name", "scientific_name"),
        ("scientific_name",),
        ("confidence",),
        end=("end",),
    ),
    DetectionTable(
        "table of detections in recordings",
        ("confidence",),
        (("file", "filename", "file_name", "file_path", "path", "recording", "input", "audio"),),
        ("start_time", "start"),
        ("common_name", "species_name", "scientific_name", "label", "species"),
        ("scientific_name",),
        ("confidence",),
        end=("end_time", "end"),
        needs_recordings=True,
    ),
    DetectionTable(
        "Audacity label track",
        tuple(name.lower() for name in AUDACITY),
        ((_GIVEN,),),
        ("start (s)",),
        ("label",),
        score=("score",),
        end=("end (s)",),
    ),
)
"""The known layouts; no table has the columns of two of them."""
DETECTIONS = tuple(
    TableTool(layout.name, lambda cells, _name, layout=layout: layout.read(cells), also=layout.fits)
    for layout in DETECTION_TABLES
)


def holds_detections(cells: pd.DataFrame) -> bool:
    """Whether a table has one of these layouts."""
    return detection_layout(cells) is not None


def detection_layout(cells: pd.DataFrame) -> str | None:
    """Return the name of the layout of a table of detections; None for other tables."""
    return next((layout.name for layout in DETECTION_TABLES if layout.fits(cells)), None)


def lacks_recording(cells: pd.DataFrame) -> bool:
    """Whether it has one of these layouts but no column that names recordings: it is about one recording and named like
    it."""
    found = next((layout for layout in DETECTION_TABLES if layout.fits(cells)), None)
    return found is not None and not found.names_recordings(cells)


def _by_low(cells: pd.DataFrame) -> dict[str, str]:
    """Return the columns by their names in lower case; of two with the same name, the first."""
    return {str(name).strip().lower(): str(name) for name in reversed(cells.columns)}


def _first(low: dict[str, str], names: Sequence[str]) -> str | None:
    return next((low[name] for name in names if name in low), None)


def _numbers(cells: pd.DataFrame, column: str | None, finder: Finder) -> list[float]:
    """Return the seconds of a column; NaN with a problem if a cell contains no number."""
    texts = texts_of(cells, column)
    wanted, fix = "seconds, a number from 0 on", "Write such a number, or remove the row."
    return [math.nan if one is None else one for one in _read(texts, column, finder, wanted, fix)]


def _scores(cells: pd.DataFrame, column: str | None, finder: Finder) -> list[float | None]:
    """Return the scores of a column; None if a cell holds none."""
    texts = texts_of(cells, column)
    wanted, fix = "a score, a number from 0 on", "Write such a number, or leave the cell empty."
    return _read(texts, column, finder, wanted, fix, _NO_SCORE)


def _read(
    texts: Sequence[str], column: str | None, finder: Finder, wanted: str, fix: str, nothing: Sequence[str] = ()
) -> list[float | None]:
    """Return the numbers of a column, with decimal points or commas; None if it holds a word for nothing, or, with a
    problem, if it is not a number."""
    said = [text.lower() not in nothing for text in texts]
    known = [text if has else "" for text, has in zip(texts, said, strict=True)]
    values, _, _ = numbers_in(pa.array(known, pa.large_string()))
    found: list[float | None] = []
    for row, (value, has) in enumerate(zip(values.tolist(), said, strict=True)):
        fits = 0 <= value <= LARGEST
        if has and not fits and len(finder.problems) < MAX_PROBLEMS:
            finder.add(row, column, f"expected {wanted}, got {quoted(texts[row])}.", fix)
        found.append(value if has and fits else None)
    return found


_COMMON = ("common name", "common_name")
"""Columns of common names: any value in them is a common name."""


def _two_names(label: str, scientific: str) -> tuple[str, str]:
    """Return the common and the scientific name; both are split from a label such as `Parus major_Great tit`, or with a
    comma."""
    if scientific:
        return label, scientific
    for mark in ("_", ", "):
        latin, found, common = label.partition(mark)
        # "Great tit, female" also looks like a species, but has no capital after the comma.
        if found and common.strip()[:1].isupper() and _is_species(latin):
            return common.strip(), latin
    return label, ""


def _is_species(text: str) -> bool:
    """Whether it is written like a genus and a species."""
    words = text.split()
    return len(words) >= 2 and words[0][:1].isupper() and all(word[:1].islower() for word in words[1:])


FORMAT = "Audacity label track"
ONE_RECORDING = "CSV about one recording"
"""Name of another tool's table without a column of recordings, as older versions of BirdNET and Raven write it."""
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
    lines = [line for line in data[:_LOOK].decode(errors="ignore").replace("\r\n", "\n").split("\n") if line.strip()]
    if len(data) > _LOOK:
        lines = lines[:-1]  # the last line may be cut off
    labels = [found for line in lines if not _FREQUENCIES.match(line) for found in [_LINE.fullmatch(line)]]
    words = any(found is not None and not re.fullmatch(_NUMBER, found.group(3)) for found in labels)
    return all(found is not None for found in labels) and words


def read_labels(data: bytes, name: str) -> TableReading:
    """Read the track as a table with the columns `AUDACITY`; its file is named after the recording.

    name : of the file of the track
    Raises TableError for a line of another form, or if there are no labels or no name.
    """
    rows, lines, frequencies = [], [], 0
    recording = called_after(name)
    for number, line in enumerate(data.decode().replace("\r\n", "\n").split("\n"), start=1):
        if not line.strip():
            continue
        if _FREQUENCIES.match(line):
            frequencies += 1
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            message = f"expected start, end and label with tabs between them, got {quoted(line)}."
            raise refusal(message, "Export the label track again, or remove the line.", line=number)
        start, end, label, score = found.groups()
        rows.append((recording, start.replace(",", "."), end.replace(",", "."), label, score or ""))
        lines.append(number)
    if not rows:
        raise refusal("The label track has no labels.", "Export a track with at least one.")
    columns = dict(zip(AUDACITY, zip(*rows, strict=True), strict=True))
    cells = pd.DataFrame({name: pd.Series(list(column), dtype="str") for name, column in columns.items()})
    cells.index = pd.Index(lines, name=LINE_INDEX)
    said = (f"Lines with frequencies, left out, as a question is about a stretch of time: {frequencies:,}.",)
    return TableReading(cells, FORMAT, notes=said if frequencies else ())


def called_after(name: str) -> str:
    """Return the name of a table without the tool's additions: that of its recording, without the recording's own
    suffix."""
    return _ADDED.sub("", base_name(name))


def about_recording(track: TableReading, names: Sequence[str], path: str) -> TableReading:
    """Return the track, or another table about one recording, with the name of that recording. Raises TableError if the
    recording is ambiguous.

    names : of the files uploaded with it; if none is a recording, the track is called after its own file
    path : of the track among them, whose folder distinguishes recordings with the same name
    """
    (called,) = set(track.cells[AUDACITY[0]])
    recordings = [name for name in names if name.lower().endswith(RECORDINGS)]
    same = unicodedata.normalize("NFC", called).casefold()
    alike = [name for name in recordings if base_name(name).rpartition(".")[0].casefold() == same]
    if not recordings:
        folder = path.rpartition("/")[0]
        return replace(track, cells=track.cells.assign(**{AUDACITY[0]: f"{folder}/{called}".removeprefix("/")}))
    if len(alike) == 1 or len(recordings) == 1:
        return replace(track, cells=track.cells.assign(**{AUDACITY[0]: (alike or recordings)[0]}))
    message = f"It is unknown which recording the table {quoted(called)} is about: {listed(recordings, 5)}."
    raise refusal(message, "Put one recording into the zip, or name the table as the recording: a.txt for a.wav.")
