"""Pin the encoders of the catalogue. Run it with internet access, as a person whom others trust with it.

    python tools/pin_encoders.py minilm-many [REVISION]

Fetch the files that the entry names from huggingface.co, at a revision (default: the newest), build the
encoder, write `revision`, `bytes` and `sha256` into `catalogue.toml`, and the reference vectors next to it.
Read the model's page first (licence, credit, preparation), and compare a vector with one from the authors'
own code: a mistake here is wrong for everyone. `git diff` shows what was written.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
from huggingface_hub import HfApi, hf_hub_download

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from plcore.tables.encoders import DESCRIPTION, PLACES, EncoderEntry, build, read_catalogue, reference_vectors  # noqa: E402

CATALOGUE = ROOT / "plcore" / "tables" / "encoders" / "data" / "catalogue.toml"


def fetched(entry: EncoderEntry, revision: str, folder: Path) -> dict[str, Path]:
    """Return the entry's files by name. If it names none, exit and list the repository's files."""
    if not entry.files:
        names = HfApi().list_repo_files(entry.repository, revision=revision)
        sys.exit(f"{entry.key} names no files. {entry.repository} has: {', '.join(names)}")
    return {
        one.name: Path(hf_hub_download(entry.repository, one.name, revision=revision, local_dir=folder, token=False))
        for one in entry.files
    }


def made(entry: EncoderEntry, paths: dict[str, Path], folder: Path) -> Path:
    """Build the encoder and return its folder."""
    if entry.builder:
        build(entry.builder, {one.what: paths[one.name] for one in entry.files}, folder)
    else:
        for one in entry.files:
            (folder / PLACES[one.what]).write_bytes(paths[one.name].read_bytes())
    (folder / DESCRIPTION).write_text(json.dumps(dict(entry.preparation)))
    return folder


def pinned(entry: EncoderEntry, revision: str, paths: dict[str, Path], text: str) -> str:
    """Return the catalogue's text with the revision and the files of this entry."""
    begin = re.search(rf"^\[{re.escape(entry.key)}\]$", text, flags=re.M)
    assert begin is not None  # noqa: S101 - it was read from there
    later = re.compile(rf"^\[(?!\[?{re.escape(entry.key)}\b)", flags=re.M).search(text, begin.end())
    end = later.start() if later else len(text)
    block = text[begin.start() : end]
    block = re.sub(r"^(bytes|revision) = .*\n", "", block, flags=re.M)
    block = re.sub(r"^files = \[.*?\]\n", "", block, flags=re.M | re.S)
    block = re.sub(rf"^\[\[{re.escape(entry.key)}\.files\]\]\n(\w+ = .*\n)*\n?", "", block, flags=re.M)
    block = re.sub(r"^(repository = .*)$", rf'\1\nrevision = "{revision}"', block, flags=re.M).rstrip("\n")
    for one in entry.files:
        data = paths[one.name].read_bytes()
        block += (
            f'\n\n[[{entry.key}.files]]\nname = "{one.name}"\nwhat = "{one.what}"\nbytes = {len(data)}\n'
            f'sha256 = "{hashlib.sha256(data).hexdigest()}"'
        )
    return f"{text[: begin.start()]}{block}\n\n{text[end:]}".rstrip("\n") + "\n"


def main(key: str, revision: str | None = None) -> None:
    """Pin one entry."""
    entry = read_catalogue()[key]
    commit = HfApi().model_info(entry.repository, revision=revision, token=False).sha
    if commit is None:
        sys.exit(f"{entry.repository} has no revision {revision}.")
    with tempfile.TemporaryDirectory() as files, tempfile.TemporaryDirectory() as folder:
        paths = fetched(entry, commit, Path(files))
        vectors = reference_vectors(made(entry, paths, Path(folder)))
        text = pinned(entry, commit, paths, CATALOGUE.read_text("utf-8"))
    if vectors.shape != (3, entry.dimension):
        sys.exit(f"{key} gives {vectors.shape[1]} numbers a row, and the catalogue says {entry.dimension}.")
    for one in entry.files:
        if one.sha256 and one.sha256 not in text:
            sys.exit(f"{one.name} of {entry.repository} is not the file that was pinned before. Nothing was written.")
    np.save(entry.reference, vectors.astype(np.float16))
    CATALOGUE.write_text(text, "utf-8")
    sys.stdout.write(f"{key}: {commit}. Look at git diff.\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
