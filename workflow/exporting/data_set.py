"""A data set to give away: one zip of the labels, the log they come from, and what says of them what is known."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from workflow.exporting.card_text import CardDetails, write_card
from workflow.exporting.croissant import describe_file, write_croissant

if TYPE_CHECKING:
    from plcore.tables import Tell
    from workflow.exporting.card_facts import CardFacts
    from workflow.files.prepared import Taken

DATA, LOG, CARD, METADATA = "data.parquet", "log.jsonl", "README.md", "metadata.json"
"""Contents of the zip; Hugging Face shows the card and reads the data it names, Croissant's readers the metadata."""
TOOL = "Winnow"


@dataclass(frozen=True)
class DataSet:
    """The content of a data set.

    folder : where its files may lie until they are packed      table, log : what is to be written into them
    facts : what is known by table and log, given the log's head      details : what people know
    """

    folder: Path
    table: Taken
    log: Taken
    facts: Callable[[str], CardFacts]
    details: CardDetails


def write_data_set(data: DataSet, file: BinaryIO, tell: Tell) -> None:
    """Write the zip. Card and metadata name the SHA-256 of the two other files. Raises OSError."""
    data.folder.mkdir(mode=0o700, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=data.folder, prefix=".set-") as aside,
        zipfile.ZipFile(file, "w") as packed,
    ):
        files = [Path(aside) / DATA, Path(aside) / LOG]
        with files[0].open("wb") as out:
            data.table.write(out, tell)
        with files[1].open("wb") as out:
            data.log.write(out, lambda _done: tell(data.table.total))
        facts = data.facts(head_in(files[1]))
        described = [describe_file(path) for path in files]
        hashes = {one.name: one.sha256 for one in described}
        packed.writestr(CARD, write_card(facts, data.details, hashes, TOOL))
        packed.writestr(METADATA, write_croissant(facts, data.details, described, TOOL))
        packed.write(files[0], DATA)  # it is packed already
        packed.write(files[1], LOG, zipfile.ZIP_DEFLATED)


def head_in(log: Path) -> str:
    """The head of a log that was written as sealed lines: the last line names it."""
    with log.open("rb") as lines:
        (last,) = deque(lines, maxlen=1)
    return str(json.loads(last)["sha256"])
