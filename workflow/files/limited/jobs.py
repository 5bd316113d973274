"""Jobs of the helper's children on user files. Each job takes JSON and a folder, and gives JSON back."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Literal, NotRequired, TypedDict

import numpy as np
import soundfile
from PIL import Image

from plcore import LabelTable, Roles
from plcore.tables import (
    CLASSES,
    Doubt,
    Folder,
    MediaError,
    MediaFiles,
    Sound,
    check_media,
    find_doubts,
    find_parts,
    joined,
    lacks_labels,
    lacks_rows,
    lay_out,
    read_in,
    read_stored,
    read_table,
    read_vectors,
    reader_plugins,
    shape_name,
    shaped,
    store_parts,
    store_plain_csv,
    store_reading,
    thumbnail,
    to_png,
    ways_of,
    with_classes,
    with_rows,
    with_vectors,
)
from plcore.tables import spectrogram as picture_of
from plcore.tables.encoders import Description, Encoder, EncoderError, ModelInputs, encoder_plugins, taken
from workflow.files.limited.asking import NUMBERS, TABLE

# Jobs of the helper's children on one image or recording, for viewing or encoding.

POINTS = "points.npy"
"""The name of the inputs of a model in the folder of their job."""

_READ = ("PNG", "JPEG", "WEBP", "GIF")
_RATE = 48_000


class PictureGiven(TypedDict):
    """A path, or the bytes of an image as base64."""

    path: NotRequired[str]
    inline: NotRequired[str | None]


class SpectrogramGiven(TypedDict):
    """See `spectrogram`. drawn : fields of Drawn that are set"""

    path: str
    start: float | None
    end: float | None
    longest: float | None
    heard: tuple[float, float] | None
    dark: bool
    drawn: Drawn


class Drawn(TypedDict, total=False):
    """Further arguments of `plcore.tables.spectrogram`."""

    scale: Literal["linear", "log"]
    around: float
    width: int
    height: int


class InputsGiven(TypedDict):
    """See `model_inputs`."""

    about: dict[str, Any]
    keys: list[Any]
    paths: dict[str, str]


def small_picture(given: PictureGiven, _folder: Path, _tell: Callable[[float], None]) -> str:
    """The small picture of an image, as base64. given : `path`, or `inline`, its bytes as base64. Raises MediaError."""
    inline = given.get("inline")
    data = Path(given["path"]).read_bytes() if inline is None else base64.b64decode(inline)
    return base64.b64encode(thumbnail(data)).decode()


def spectrogram(given: SpectrogramGiven, _folder: Path, _tell: Callable[[float], None]) -> dict[str, object]:
    """The picture of a segment of a recording: `png`, as base64, and where it begins and ends.

    given : `path`; `start`, `end`, seconds or None; `drawn`, further arguments of `plcore.tables.spectrogram`;
        `longest`, seconds of the segment that are drawn at most, or None; `heard`, Hz that are drawn at most and the
        rate, Hz, up to which that is so, or None; `dark`, whether what sounds is dark and not light
    Raises MediaError.
    """
    start, end, longest, heard = given["start"], given["end"], given["longest"], given["heard"]
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
    given: InputsGiven, folder: Path, _tell: Callable[[float], None]
) -> list[list[str] | tuple[int, bool]]:
    """Inputs of an owner's model from images or segments: left in the folder as POINTS, one after the other.

    given : `about`, the fields of a `Description`; `keys`, as `plcore.tables.encoders.taken` takes them; `paths`, where
        the files lie that they name
    Gives for each how many inputs it has there and whether they are all of it, as `ModelInputs`, or why it has none.
    """
    about = Description(**{name: _fixed(value) for name, value in given["about"].items()})
    found: list[Any] = []
    said: list[list[str] | tuple[int, bool]] = []
    for key in map(_fixed, given["keys"]):
        try:
            one = taken(key, about, partial(_opened, given["paths"]))
            found.extend(one.inputs)
            said.append((len(one.inputs), one.whole))
        except MediaError as error:
            said.append([str(words) for words in error.args])
    with (folder / POINTS).open("wb") as file:
        np.save(file, np.array(found, dtype=np.float64), allow_pickle=False)
    return said


class TextsGiven(TypedDict):
    """See `text_vectors`."""

    encoder: str
    texts: list[str]


def text_vectors(given: TextsGiven, _folder: Path, _tell: Callable[[float], None]) -> dict[str, object]:
    """Encode texts that someone typed: `vectors`, a list of numbers for each, or `why` they cannot be encoded.

    given : `encoder`, the path of its folder; `texts`
    """
    try:
        encoder = Encoder(given["encoder"])
        found = encoder.encode_inputs([ModelInputs((text,)) for text in given["texts"]])
    except EncoderError as error:
        return {"why": str(error)}
    return {"vectors": [vector.tolist() for vector in found]}


def warm() -> None:
    """Read a picture and a sound of each kind and find the plug-ins, so that what this loads is in every child."""
    for kind in _READ:
        out = io.BytesIO()
        Image.new("RGB", (32, 32)).save(out, kind)
        thumbnail(out.getvalue())
    out = io.BytesIO()
    soundfile.write(out, np.zeros(_RATE), _RATE, format="WAV")
    to_png(picture_of(out, width=64, height=64))
    reader_plugins()
    encoder_plugins()


def _opened(paths: Mapping[str, str], name: str) -> BinaryIO:
    return Path(paths[name]).open("rb")


def _fixed(value: object) -> Any:
    """For JSON's lists tuples, which can be keys."""
    return tuple(value) if isinstance(value, list) else value


Given = tuple[bytes | Path, str | None]
Named = tuple[str, str | None]
"""A path, and the file's own name or None."""


class ReadGiven(TypedDict):
    """See `read`."""

    file: Named
    rows: Named | None
    vectors: Named | None
    as_it_is: bool
    ways: Mapping[str, str]


class CheckGiven(TypedDict):
    """See `check`."""

    roles: dict[str, object]
    out: str


class GrowGiven(TypedDict):
    """See `grow`."""

    out: str
    table: str
    called: Mapping[str, str]
    label_columns: Sequence[str]


def read(given: ReadGiven, folder: Path, _tell: Callable[[float], None]) -> dict[str, object]:
    """Read a table, with the files next to it; the reading is left in the folder (`plcore.tables.store_reading`).

    given : `file`, and perhaps `rows` and `vectors`, each a path and the file's own name or None; `as_it_is`; `ways`,
        as in `plcore.tables.read_in`
    Gives fields of `workflow.importing.reading.Upload`. Raises TableError.
    """
    wanted = {"file": given["file"], "rows": given["rows"], "vectors": given["vectors"]}
    files = {name: (Path(one[0]), one[1]) for name, one in wanted.items() if one is not None}
    digests: list[bytes] = []

    def in_hand(name: str) -> Given:
        """The bytes of a file and its name; a folder unchanged. Input from a pipe can be read only once."""
        path, own = files[name]
        source = path if path.is_dir() else path.read_bytes()
        digests.append(_digest(source))
        return source, own

    at_once = _stored_at_once(*files["file"], folder)
    if at_once is not None:
        digests.append(at_once)
    first = read_table(*in_hand("file")) if at_once is None else read_stored(folder)
    ways, chosen = ways_of(first), dict(given["ways"])
    classes = chosen.pop(CLASSES.name, "")
    reading = read_in(first, chosen) if chosen else first
    shape = shape_name(reading)
    if "rows" in files:
        reading = joined(reading, read_table(*in_hand("rows")))
    elif shape is not None and not given["as_it_is"]:
        reading = shaped(reading)
    if "vectors" in files:
        reading = with_vectors(reading, read_vectors(*in_hand("vectors")))
    if classes:
        reading = with_classes(reading, classes)
    if at_once is None or reading is not first:
        store_reading(reading, folder)
    guess = reading.suggest_roles()
    if classes or lacks_labels(reading, guess):
        ways = (*ways, CLASSES)
    return {
        "shape": shape,
        "source_hash": hashlib.sha256(b"".join(digests)).hexdigest(),
        # A row with one vote each, read as an item, describes itself.
        "needs_rows": shape_name(reading) is None and lacks_rows(reading, guess),
        "guess": guess.to_json(),
        "ways": [asdict(one) for one in ways],
    }


def _stored_at_once(file: Path, name: str | None, folder: Path) -> bytes | None:
    """The SHA-256 of a table that was stored while it was read; None for any other. name : its own"""
    if (parts := find_parts(file)) is not None:
        store_parts(parts, folder)
        return parts.digest()
    return _digest(file) if file.is_file() and store_plain_csv(file, folder, name or "") else None


def check(given: CheckGiven, folder: Path, tell: Callable[[float], None]) -> dict[str, object]:
    """Make a table from the reading in the folder, with these roles.

    given : `roles`, as JSON; `out`, the folder that the table is left in, with its files
    Gives its `doubts` and where its files lie, by their kept names. Its numbers are next to it, row by row, as doubles
    of this machine. Raises TableError.
    """
    reading, roles = read_stored(folder), Roles.from_json(given["roles"])
    if reading.files is not None:
        check_media(reading.files, reading.cells, roles, tell)
    out = Path(given["out"])
    table = LabelTable.from_cells(reading.cells, roles, reading.files, reading.arrays, out / NUMBERS)
    doubts = _as_json(find_doubts(table))
    return {**_left(table, out, frozenset()), "doubts": doubts, "n_rows": table.n_rows}


def grow(given: GrowGiven, folder: Path, _tell: Callable[[float], None]) -> dict[str, object]:
    """Append the rows of the reading in the folder to those of a stored table.

    given : `out`, as above; `table`, its path; `called` and `label_columns` as in `plcore.tables.with_rows`
    Gives the other fields of `plcore.tables.Grown`, and doubts that arise only with these rows. Raises TableError.
    """
    reading, table = read_stored(folder), LabelTable.read(Path(given["table"]))
    called, columns = given["called"], given["label_columns"]
    grown = with_rows(table, reading.cells, reading.files, called, columns, reading.arrays)
    before = find_doubts(table)
    return {
        **_left(grown.table, Path(given["out"]), table.media.kept_names()),
        "grown": [grown.n_new, grown.known, grown.new_classes, grown.dropped, grown.empty],
        "doubts": _as_json(one for one in find_doubts(grown.table) if one not in before),
    }


def _left(table: LabelTable, folder: Path, there: frozenset[str]) -> dict[str, object]:
    """The SHA-256 of a table's file, where the files lie that its rows name, and the cells that name one inexactly.
    there : files that are kept already"""
    digest, files = table.write(folder / TABLE), table.media.files
    if not isinstance(files, MediaFiles):
        return {"digest": digest, "files": None, "inexact": {}}
    kept = folder / "kept"
    names = sorted(table.media.kept_names() - there)
    paths = {name: str(path) for name, path in lay_out(files, names, kept).items()}
    return {"digest": digest, "files": paths, "inexact": files.inexact}


def _as_json(doubts: Iterable[Doubt]) -> list[dict[str, object]]:
    return [asdict(one) for one in doubts]


def _digest(source: Path | bytes) -> bytes:
    """SHA-256 of a file's bytes; for a folder, of its tables."""
    if isinstance(source, bytes):
        return hashlib.sha256(source).digest()
    if not source.is_dir():
        with source.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    folder = Folder(source)
    tables = (hashlib.sha256(folder.table(name)).digest() for name in folder.table_names)
    return hashlib.sha256(b"".join(tables)).digest()
