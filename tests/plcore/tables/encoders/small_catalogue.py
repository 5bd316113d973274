"""A catalogue of encoders of a few hundred bytes, in the form of the real one."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from plcore.tables.encoders import EncoderEntry, read_catalogue
from plcore.tables.encoders.references import TEXTS
from tests.plcore.tables.encoders.models import words_of

REVISION = "0123456789abcdef0123456789abcdef01234567"
WORDS = words_of(*TEXTS)
"""A model of texts: 1 at the place of the reference text that it is given."""


def file_of(name: str, data: bytes, what: str = "model") -> dict[str, Any]:
    """A file entry as in the catalogue."""
    return {"name": name, "what": what, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def words_entry(**changes: Any) -> dict[str, Any]:
    """An entry whose file is WORDS, on the hub and verified."""
    entry = {
        "kind": "text",
        "title": "Words",
        "use": "for tests",
        "dimension": len(TEXTS),
        "licence": "MIT",
        "credit": "Copyright (c) Ada",
        "repository": "ada/words",
        "revision": REVISION,
        "languages": ["en"],
        "preparation": {"kind": "text"},
        "files": [file_of("onnx/model.onnx", WORDS)],
    }
    return {name: value for name, value in (entry | changes).items() if value is not None}


def small_catalogue(folder: Path, **entries: dict[str, Any]) -> dict[str, EncoderEntry]:
    """The entries, read from a folder where they were written; the vectors of TEXTS are the references of each."""
    for name in ("licences", "references"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for licence in ("MIT", "CC-BY-NC-SA-4.0"):
        (folder / "licences" / f"{licence}.txt").write_text(f"{licence}: as is.")
    lines = []
    for key, entry in entries.items():
        lines.append(f"[{key}]")
        lines += [f"{name} = {_toml(value)}" for name, value in entry.items()]
        np.save(folder / "references" / f"{key}.npy", np.eye(len(TEXTS), dtype=np.float16))
    (folder / "catalogue.toml").write_text("\n".join(lines))
    return read_catalogue(folder)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_toml(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)
