"""Which format a file has, by its first bytes, and the reader that goes with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd

from plcore.tables.archive import ZIP_STARTS, Archive
from plcore.tables.csv_text import as_text, cells_of_text
from plcore.tables.file_tree import FileTree, MediaError, is_plain_table, too_many_tables
from plcore.tables.folder import Folder
from plcore.tables.formats.arff import looks_like_arff, read_arff
from plcore.tables.formats.arrays import read_mat, read_npz
from plcore.tables.formats.audacity import FORMAT as LABEL_TRACK
from plcore.tables.formats.audacity import (
    ONE_RECORDING,
    about_recording,
    called_after,
    looks_like_labels,
    read_labels,
)
from plcore.tables.formats.detection_tables import AUDACITY, holds_detections, lacks_recording
from plcore.tables.formats.excel import XLS_START, read_workbook
from plcore.tables.formats.libsvm import looks_like_libsvm, read_libsvm
from plcore.tables.formats.mat5 import MAT_START
from plcore.tables.formats.packed import GZIP_START, gunzip, names_in_zip, refuse_drawings
from plcore.tables.formats.parquet import FEATHER_START, PARQUET_START, read_feather, read_parquet
from plcore.tables.formats.reading import TableReading, refusal
from plcore.tables.formats.records import looks_like_json, read_json
from plcore.tables.formats.shaping import joined, lacks_rows, shaped
from plcore.tables.formats.speciesnet import with_pictures
from plcore.tables.formats.unquoted_commas import quote_commas
from plcore.tables.formats.vector_files import VectorFile, vectors_of_npz, vectors_of_table, with_vectors
from plcore.tables.media_files import MediaFiles
from plcore.tables.problems import TableError

_READERS = (
    (XLS_START, read_workbook),
    (PARQUET_START, read_parquet),
    (FEATHER_START, read_feather),
    (MAT_START, read_mat),
)
_HDF_STARTS = (b"\x89HDF\r\n\x1a\n", b"MATLAB 7.3 MAT-file")
_UNPACK = {
    "gzip file": "Unpack it and import what is inside.",
    "zip": "Unpack it and put its files into the zip.",
}
_CSV = "Export the table as CSV in UTF-8 and import that."
_REFUSED = (
    *(
        (start, "a MATLAB file of version 7.3, which is HDF5", "Save it with save(name, '-v7').")
        for start in _HDF_STARTS
    ),
    (b"\x93NUMPY", "one NumPy array, without names", "Save X, S and y together with numpy.savez_compressed."),
    *((bytes([0x80, k]), "a Python pickle, which could run programs", _CSV) for k in (2, 3, 4, 5)),
    (b"%PDF", "a PDF document", _CSV),
    (b"7z\xbc\xaf", "a 7z archive", "Pack it as .zip, or import the table in it."),
    (b"Rar!", "a RAR archive", "Pack it as .zip, or import the table in it."),
    (b"BZh", "a bzip2 archive", "Pack it as .gz or .zip, or import the table in it."),
    (b"\xfd7zXZ", "an xz archive", "Pack it as .gz or .zip, or import the table in it."),
    (b"\x28\xb5\x2f\xfd", "a zstd archive", "Pack it as .gz or .zip, or import the table in it."),
    (b"SQLite format 3", "an SQLite database", _CSV),
    (b"\x89PNG", "an image", "Import a zip of the images and a table that names them."),
    (b"\xff\xd8\xff", "an image", "Import a zip of the images and a table that names them."),
    (b"GIF8", "an image", "Import a zip of the images and a table that names them."),
)
OTHER_STARTS = (*(start for start, _ in _READERS), *(start for start, _, _ in _REFUSED))
"""How files begin that are no text, but for archives."""


def read_table(source: bytes | Path, name: str | None = None) -> TableReading:
    """The table in these bytes, or in the file or folder at this path.

    name : of the file, where only its bytes are given; None: that of the path
    Raises TableError, in words with row, column and fix, where nothing can be read from it.
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
        read = _reader_of_zip(data)
        return _read_tree(Archive(data)) if read is None else read(data)
    return _read_plain(data, called, "file")


def _reader_of_zip(data: bytes) -> Callable[[bytes], TableReading] | None:
    """The reader of a zip that is one file in truth, a workbook or arrays; None for other zips."""
    names = names_in_zip(data)
    if "[Content_Types].xml" in names or {"mimetype", "content.xml"} <= names:
        return read_workbook
    return read_npz if names and all(name.endswith(".npy") for name in names) else None


def _read_plain(data: bytes, name: str, packing: str) -> TableReading:
    """The table of a file that was unpacked from `packing`, if from any; `name` only breaks ties among texts."""
    if data.startswith(ZIP_STARTS):
        read = _reader_of_zip(data)
        if read is None:
            raise refusal(f"The {packing} holds another archive.", _UNPACK[packing])
        return read(data)
    for start, read in _READERS:
        if data.startswith(start):
            return read(data)
    for start, what, fix in _REFUSED:
        if data.startswith(start):
            raise refusal(f"This is {what}.", fix)
    return _read_text(data, name, None)


def _read_text(data: bytes, name: str, labels_xml: str | None) -> TableReading:
    text = as_text(data)
    notes = (text.doubt,) if text.doubt else ()
    is_csv = name.lower().endswith((".csv", ".tsv"))
    if looks_like_json(text.data):
        reading = read_json(text.data)
    elif looks_like_arff(text.data):
        reading = read_arff(text.data, labels_xml)
    elif looks_like_libsvm(text.data) and not is_csv:
        reading = read_libsvm(text.data)
    elif looks_like_labels(text.data):
        reading = read_labels(text.data, name)
    else:
        csv, repaired = quote_commas(text.data)
        cells, form = cells_of_text(csv), "CSV"
        if name and lacks_recording(cells):
            cells, form = cells.assign(**{AUDACITY[0]: called_after(name)}).astype("str"), ONE_RECORDING
        reading = TableReading(cells, form, notes=repaired)
    return replace(reading, notes=(*notes, *reading.notes))


def _read_tree(archive: FileTree) -> TableReading:
    """A table with the images and recordings it names, and perhaps vectors of its rows; candidates or votes, and the
    table of their rows; or an ARFF file with MULAN's list of labels."""
    reading = _read_detections(archive) if len(archive.table_names) > 1 else None
    if reading is None and len(archive.table_names) == 2:
        reading = _read_with_vectors(archive) or _read_two(archive)
    if reading is None:
        inner = _read_member(archive, archive.table_names[0])
        reading = replace(inner, format=f"{archive.what} of a table ({inner.format}) and its files")
    refuse_drawings(reading, archive)
    files = reading.files if reading.files is not None else MediaFiles(archive)
    return with_pictures(replace(reading, files=files))


def _read_detections(archive: FileTree) -> TableReading | None:
    """The rows of all tables, one after the other, where they are tables of one sound detector, one for each recording;
    None where they are not. Raises TableError where they are too many and something else."""
    names, readings = archive.table_names, []
    for name in names:
        try:
            reading = _read_member(archive, name)
        except TableError:
            break
        if reading.roles is not None or not holds_detections(reading.cells):
            break
        readings.append(reading)
    if len(readings) < len(names) or len({tuple(one.cells.columns) for one in readings}) > 1:
        if len(names) > 2:
            raise too_many_tables(names, archive.what)
        return None
    # No line of a file tells where a row of several files stands.
    cells = pd.concat([one.cells for one in readings], ignore_index=True)
    said = f"The {len(names)} tables in the {archive.what} were read one after the other, in the order of their names."
    notes = dict.fromkeys(note for one in readings for note in one.notes)
    return TableReading(cells, f"{archive.what} of {len(names)} tables of detections", notes=(said, *notes))


def read_vectors(source: bytes | Path, name: str | None = None) -> VectorFile:
    """The vectors in these bytes, or in the file at this path: an .npz file, or a table of any format.

    name : of the file, where only its bytes are given. Raises TableError, in words, where there are none.
    """
    data = source if isinstance(source, bytes) else source.read_bytes()
    called = name if name is not None else "" if isinstance(source, bytes) else source.name
    is_npz = data.startswith(ZIP_STARTS) and _reader_of_zip(data) is read_npz
    found = vectors_of_npz(data) if is_npz else vectors_of_table(read_table(data, called))
    if found is None:
        raise refusal(
            "The file of vectors holds labels, too: it is a table of its own.", "Import it by itself."
        )
    return found


def _read_with_vectors(archive: FileTree) -> TableReading | None:
    """The table of a zip that holds a file of vectors of its rows, too; None where neither of two is one."""
    found: dict[str, VectorFile] = {}
    for name in archive.table_names:
        data = archive.table(name)
        if data.startswith(ZIP_STARTS) and _reader_of_zip(data) is read_npz:
            vectors = vectors_of_npz(data)
        else:
            try:
                vectors = vectors_of_table(_read_member(archive, name), alone=True)
            except TableError:  # told where it is read as a table
                continue
        if vectors is not None:
            found[name] = vectors
    if len(found) != 1:
        return None
    ((name, vectors),) = found.items()
    (other,) = (one for one in archive.table_names if one != name)
    reading = replace(_read_member(archive, other), files=MediaFiles(archive))
    told = with_vectors(shaped(reading), vectors)
    return replace(
        told, format=f"{archive.what} of a table ({told.format}), its files and vectors of its rows"
    )


def _read_two(archive: FileTree) -> TableReading | None:
    """The rows of one table with the candidates of the other; None where a second file beside a CSV file is no such
    table. Raises TableError where nobody can tell which of two tables is meant."""
    readings, faults = [], []
    for name in archive.table_names:
        try:
            readings.append(_read_member(archive, name))
        except TableError as error:
            faults.append(error)
    about = [lacks_rows(one) for one in readings]
    if sorted(about) == [False, True]:
        rows = replace(readings[about.index(False)], files=MediaFiles(archive))
        found = joined(readings[about.index(True)], rows)
        return replace(found, format=f"{archive.what} of two tables ({found.format})")
    if is_plain_table(archive.table_names[0]) and not is_plain_table(archive.table_names[1]):
        return None
    raise faults[0] if len(faults) == 1 else too_many_tables(archive.table_names, archive.what)


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
    return about_recording(reading, archive.names()) if about_one else reading
