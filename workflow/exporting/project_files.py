"""Which files a project exports, and how each is written: what a file holds is taken while the learner is open, and
written, in pieces, when it is not any more.
"""

from __future__ import annotations

import io
import json
import re
import tempfile
import zipfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from db import entries
from plcore.tables import Disambiguated, FileFormat, format_of
from workflow.exporting.card_facts import take_facts, without_names
from workflow.exporting.card_text import CardDetails, write_card
from workflow.exporting.croissant import describe_file, write_croissant
from workflow.exporting.snapshot import ABOVE, ALL, CHOICES, AnyFormat
from workflow.files.prepared import Taken
from workflow.log.columns import write_log
from workflow.log.lines import LogHeader, write_log_lines
from workflow.log.verifying import header_of
from workflow.rows.finding import names_of

if TYPE_CHECKING:
    import pandas as pd

    from db.entries import LogEntry
    from plcore.loop import Learner
    from plcore.tables import Tell
    from workflow.exporting.as_of import AsOf
    from workflow.exporting.card_facts import CardFacts
    from workflow.exporting.snapshot import Snapshot
    from workflow.kinds import AnyKind
    from workflow.opened import Opened


# A data set to publish: one zip of the labels, their log, and a data card.


DATA, SEALED, CARD, METADATA = "data.parquet", "log.jsonl", "README.md", "metadata.json"
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
    with tempfile.TemporaryDirectory(dir=data.folder, prefix=".set-") as aside, zipfile.ZipFile(file, "w") as packed:
        files = [Path(aside) / DATA, Path(aside) / SEALED]
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
        packed.write(files[1], SEALED, zipfile.ZIP_DEFLATED)


def head_in(log: Path) -> str:
    """The head of a log that was written as sealed lines: the last line names it."""
    with log.open("rb") as lines:
        (last,) = deque(lines, maxlen=1)
    return str(json.loads(last)["sha256"])


TOLD_EVERY = 1_000
"""Entries of the log between two words of how far the writing is."""

PLAIN = ".json"
DATA_SET = "dataset"
"""The name of the file that is a whole data set with its card."""
TABLE, LOG = "winnowed", "log"
"""The kinds of files: the table in one of its formats, and its log."""
GUARDED = ("csv", LOG)
"""Files that can be written for spreadsheets; text of a workbook is not a formula anyway."""


@dataclass(frozen=True)
class ExportChoice:
    """The requested export.

    file : a name in `files_of`      rows : one of `workflow.exporting.snapshot.CHOICES`, where the file uses rows
    above : where the rows are those that are sure, the least probability that is
    details : what only people know of a data set, for its card
    as_of : the earlier state to export; None: the present one
    with_undecided : the disputed and pending rows, too, which the rows that are sure or answered leave out
    label_disputed : disputed rows get their most likely class as label; False: they have none
    for_spreadsheets : of a file in GUARDED, a ' before each cell that a spreadsheet would run as a formula

    Raises ValueError for other rows, for what is not a probability, for a data set of an earlier state, and for another
    file for spreadsheets.
    """

    file: str = "csv"
    rows: str = ALL
    above: float = ABOVE
    details: CardDetails = field(default_factory=CardDetails)
    as_of: AsOf | None = None
    with_undecided: bool = False
    label_disputed: bool = False
    for_spreadsheets: bool = False

    def __post_init__(self) -> None:
        if self.for_spreadsheets and self.file not in GUARDED:
            raise ValueError(
                f"Only {' and '.join(GUARDED)} can be written for spreadsheets. Got {self.file!r}. Fix: choose one of "
                "them, or xlsx, whose text is never a formula."
            )
        if self.rows not in CHOICES:
            raise ValueError(f"The rows are one of {', '.join(CHOICES)}. Got {self.rows!r}.")
        if not 0 <= self.above <= 1:
            raise ValueError(f"A row is sure from a probability in [0, 1] on. Got {self.above}.")
        if self.as_of is not None and self.file == DATA_SET:
            raise ValueError(
                "A data set with its card is of the present state: its figures are measured now. Fix: take the table, "
                "or the log, of the earlier state."
            )


@dataclass(frozen=True)
class ProjectFile:
    """A file that a project exports.

    form : its format      sort : TABLE or LOG, which goes before the suffix, as in birds-log.csv
    take : its content, copied quickly, because no one else can use the learner at that time
    """

    form: AnyFormat
    sort: str
    take: Callable[[AnyFormat, Opened[Learner], ExportChoice], Taken]

    @property
    def by_rows(self) -> bool:
        """Whether it holds only the rows that are chosen."""
        return self.sort == TABLE


def files_of(kind: AnyKind, cells: pd.DataFrame | None = None) -> dict[str, ProjectFile]:
    """The files of a project of this kind by name, the table as CSV first.

    cells : of its table; None: the files of all tables that there may be
    """
    forms = {**kind.FORMATS, **kind.GIVEN_BACK}
    tables = {
        name: ProjectFile(form, TABLE, _take_table) for name, form in forms.items() if cells is None or form.fits(cells)
    }
    tables[DATA_SET] = ProjectFile(_DATA_SET, TABLE, _take_data_set)
    return tables | {name: ProjectFile(form, LOG, _take_log) for name, form in LOG_FORMATS.items()}


def find_file(kind: AnyKind, name: str, cells: pd.DataFrame | None = None) -> ProjectFile:
    """The file of this name, of those that `files_of` names. Raises ValueError, which names all of them."""
    files = files_of(kind, cells)
    if name not in files:
        raise ValueError(f"A file is one of {', '.join(files)}. Got {name!r}.")
    return files[name]


def file_called(kind: AnyKind, file_name: str, sort: str = TABLE) -> str:
    """The name of the file of this sort that a name such as `birds.parquet` asks for, by its ending; a plain .json asks
    for the first whose ending ends so, an empty name for the first of all.

    Raises ValueError, which names the endings.
    """
    forms = {name: file.form for name, file in files_of(kind).items() if file.sort == sort}
    if not file_name:
        return next(iter(forms))
    try:
        return format_of(file_name, forms).name
    except ValueError as error:
        plain = [name for name, form in forms.items() if form.suffix.endswith(PLAIN)]
        if plain and file_name.lower().endswith(PLAIN):
            return plain[0]
        raise ValueError(f"{error} Fix: another ending, or --format with one of {', '.join(forms)}.") from None


# Cells that spreadsheets would run


_CELL = re.compile(rb'"((?:[^"]|"")*)"|([^",\r\n]+)')
_RUNS = re.compile(rb"[=+\-@\t\r\n]")
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class _Guarded(io.RawIOBase):
    """A file of CSV that is written in whole lines: text that a spreadsheet would run gets a ' before it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, lines: Any) -> int:
        """Write these lines; how many bytes they have."""
        self._file.write(_CELL.sub(_harmless, lines))
        return len(lines)


def _harmless(cell: re.Match[bytes]) -> bytes:
    quoted, plain = cell.groups()
    text = plain if quoted is None else quoted
    if not _RUNS.match(text) or _NUMBER.fullmatch(text):
        return cell.group()
    return b"'" + text if quoted is None else b"\"'" + text + b'"'


def _for(choice: ExportChoice, file: BinaryIO) -> BinaryIO:
    return cast("BinaryIO", _Guarded(file)) if choice.for_spreadsheets else file


# The table


def _take_table(form: AnyFormat, opened: Opened[Learner], choice: ExportChoice) -> Taken:
    return _table(form, opened, choice, opened.kind.snapshot(opened), names_of(opened.session))


def _table(
    form: AnyFormat, opened: Opened[Learner], choice: ExportChoice, found: Snapshot, names: Mapping[int, str]
) -> Taken:
    """names : {person: what they are called}"""
    if choice.label_disputed and opened.kind.DISPUTES is None:
        raise ValueError(
            "A disputed label of a vector is left open: it has no most likely label. Fix: leave out --label-disputed "
            "(label_disputed in the API)."
        )
    rows = found.rows(choice.rows, choice.above, with_undecided=choice.with_undecided)
    database, project_id = opened.home.database, opened.project_id

    def write(file: BinaryIO, tell: Tell) -> None:
        with database.read() as session:
            log = entries.each(session, project_id, found.seq)
            whole = found.whole(_counted(log, lambda _entries: tell(0)), names)
        if choice.label_disputed and isinstance(whole, Disambiguated):
            whole = whole.with_disputed()
        form.write(whole.chosen(rows), _for(choice, file), tell)

    return Taken(len(rows), found.seq, write)


def _take_data_set(form: AnyFormat, opened: Opened[Learner], choice: ExportChoice) -> Taken:
    session, folder = opened.session, opened.home.exports_dir
    names = names_of(session) if choice.details.named else without_names(session, opened.project_id)
    found = opened.kind.snapshot(opened)
    table = _table(opened.kind.FORMATS["parquet"], opened, choice, found, names)
    log = _log(LOG_FORMATS["sealed-log"], opened, choice, names)
    facts = take_facts(opened, names, found.sources())
    database, project_id = opened.home.database, opened.project_id

    def tell_of(head: str) -> CardFacts:
        with database.read() as session:
            return facts(list(entries.each(session, project_id, log.seq)), head)

    def write(file: BinaryIO, tell: Tell) -> None:
        form.write(DataSet(folder, table, log, tell_of, choice.details), file, tell)

    return Taken(table.total, table.seq, write)


_DATA_SET = FileFormat(
    DATA_SET,
    "Data set with its card",
    ".zip",
    "Parquet, the sealed log, a README.md for Hugging Face and Croissant metadata: what to publish or hand over.",
    write_data_set,
)


# The log


@dataclass(frozen=True)
class Log:
    """The input that the writers of a log take.

    header : what sealed lines say first      names : {person: name}      ids : of the table's rows
    """

    header: LogHeader
    entries: Iterable[LogEntry]
    names: Mapping[int, str]
    ids: Sequence[str]


def _take_log(form: FileFormat[Log], opened: Opened[Learner], choice: ExportChoice) -> Taken:
    return _log(form, opened, choice, names_of(opened.session))


def _log(form: FileFormat[Log], opened: Opened[Learner], choice: ExportChoice, names: Mapping[int, str]) -> Taken:
    """names : {person: what they are called}"""
    database, project_id, seq = opened.home.database, opened.project_id, opened.learner.seq
    ids = list(map(str, opened.learner.table.ids))
    about = entries.about_project(opened.session, project_id)
    header = header_of(opened.project, about, datetime.now(UTC))

    def write(file: BinaryIO, tell: Tell) -> None:
        with database.read() as session:
            log = _counted(entries.each(session, project_id, seq), tell)
            form.write(Log(header, log, names, ids), _for(choice, file), tell)
        tell(seq)

    return Taken(seq, seq, write)


def _write_csv(log: Log, file: BinaryIO, _tell: Tell) -> None:
    for piece in write_log(log.entries, log.names, log.ids):
        file.write(piece)


def _write_lines(log: Log, file: BinaryIO, _tell: Tell) -> None:
    for piece in write_log_lines(log.entries, log.names, log.ids, log.header):
        file.write(piece)


LOG_FORMATS: Mapping[str, FileFormat[Log]] = {
    "log": FileFormat(
        "log",
        "Answer log",
        ".csv",
        "A line for each answer, skip and withdrawal: who, when, why it was asked, what it changed.",
        _write_csv,
    ),
    "sealed-log": FileFormat(
        "sealed-log",
        "Answer log, sealed",
        ".jsonl",
        "The same as JSON Lines, each sealing the one before: “winnow verify” finds what was changed or left out.",
        _write_lines,
    ),
}
"""The formats of the log: every entry with who, when, why and what it changed, in the words it was given in."""


def _counted(log: Iterable[LogEntry], tell: Tell) -> Iterator[LogEntry]:
    """The entries; now and then a word of how many, so that the writing can be followed and stopped."""
    for number, entry in enumerate(log):
        if number % TOLD_EVERY == 0:
            tell(number)
        yield entry
