"""Rows by meaning: how near each row is to words that someone typed, or to another row, by the vectors of the table.

The words are encoded by the text encoder that made the vectors. Vectors that came in a file do not say which that was,
and an encoder may have another name by now. So the texts of a few rows are encoded together with the words: the encoder
that gives them the vectors that they have is the right one. It runs in a limited process (docs/decisions/0036), for a
moment at each new search.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import issparse

from plcore import LabelTable, TableError
from plcore.arrays import AnyArray, FloatArray, IntArray, listed
from plcore.query import cosine_similarities
from plcore.tables.encoders import EncoderError, describe
from workflow.files import limited
from workflow.importing import encoding

if TYPE_CHECKING:
    from workflow.server.home import Home

ALIKE = 0.99
"""Minimum cosine between a row's vector and an encoder's vector of its text, if that encoder made the row's vector."""
PROBES = 3
"""Number of rows whose texts are encoded to find out which encoder made the vectors."""
LONGEST = 1_000
"""Maximum number of characters of a search by meaning."""
KEPT = 64
"""Number of searches per table whose vectors are cached: a page repeats them at each click."""
PATIENCE = 60.0
"""Seconds that a search waits for those before it."""
LEAST_MB = 500
"""Memory of the process that encodes, beyond what follows from the size of the encoder."""


Wanted: TypeAlias = "dict[str, AnyArray]"
"""Vectors to compare rows with: a vector (d,) for each column of the table with vectors."""
_OWN = ""
"""Stands for a column: the vectors that came with the table."""


class NoMeaningError(ValueError):
    """The rows cannot be searched by meaning, in words with the fix."""


@dataclass(frozen=True)
class Meaning:
    """Ways to search a project's rows by meaning.

    readable : rows have a text, images or a recording, of which an encoder makes vectors
    by_row : rows can be compared with a row, as they have vectors
    why_no_words : why they cannot be searched by words; "" if they can
    """

    readable: bool
    by_row: bool
    why_no_words: str


_keeping: WeakKeyDictionary[LabelTable, OrderedDict[tuple[str, str], Wanted]] = WeakKeyDictionary()
"""By table: the vectors of the latest searches, by words and what the encoders in the data folder were."""
_lock = threading.Lock()
"""Held while one search is encoded: each may take the memory of a model."""


def ways(home: Home, table: LabelTable) -> Meaning:
    """Return the ways to search this table by meaning. Nothing is encoded."""
    why_not = ""
    try:
        _text_encoders(home, table)
    except NoMeaningError as error:
        why_not = str(error)
    return Meaning(_is_readable(table), bool(table.encoded) or table.embeddings is not None, why_not)


def similarities(table: LabelTable, wanted: Wanted, rows: IntArray | None = None) -> FloatArray:
    """Return (n,) the cosine of each row's vectors to those wanted, the mean over its columns; NaN if it has none.

    rows : only these

    Raises NoMeaningError: the table has other vectors by now.
    """
    vectors = _vectors(table)
    found = []
    for column, own in wanted.items():
        some = vectors.get(column)
        if some is None or some.shape[1:] != own.shape:
            raise NoMeaningError("The vectors of the rows have just changed. Fix: search again.")
        found.append(cosine_similarities(some if rows is None else some[rows], own))
    known = ~np.isnan(found)
    with np.errstate(invalid="ignore"):
        mean: FloatArray = np.where(known, found, 0.0).sum(axis=0) / known.sum(axis=0)
    return mean


def wanted_row(table: LabelTable, row: int) -> Wanted:
    """Return the vectors of a row. Raises NoMeaningError: it has none."""
    found = {}
    for column, vectors in _vectors(table).items():
        own = vectors[[row]]
        vector = own.toarray()[0] if issparse(own) else own[0]
        if np.abs(vector).max() > 0:
            found[column] = vector
    if not found:
        raise NoMeaningError(f"Row {table.id_of(row)} has no vector. Fix: choose another row, or search by words.")
    return found


def wanted_words(home: Home, table: LabelTable, words: str) -> Wanted:
    """Return the vector of these words, by the encoder that made the vectors of the table's texts. It may take seconds.

    Raises NoMeaningError: the table has no such vectors, no encoder in the data folder made them, or it fails.
    """
    words = " ".join(words.split())
    if not words:
        raise NoMeaningError("There are no words to search for. Fix: type some.")
    if len(words) > LONGEST:
        message = f"A search by meaning has up to {LONGEST:,} characters. Got {len(words):,}."
        raise NoMeaningError(f"{message} Fix: shorten it.")
    folders = _text_encoders(home, table)
    key = words, "|".join(map(_stamp, folders))
    if not _lock.acquire(timeout=PATIENCE):
        raise NoMeaningError("Others are searching by meaning now. Fix: try again in a minute.")
    try:
        kept = _keeping.setdefault(table, OrderedDict())
        if key not in kept:
            kept[key] = _encoded(table, folders, words)
        kept.move_to_end(key)
        if len(kept) > KEPT:
            kept.popitem(last=False)
        return kept[key]
    finally:
        _lock.release()


def _is_readable(table: LabelTable) -> bool:
    return any(one is not None for one in (table.roles.text, table.roles.image, table.roles.audio))


def _vectors(table: LabelTable) -> dict[str, Any]:
    """Return (n, d) the vectors of each column that has some, dense or CSR. Raises NoMeaningError: there are none."""
    found: dict[str, Any] = {one.column: one.values for one in table.encoded}
    if table.embeddings is not None:
        found[_OWN] = table.embeddings
    if found:
        return found
    if not _is_readable(table):
        raise NoMeaningError("Rows of numbers and categories cannot be searched by meaning. Fix: search by words.")
    raise NoMeaningError(
        "The rows of this project have no vectors, so they cannot be searched by meaning. Fix: under Project "
        "settings, Model, have an encoder read them."
    )


def _text_vectors(table: LabelTable) -> list[str]:
    """Return the columns of `_vectors` that a text encoder may have made: those of the text or, if it is not encoded,
    those that came with the table. Raises NoMeaningError: there are none."""
    vectors, text = _vectors(table), table.roles.text
    found = [column for column in (text, _OWN) if column in vectors and not issparse(vectors[column])]
    if text is None or not found:
        raise NoMeaningError(
            "The vectors of this project were not made from texts, so typed words cannot be compared with them. Fix: "
            "click a row, then More like this."
        )
    return found


def _text_encoders(home: Home, table: LabelTable) -> list[Path]:
    """Return the folders of the encoders that may have made the vectors, the declared one first. Raises NoMeaningError:
    there is none."""
    _text_vectors(table)
    said = {one.encoder for one in table.encoded if one.column == table.roles.text}
    found = []
    for name in sorted(encoding.names(home), key=lambda name: name not in said):
        folder = encoding.folder_of(home, name)
        try:
            if describe(folder).kind == "text":
                found.append(folder)
        except EncoderError:
            continue  # the settings page shows the problem
    if not found:
        raise NoMeaningError(
            f"{_made_by(table)} is not on this server. Fix: have the operator add it, or click a row, then More like "
            "this."
        )
    return found


def _made_by(table: LabelTable) -> str:
    """Return the encoder of the texts' vectors, as far as it is known."""
    for one in table.encoded:
        if one.column == table.roles.text:
            return f"The encoder {one.encoder} ({one.sha256[:6]})"
    return "The text encoder that made the vectors of this project"


def _encoded(table: LabelTable, folders: list[Path], words: str) -> Wanted:
    """Return the vector of the words, by the first encoder that reproduces the rows' vectors."""
    (column, rows, probes), faults = _probes(table), []
    wanted = _vectors(table)[column][rows]
    texts = list(dict.fromkeys(text for own in probes for text in own if text))
    for folder in folders:
        said = _ask(folder, [*texts, words])
        if isinstance(said, str):
            faults.append(f"{folder.name}: {said}")
            continue
        *made, vector = said
        parts = wanted.shape[1] / len(vector)  # vectors that came with the table may be of the first text alone
        if parts in (1, len(probes[0])) and _are_of(wanted, probes, int(parts), dict(zip(texts, made, strict=True))):
            if not np.abs(vector).max() > 0 or not np.isfinite(vector).all():
                raise NoMeaningError(f"{folder.name} finds nothing in these words. Fix: use others.")
            return {column: np.tile(vector, int(parts))}
    if faults:
        raise NoMeaningError(" ".join(faults))
    raise NoMeaningError(
        f"{_made_by(table)} is not on this server; {listed([one.name for one in folders], 5)} gives other vectors. "
        "Fix: have the operator add it, or click a row, then More like this."
    )


def _are_of(wanted: FloatArray, probes: list[tuple[str, ...]], parts: int, made: Mapping[str, FloatArray]) -> bool:
    """Whether these vectors (k, parts * d) are those of the first texts of each row side by side. made : (d,) of each
    text"""
    width = wanted.shape[1] // parts
    units = {text: vector / (np.linalg.norm(vector) or 1.0) for text, vector in made.items()}
    rows = (np.concatenate([units.get(text, np.zeros(width)) for text in own[:parts]]) for own in probes)
    return all(cosine_similarities(own[None], row)[0] >= ALIKE for own, row in zip(wanted, rows, strict=True))


def _probes(table: LabelTable) -> tuple[str, list[int], list[tuple[str, ...]]]:
    """Return a column of vectors, the first rows that have both a text and a vector there, and their texts, each "" if
    it is empty. Raises NoMeaningError: there are none."""
    column, columns = _text_vectors(table)[0], table.roles.text_columns
    vectors, found = _vectors(table)[column], dict[tuple[str, ...], int]()
    for row in range(table.n_rows):
        texts = tuple(map(str.strip, table.cells_of(row, columns)))
        if texts[0] and texts not in found and np.abs(vectors[row]).max() > 0:
            found[texts] = row
            if len(found) == PROBES:
                break
    if not found:
        raise NoMeaningError("No row of this project has a text and a vector. Fix: search by words.")
    return column, list(found.values()), list(found)


def _ask(folder: Path, texts: list[str]) -> list[FloatArray] | str:
    """Return vectors of texts from an encoder in its own process, or the reason why it cannot make them."""
    size = sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())
    bounds = limited.Bounds.of_file(size, LEAST_MB)
    given = {"encoder": str(folder), "texts": texts}
    try:
        said = limited.ask("text_vectors", given, Path(os.devnull), bounds).result
    except TableError:
        return "it took more memory or time than it may. Fix: have the operator take a smaller encoder."
    if "why" in said:
        return str(said["why"])
    return [np.asarray(vector) for vector in said["vectors"]]


def _stamp(folder: Path) -> str:
    """Return a stamp of an encoder's current files: another model in its place is another encoder."""
    files = sorted(one for one in folder.glob("*") if one.is_file())
    return "/".join([folder.name, *(f"{one.name}:{one.stat().st_mtime_ns}" for one in files)])
