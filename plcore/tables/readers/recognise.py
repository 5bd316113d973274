"""Recognise a file's format by its first bytes and call its reader; store plain CSV in one pass."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations_with_replacement, islice
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from plcore.arrays.plugins import Plugin, PluginError, import_part
from plcore.arrays.words import counted, listed, quoted
from plcore.tables.columns import Finder, first_rows
from plcore.tables.media.file_tree import (
    MAX_ZIP_MB,
    MB,
    NOTES,
    ZIP_STARTS,
    Archive,
    FileTree,
    Folder,
    MediaError,
    base_name,
    is_plain_table,
    too_many_tables,
)
from plcore.tables.media.files import MediaFiles
from plcore.tables.plugged import ReaderPlugin, reader_for
from plcore.tables.problems import TableError, refusal
from plcore.tables.readers.arrays import holds_votes, votes_of
from plcore.tables.readers.joining import (
    SOURCE_FILE,
    VectorFile,
    are_parts,
    rows_again,
    stacked,
    vectors_of_npz,
    vectors_of_table,
    with_vectors,
)
from plcore.tables.readers.reading import TableReading, read_media, text_table
from plcore.tables.readers.records import records_in
from plcore.tables.readers.registry import (
    NPY,
    NPZ,
    byte_format,
    joined,
    lacks_rows,
    read_together,
    shape_of,
    shaped,
    text_format,
    with_files,
)
from plcore.tables.readers.stored import CELLS, SAID, read_stored, store_said
from plcore.tables.readers.tools.camera_traps import with_observers
from plcore.tables.readers.tools.detections import is_detections, with_recordings
from plcore.tables.readers.tools.kaleidoscope import with_metadata
from plcore.tables.readers.tools.monitoring import CAMTRAP_OBSERVATIONS, OBSERVATIONS, PACKAGE, levels_of, read_package
from plcore.tables.readers.tools.plain_records import with_labels
from plcore.tables.readers.tools.sound_detectors import (
    AUDACITY,
    ONE_RECORDING,
    about_recording,
    called_after,
    detection_layout,
    holds_detections,
    lacks_recording,
)
from plcore.tables.readers.tools.sound_detectors import FORMAT as LABEL_TRACK
from plcore.tables.readers.tools.speciesnet import with_pictures
from plcore.tables.readers.tools.votes import vote_columns
from plcore.tables.text.arrow import GatheredText, stripped
from plcore.tables.text.csv import EMPTY, HEADER_ONLY, LINE_INDEX, as_text, cells_of_text, is_other_file, is_other_text
from plcore.tables.text.frames import frame_as_text
from plcore.tables.text.stream import Batch, PlainCsv, batches, find_plain

GZIP_START = b"\x1f\x8b"
_PIECE = 1 << 20
_MOST_LEFT = 20
"""Maximum number of unread files that are checked for tables."""
_FEW_CELLS = 100
"""Number of cells that are looked for among the files."""
_PACKAGE = re.compile(r"(observations|media|deployments)\.csv", re.IGNORECASE)
_ANEW = "Pack it again, or import the file without packing it."


def gunzip(data: bytes) -> bytes:
    """Decompress a gzip file. Raises TableError: damaged, or too large, as soon as the limit is reached."""
    pieces, size = [], 0
    rest = data
    while rest.startswith(GZIP_START):  # a file may consist of several
        unpacker = zlib.decompressobj(wbits=31)
        try:
            while not unpacker.eof:
                piece = unpacker.decompress(rest, _PIECE)
                rest = unpacker.unconsumed_tail
                if not piece and not rest and not unpacker.eof:
                    raise refusal("The gzip file ends in the middle.", _ANEW)
                pieces.append(piece)
                size += len(piece)
                if size > MAX_ZIP_MB * MB:
                    message = f"Unpacked, the file has more than {MAX_ZIP_MB} MB, the most that is allowed."
                    raise refusal(message, "Import the table in parts.")
        except zlib.error as error:
            raise refusal(f"The gzip file is damaged ({error}).", _ANEW) from error
        rest = unpacker.unused_data
    return b"".join(pieces)


def refuse_drawings(reading: TableReading, archive: FileTree) -> None:
    """Raise TableError if cells name SVG files of the archive, which would be dropped silently."""
    drawings = {name.rpartition("/")[2] for name in archive.names() if name.lower().endswith(".svg")}
    if not drawings:
        return
    finder = Finder.of(reading.cells)
    for column in reading.cells.columns:
        last = stripped(reading.cells, column).to_pandas().str.rpartition("/")[2]
        for row in first_rows(last.isin(drawings).to_numpy()):
            message = "SVG images are not taken: they can carry programs."
            finder.add(row, column, message, "Save it as PNG, JPEG, WebP or GIF, and name that file.")
    finder.refuse()


_NUMBER = re.compile(r"\s*[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?\s*")
_NUMBERS = frozenset(("start (s)", "end (s)", "confidence", "start", "end", "offset", "duration"))
_MAYBE_NUMBERS = frozenset(("lat", "lon", "week", "overlap", "sensitivity", "min_conf"))
_TEXTS = frozenset(
    ("common name", "common_name", "file", "filepath", "species_list", "model", "indir", "folder", "in file")
)
_HEADERS = (
    "start (s),end (s),scientific name,common name,confidence",
    "indir,folder,in file,offset,duration,scientific_name,common_name,confidence",
    "filepath,start,end,scientific_name,common_name,confidence",
)
_MOST_EXTRA = 8
_MOST_TRIED = 20_000
"""Maximum number of rows to repair, as each may be read in a hundred ways. Later ones are left to be reported."""


def quote_commas(data: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Put the cells of shifted rows in quotes, and add a note; other texts are returned unchanged.

    data : of a file, in UTF-8. Line numbers do not change.
    """
    if not may_lack_quotes(data):
        return data, ()
    text = data.decode()
    lines = text.split("\n")
    names = _header(data).split(",")
    tried, repaired, first = 0, 0, 0
    for place, line in enumerate(lines[1:], start=1):
        cells = line.rstrip("\r").split(",")
        if len(cells) <= len(names) or '"' in line:
            continue
        tried += 1
        if tried > _MOST_TRIED:
            break
        ways = list(_ways(cells, names))
        # If two adjacent texts may have the comma, take the first: only the positions of numbers matter.
        if len({_numbers_of(way, names) for way in ways}) == 1:
            repaired, first = repaired + 1, first or place + 1
            lines[place] = ",".join(f'"{cell}"' if "," in cell else cell for cell in ways[0])
    if not repaired:
        return data, ()
    note = (
        f"{repaired} row{'s have' if repaired > 1 else ' has'} a comma inside a name or path without quotes around it, "
        f"the first in line {first}: the numbers next to it tell which cell it belongs to."
    )
    return "\n".join(lines).encode(), (note,)


def may_lack_quotes(data: bytes) -> bool:
    """Whether a text in UTF-8 starts with the header of such a table."""
    return _header(data).startswith(_HEADERS)


def _header(data: bytes) -> str:
    return data.partition(b"\n")[0].decode().strip().lower()


def _ways(cells: Sequence[str], names: Sequence[str]) -> Iterator[list[str]]:
    """Yield every way to join adjacent cells that gives one cell per name, with numbers in number columns."""
    extra = len(cells) - len(names)
    wide = [place for place, name in enumerate(names) if name in _TEXTS]
    if extra > _MOST_EXTRA:
        return
    for chosen in combinations_with_replacement(wide, extra):
        joined, at = [], 0
        for place in range(len(names)):
            width = 1 + chosen.count(place)
            joined.append(",".join(cells[at : at + width]))
            at += width
        if all(_fits(cell, name) for cell, name in zip(joined, names, strict=True)):
            yield joined


def _numbers_of(cells: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(cell for cell, name in zip(cells, names, strict=True) if name in _NUMBERS or name in _MAYBE_NUMBERS)


def _fits(cell: str, name: str) -> bool:
    if name in _NUMBERS:
        return _NUMBER.fullmatch(cell) is not None
    if name in _MAYBE_NUMBERS:
        return not cell.strip() or _NUMBER.fullmatch(cell.replace("-", "", 1)) is not None
    return True


_UNPACK = {"gzip file": "Unpack it and import what is inside.", "zip": "Unpack it and put its files into the zip."}


def read_table(source: bytes | Path, name: str | None = None) -> TableReading:
    """Read the table in these bytes, or in the file or folder at this path.

    name : of the file, if only its bytes are given; None: from the path
    Raises TableError, with row, column and fix, if it cannot be read.
    """
    if isinstance(source, Path) and source.is_dir():
        return _read_tree(Folder(source))
    data = source if isinstance(source, bytes) else source.read_bytes()
    called = name if name is not None else "" if isinstance(source, bytes) else source.name
    if data.startswith(GZIP_START):
        inner = gunzip(data)
        if inner.startswith(GZIP_START):
            raise refusal("The gzip file holds another archive.", _UNPACK["gzip file"])
        reading = _read_plain(inner, called.removesuffix(".gz"), "gzip file")
        return replace(reading, format=f"{reading.format}, packed with gzip")
    if data.startswith(ZIP_STARTS):
        known = byte_format(data)
        return _read_tree(Archive(data)) if known is None else known.read(data)
    return _read_plain(data, called, "file")


def _read_plain(data: bytes, name: str, packing: str) -> TableReading:
    """Read a single file. packing : "file", or the archive that it was in      name : only resolves ties among texts"""
    if (known := byte_format(data)) is not None:
        return known.read(data)
    if data.startswith(ZIP_STARTS):
        raise refusal(f"The {packing} holds another archive.", _UNPACK[packing])
    if (found := reader_for(data, name)) is not None and not _is_ours(data, name):
        return _read_plugged(*found, data, name)
    return _read_text(data, name, None)


def _is_ours(data: bytes, name: str) -> bool:
    """Whether a file that is not binary is recognised by its content: as a text format, or by its columns."""
    try:
        text = as_text(data).data
        return text_format(text, name) is not None or shape_of(cells_of_text(text)) is not None
    except TableError:
        return False


def _read_plugged(plugin: Plugin[ReaderPlugin], declared: ReaderPlugin, data: bytes, name: str) -> TableReading:
    """Import the function of a plug-in and call it. Raises TableError, which names the plug-in, for whatever it does
    wrong."""
    called = f"The plug-in {plugin.name} of {plugin.source}"
    try:
        function = import_part(declared.read)
        if not callable(function):
            raise TypeError(f"{declared.read} is not a function")
        found = frame_as_text(pd.DataFrame(function(data, name)))
    except (TableError, MemoryError):
        raise
    except PluginError as error:
        message, _, fix = str(error).partition(" Fix: ")
        raise refusal(f"{called} has this format, but {message}", fix.capitalize()) from error
    except Exception as error:  # code of others
        message = f"{called} cannot read this file ({type(error).__name__}: {error})."
        fix = "Correct the file, ask the plug-in's author, or save the table as CSV and import that."
        raise refusal(message, fix) from error
    cells = text_table(list(map(str, found)), [found.iloc[:, place].tolist() for place in range(found.shape[1])])
    return TableReading(cells, f"{declared.name} ({plugin.source})")


def _read_text(data: bytes, name: str, labels_xml: str | None) -> TableReading:
    text = as_text(data)
    notes = (text.doubt,) if text.doubt else ()
    if (known := text_format(text.data, name)) is not None:
        reading = known.read(text.data, name, labels_xml)
    else:
        csv, repaired = quote_commas(text.data)
        cells, form = cells_of_text(csv), "CSV"
        if name and lacks_recording(cells):
            cells, form = cells.assign(**{AUDACITY[0]: called_after(name)}).astype("str"), ONE_RECORDING
        reading = TableReading(cells, form, notes=repaired)
    return replace(reading, notes=(*notes, *reading.notes))


def _read_tree(archive: FileTree, level: str | None = None) -> TableReading:
    """Read a zip or folder.

    It has a table with its images, recordings and vectors; or candidates or votes with the table of their rows; or an
    ARFF file with MULAN's list of labels; or tables that are parts of one.

    level : chosen level of a Camtrap DP
    """
    if not archive.table_names:
        return read_media(archive)
    reading, left = None, archive.more_tables
    if len(archive.table_names) > 1:
        reading = _read_package(archive, level) or _read_together(archive) or _read_detections(archive)
    if reading is None and len(archive.table_names) == 2:
        reading = _read_with_votes(archive) or _read_with_vectors(archive) or _read_two(archive)
    if reading is None and len(archive.table_names) > 2:
        reading = _read_parts(archive)
    if reading is None:
        name, *others = archive.table_names
        inner = _read_member(archive, name)
        reading = replace(inner, format=f"{archive.what} of a table ({inner.format}) and its files")
        left = (*others, *left)
    reading = _with_left(reading, archive, left)
    refuse_drawings(reading, archive)
    files = reading.files if reading.files is not None else MediaFiles(archive)
    roles, reading = reading.roles, replace(reading, files=files)
    if roles is None or roles.image or roles.audio:
        return with_pictures(reading)
    seen = with_files(reading, files)  # a tool names its columns without knowing the other columns
    roles = seen.suggest_roles()
    column = roles.image or roles.audio
    found = seen.files is not None and column is not None and seen.files.has_any(seen.cells[column].head(_FEW_CELLS))
    return seen if column is None or found else reading


def _read_package(archive: FileTree, level: str | None) -> TableReading | None:
    """Read the media or events of a Camtrap DP with their observations; None for other tables. Raises TableError."""
    named = {base_name(name).lower(): name for name in archive.table_names}
    if OBSERVATIONS not in named:
        return None
    tables = {name: _read_member(archive, path).cells for name, path in named.items() if name in PACKAGE}
    if not CAMTRAP_OBSERVATIONS.fits(tables[OBSERVATIONS]):
        return None
    others = {one: partial(_read_tree, archive, one) for one in levels_of(tables[OBSERVATIONS])[1:]}
    return replace(read_package(tables, level), files=MediaFiles(archive), others=others)


def _read_together(archive: FileTree) -> TableReading | None:
    """Read several JSON files that one tool writes together; None for others."""
    if not all(name.lower().endswith((".json", ".jsonl", ".ndjson")) for name in archive.table_names):
        return None
    try:
        data = {name: one for name in archive.table_names if (one := archive.table(name)).strip()}  # unknown.jsonl
        files = {base_name(name): records_in(one) for name, one in data.items()}
    except TableError:  # reported when it is read as a table
        return None
    found = read_together(files) if len(files) == len(data) else None
    return None if found is None else replace(found, format=f"{archive.what} of {len(files)} files ({found.format})")


def _read_with_votes(archive: FileTree) -> TableReading | None:
    """Read a table with the votes in an array file next to it, in row order; None for other files."""
    data = {name: archive.table(name) for name in archive.table_names}
    votes = [name for name, one in data.items() if byte_format(one) in (NPZ, NPY) and holds_votes(one)]
    if len(votes) != 1:
        return None
    (other,) = (name for name in data if name not in votes)
    rows = _read_member(archive, other)
    found = votes_of(data[votes[0]], {str(name): rows.cells[name].tolist() for name in rows.cells})
    form = f"{archive.what} of a table ({rows.format}) and its votes ({found.format})"
    return replace(found, format=form, notes=(*rows.notes, *found.notes), files=MediaFiles(archive))


def _read_detections(archive: FileTree) -> TableReading | None:
    """Concatenate tables of one sound detector, one a recording; None for others. TableError: several layouts."""
    names, readings, silent = archive.table_names, [], []
    for name in names:
        try:
            reading = _read_member(archive, name)
        except TableError as error:
            if error.problems in ((HEADER_ONLY,), (EMPTY,)):  # no detections in this recording
                silent.append(name)
                continue
            break
        if reading.roles is not None or not holds_detections(reading.cells):
            break
        readings.append(reading)
    if len(silent) == len(names):
        raise refusal(f"None of the {len(names)} tables in the {archive.what} has a row.", "Add one with data rows.")
    if len(readings) + len(silent) < len(names) or not readings:
        return None
    named = [name for name in names if name not in silent]
    layouts: dict[str, str] = {}
    for one, name in zip(readings, named, strict=True):
        layouts.setdefault(str(detection_layout(one.cells)), name)
    if len(layouts) > 1:
        kinds = "; ".join(f"{layout}, {quoted(name)}" for layout, name in layouts.items())
        message = f"The {archive.what} holds tables of sound detectors in {len(layouts)} layouts: {kinds}."
        raise refusal(message, "Leave the tables of one layout in it: a detector writes its detections in each.")
    # No line numbers: the rows come from several files.
    cells = pd.concat([one.cells for one in readings], ignore_index=True).fillna("").astype("str")
    said = [
        f"The {len(names)} tables in the {archive.what} were read one after the other, in the order of their names."
    ]
    if silent:
        said.append(f"No detection in {listed(silent, 5)}: no row is made of {'it' if len(silent) == 1 else 'them'}.")
    if len({frozenset(one.cells.columns) for one in readings}) > 1:
        said.append("The tables have different columns: what one of them lacks is empty in its rows.")
    notes = dict.fromkeys(note for one in readings for note in one.notes)
    return TableReading(cells, f"{archive.what} of {len(names)} tables of detections", notes=(*said, *notes))


def read_vectors(source: bytes | Path, name: str | None = None) -> VectorFile:
    """Read the vectors in these bytes, or in the file at this path: an .npz file, or a table of any format.

    name : of the file, if only its bytes are given. Raises TableError if there are none.
    """
    data = source if isinstance(source, bytes) else source.read_bytes()
    called = name if name is not None else "" if isinstance(source, bytes) else source.name
    found = vectors_of_npz(data) if byte_format(data) is NPZ else vectors_of_table(read_table(data, called))
    if found is None:
        raise refusal("The file of vectors holds labels, too: it is a table of its own.", "Import it by itself.")
    return found


def _read_with_vectors(archive: FileTree) -> TableReading | None:
    """Read a table with a file of vectors of its rows; None unless exactly one of the two files is one."""
    found: dict[str, VectorFile] = {}
    for name in archive.table_names:
        data = archive.table(name)
        if byte_format(data) is NPZ:
            vectors = vectors_of_npz(data)
        else:
            try:
                vectors = vectors_of_table(_read_member(archive, name), alone=True)
            except TableError:  # reported when it is read as a table
                continue
        if vectors is not None:
            found[name] = vectors
    if len(found) != 1:
        return None
    ((name, vectors),) = found.items()
    (other,) = (one for one in archive.table_names if one != name)
    reading = replace(_read_member(archive, other), files=MediaFiles(archive))
    told = with_vectors(shaped(reading), vectors)
    return replace(told, format=f"{archive.what} of a table ({told.format}), its files and vectors of its rows")


def _read_two(archive: FileTree) -> TableReading | None:
    """Join the rows of one table with the candidates of the other; None if the second file next to a CSV file has none.

    Raises TableError if it is ambiguous which of two tables is meant.
    """
    readings, faults = [], []
    for name in archive.table_names:
        try:
            readings.append(_read_member(archive, name))
        except TableError as error:
            faults.append(error)
    if (seen := with_observers(readings) or with_metadata(readings) or with_labels(readings)) is not None:
        files = MediaFiles(archive)
        found = replace(seen, format=f"{archive.what} of two tables ({seen.format})", files=files)
        return with_recordings(found) if is_detections(found.cells) else found
    about = [lacks_rows(one) for one in readings]
    if sorted(about) == [False, True]:
        rows = replace(readings[about.index(False)], files=MediaFiles(archive))
        found = joined(readings[about.index(True)], rows)
        return replace(found, format=f"{archive.what} of two tables ({found.format})")
    if not faults and are_parts(readings):
        return _in_parts(archive, readings)
    if is_plain_table(archive.table_names[0]) and not is_plain_table(archive.table_names[1]):
        return None
    raise faults[0] if len(faults) == 1 else too_many_tables(archive.table_names, archive.what)


def _read_parts(archive: FileTree) -> TableReading:
    """Concatenate the rows of all tables if they have the same columns. Raises TableError if not."""
    readings: list[TableReading] = []
    for name in archive.table_names:
        try:
            readings.append(_read_member(archive, name))
        except TableError as error:
            raise too_many_tables(archive.table_names, archive.what) from error
        if len(readings) > 1 and not are_parts(readings[-2:]):
            raise too_many_tables(archive.table_names, archive.what)
    return _in_parts(archive, readings)


def _in_parts(archive: FileTree, readings: Sequence[TableReading]) -> TableReading:
    tables = dict(zip(archive.table_names, readings, strict=True))
    votes = vote_columns(readings[0].cells) is not None
    if again := rows_again(tables, votes=votes):
        message = f"The {archive.what} holds {len(tables)} tables with the same columns: {listed(list(tables))}. "
        message += f"They share {again}, so they are not parts of one table."
        fix = "Leave one in it. If each is one person's, write a table with the columns task, worker and label."
        raise refusal(message, fix)
    found = stacked(tables, SOURCE_FILE, "tables", votes=votes)
    return replace(found, format=f"{archive.what} of {len(tables)} tables ({found.format})", files=MediaFiles(archive))


def _with_left(reading: TableReading, archive: FileTree, left: Sequence[str]) -> TableReading:
    """Add notes and doubts about files that may be tables and were not read. left : their names"""
    rows: dict[str, int] = {}
    for name in left[:_MOST_LEFT]:
        try:
            other = _read_member(archive, name).cells
        except TableError:  # settings, a licence or another file that is not a table
            continue
        if len(other) > 1 and len(other.columns) > 1 and base_name(name).lower() != NOTES:
            rows[name] = len(other)
    if any(map(_PACKAGE.fullmatch, map(base_name, archive.table_names))):
        rows.clear()  # the other tables of a Camtrap DP are unrelated
    others = [name for name in left if name not in rows]
    notes = (*reading.notes, f"Not read: {listed(others, 5)}.") if others else reading.notes
    if not rows:
        return replace(reading, notes=notes)
    read = listed([name for name in archive.table_names if name not in left], 3)
    unread = ", ".join(f"{quoted(name)} ({counted(count, 'row')})" for name, count in rows.items())
    message = (
        f"The {archive.what} holds several tables: read here are the {counted(len(reading.cells), 'row')} of {read} "
        f"alone, but {unread} may belong to them."
    )
    fix = "If so, put all rows into one table. If not, leave the other files out, or accept."
    return replace(reading, notes=notes, asks=(*reading.asks, ("more-tables", message, fix)))


def _read_member(archive: FileTree, name: str) -> TableReading:
    table = archive.table(name)
    lists = [other for other in archive.names() if other.lower().endswith(".xml")]
    if name.lower().endswith(".arff") and len(lists) == 1:
        try:
            with archive.open(lists[0]) as file:
                xml = as_text(file.read()).data.decode()
        except MediaError as error:
            raise refusal(*error.args) from error
        return _read_text(table, name, xml)
    reading = _read_plain(table, name, "zip")
    about_one = reading.format in (LABEL_TRACK, ONE_RECORDING)
    return about_recording(reading, archive.names(), name) if about_one else reading


_TOGETHER = 32
"""Number of file blocks stored as one batch. With smaller batches, reading a column would also read its neighbours from
disk.
"""


def store_plain_csv(path: Path, folder: Path, name: str = "") -> bool:
    """Store this file in the folder, with the same result as `read_table` and `store_reading`. name : of the file

    Returns False, and leaves nothing in the folder, if it is not plain CSV (`plcore.tables.text.stream`): callers must
    then use those functions. A pipe is never plain, because it can be read only once.
    """
    csv = find_plain(path, partial(_is_for_others, name=name)) if path.is_file() else None
    if csv is None or not _store(csv, path, folder / CELLS):
        (folder / CELLS).unlink(missing_ok=True)
        return False
    store_said(folder, csv.names, "CSV")
    if lacks_recording(read_stored(folder).cells):  # the column is filled from the file name
        for name in (CELLS, SAID):
            (folder / name).unlink()
        return False
    return True


def _is_for_others(text: bytes, name: str) -> bool:
    """Whether a text with this beginning, in a file of this name, may have another format, or must be repaired
    first."""
    if text.startswith((GZIP_START, *ZIP_STARTS)) or byte_format(text) is not None:
        return True
    return (
        text_format(text, "") is not None
        or reader_for(text, name) is not None
        or may_lack_quotes(text)
        or is_other_file(text) is not None
        or is_other_text(text) is not None
    )


def _store(csv: PlainCsv, path: Path, target: Path) -> bool:
    """Write the cells and the line in which each row starts. Return whether the file was plain to its end."""
    columns = [pa.field(str(place), pa.large_string()) for place in range(len(csv.names))]
    schema = pa.schema([*columns, pa.field(LINE_INDEX, pa.int64())])
    n_rows = 0
    gathered = [GatheredText() for _ in columns]
    with pa.OSFile(str(target), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        blocks = batches(path, csv)
        try:
            while some := list(_gather(islice(blocks, _TOGETHER), gathered)):
                rows = sum(some)
                lines = pa.array(np.arange(n_rows, n_rows + rows) + csv.line + 1)
                writer.write_batch(pa.record_batch([*(one.take() for one in gathered), lines], schema=schema))
                n_rows += rows
        except pa.ArrowInvalid:
            return False
    return n_rows > 0 and csv.has_lines_of_their_own(n_rows)


def _gather(blocks: Iterator[Batch], gathered: Sequence[GatheredText]) -> Iterator[int]:
    """Append each block to the previous ones, column by column, and yield its number of rows."""
    for block in blocks:
        for column, text in zip(block, gathered, strict=True):
            text.add(column)
        yield len(block[0])
