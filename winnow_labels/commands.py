"""The commands that read or write files: import, append, encode, export, push, pull, verify, snapshot."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from winnow_labels.column_options import column_options, file_options, setting_option
from winnow_labels.options import NotWell, counted, home, is_json, json_option, owner, say
from winnow_labels.places import (
    DATA_SET,
    STANDARD,
    FileOptions,
    FileToRead,
    data_set_name,
    on_disk,
    path_of,
    project_name,
    pushed,
    written,
)

if TYPE_CHECKING:
    from workflow.importing import Doubt
    from workflow.kinds import FindingNeighbors
    from workflow.opened import Reading
    from workflow.seat import Seat

# Options and messages of `winnow export`.

DETAILS = ("license", "languages", "url", "origin", "uses", "annotators", "demographics", "named")
"""Keys of `--card`: fields of `workflow.exporting.card_text.CardDetails`."""


def _details(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> dict[str, object]:
    found: dict[str, object] = {}
    for one in given:
        name, sign, text = (part.strip() for part in one.partition("="))
        if not sign or name not in DETAILS:
            raise click.BadParameter(f"expected NAME=TEXT with a name of {', '.join(DETAILS)}. Got {one!r}.")
        found[name] = text
    named = found.pop("named", "no")
    if named not in ("yes", "no"):
        raise click.BadParameter(f"named must be yes or no. Got {named!r}.")
    return {"words": found, "named": named == "yes"}


def _card_option(about: str) -> Callable[[Callable[..., object]], Callable[..., object]]:
    return click.option(
        "--card",
        "details",
        multiple=True,
        metavar="NAME=TEXT",
        callback=_details,
        help=f"{about}, such as license=cc-by-4.0, languages=en, named=yes.",
    )


_OPTIONS = (
    click.option(
        "--to",
        "target",
        type=click.Path(dir_okay=False, allow_dash=True),
        help="File to write, also at an address such as s3://bucket/a.csv; its ending sets the format. Default: "
        "standard output, -.",
    ),
    click.option(
        "--format",
        "name",
        metavar="NAME",
        help="csv (default), parquet, jsonl, npz, labelstudio, votes, prodigy ...; needed if the file has "
        "no known ending.",
    ),
    click.option(
        "--rows",
        type=click.Choice(["answered", "sure", "all"]),
        default="all",
        show_default=True,
        help="Rows to export: answered by a person; known or confident; all.",
    ),
    click.option(
        "--above", type=click.FloatRange(0, 1), help="With --rows sure: the lowest probability. Default: 0.9."
    ),
    _card_option("A fact for the card of a data set (.zip)"),
    click.option(
        "--with-undecided", is_flag=True, help="With --rows sure or answered: the disputed and pending rows, too."
    ),
    click.option(
        "--label-disputed", is_flag=True, help="Label disputed rows with their most likely label. Default: no label."
    ),
    click.option(
        "--for-spreadsheets",
        is_flag=True,
        help="With CSV: a ' before each cell that a spreadsheet would run as a formula.",
    ),
    click.option("--log", is_flag=True, help="The answer log instead of the table."),
    click.option(
        "--as-of",
        "as_of",
        metavar="N|MOMENT|NAME",
        help="An earlier state: after entry N of the log (0: before the first), at a moment such as "
        "2026-03-01T12:00+01:00 (UTC if no zone is given), or the name of a snapshot.",
    ),
)


def export_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add the options. The command gets `target`, `name` of the format, `rows`, `above` (None: the default),
    `details` of the card, `log`, `with_undecided`, `label_disputed`, `for_spreadsheets` and `as_of` as
    typed."""

    @wraps(command)
    def told(**options: object) -> object:
        if options["above"] is not None and options["rows"] != "sure":
            raise click.UsageError("--above belongs to --rows sure.")
        if options["log"] and options["name"] is not None:
            raise click.UsageError("Use either --log or --format, not both.")
        return command(**options)

    for option in reversed(_OPTIONS):
        told = option(told)
    return told


def progress_printer(total: int) -> Callable[[int], None]:
    """Return a progress display, which prints only if a person watches the terminal."""

    def tell(done: int) -> None:
        click.echo(f"\r{done:,} of {counted(total, 'row')}", nl=done == total, err=True)

    return tell if sys.stderr.isatty() else lambda _done: None


def _shares(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return (name, role) of each; a name may contain colons, so the role is the part after the last one."""
    found = (one.rpartition(":") for one in given)
    return tuple((name, role) if colon else (role, "annotator") for name, colon, role in found)


_accept_option = click.option(
    "--accept",
    "accepted",
    multiple=True,
    metavar="DOUBT",
    help="Accept the reading in spite of this doubt. Can be repeated.",
)


@click.command("import")
@click.argument("file", type=FileToRead())
@click.option("--name", help="Name of the project; default: the file's name.")
@click.option("--description", default="", help="Notes for annotators.")
@click.option(
    "--share",
    "shared",
    multiple=True,
    metavar="NAME[:ROLE]",
    callback=_shares,
    help="Let this person see it, as owner, reviewer, annotator (default) or viewer. Can be repeated.",
)
@click.option("--dry-run", is_flag=True, help="Print how the file is read, and store nothing.")
@click.option(
    "--also",
    multiple=True,
    metavar="COLUMN",
    help="A column of a further question about the same rows. It becomes a project of its own, which asks right after "
    "the first one. Can be repeated.",
)
@_accept_option
@file_options
@setting_option
@column_options
@json_option
def import_table(
    file: str,
    name: str | None,
    description: str,
    shared: tuple[tuple[str, str], ...],
    dry_run: bool,
    also: tuple[str, ...],
    accepted: tuple[str, ...],
    files: FileOptions,
    settings: Mapping[str, object],
    columns: Mapping[str, object],
) -> object:
    """Create a project from FILE: a table, a zip or folder of a table with the images and recordings that its
    cells name, or a folder of Parquet files with the same columns. It may be at an address, such as s3://bucket/a.csv;
    - reads standard input.

    How the file is read, and any oddities, are printed on standard error. The whole file is refused, with
    row, column and fix, if any cell or file is wrong, or if cells have two readings: --accept confirms the
    first reading.
    """
    from workflow import importing
    from workflow.people import members
    from workflow.projects import linking, managing

    name = name or ("" if dry_run else project_name(file))
    with home() as here:
        seat = owner(here)
        # Check for refusals before a file is read, which may take long, and before anything is created.
        if not dry_run:
            importing.check_new(seat, name, description)
        for person, role in () if dry_run else shared:
            members.share(seat, person, [], role)
        path, beside = on_disk(file, files)
        try:
            upload, table = importing.read_as_named(path, columns, **beside, further=also)
            further = importing.read_further(upload, table.roles, also)
        except importing.TableError as refusal:
            for note in getattr(refusal, "__notes__", ()):
                say(note, err=True)
            if dry_run:
                _say_once_settled(path, columns, beside)
            raise
        chosen = importing.settings_for(table, settings)
        doubts = importing.doubts_of(upload, importing.find_doubts(table), table.roles, columns)
        doubts = (*importing.with_further(doubts, further), *importing.doubts_about(table, chosen))
        odd = (*importing.made_before(seat, upload), *doubts)
        reading = str(importing.described(upload, table))
        if dry_run:
            say(reading)
        _refuse_doubts([doubt for doubt in odd if doubt.stops], accepted)
        notes = [*upload.notes, *importing.further_notes(further), *(str(doubt) for doubt in odd if not doubt.stops)]
        for said in notes if dry_run else (reading, *notes):
            say(said, err=True)
        if dry_run:
            shape = {"rows": table.n_rows, "classes": list(table.classes), "roles": table.roles.to_json()}
            return {"reading": reading, **shape, "notes": notes}

        def share(owning: Reading, project_id: int) -> None:
            for person, role in shared:
                members.share_in(owning, person, [project_id], role)

        project_id = importing.create(seat, name, table, chosen, description, upload, share, further)
        made = managing.get_project(seat.at(project_id))
        others = linking.further_of(seat.at(project_id))
        for one in (project_id, *(other.id for other in others)):
            _find_neighbors(seat.at(one))
    for other in others:
        say(f"Project {other.id}: further question, {other.name}.")
    say(f"Project {project_id}: {counted(table.n_rows, 'row')}, {len(table.classes)} classes.")
    return made.to_json() | {"reading": reading, "notes": notes, "further": [one.id for one in others]}


def _find_neighbors(seat: Seat) -> None:
    """Find the neighbours that a new project of many rows needs, and show the progress; a running server does
    it itself. Without them questions are in random order, so an interruption loses nothing."""
    from workflow.models import neighbors
    from workflow.server.running import running

    if neighbors.read_finding(seat) is None:
        return
    if running(seat.home.servers_dir):
        say("The server finds the neighbours of the rows now. Until then, questions come at random.", err=True)
        return

    def tell(finding: FindingNeighbors) -> None:
        left = finding.seconds_left
        ending = "" if left is None else f", about {counted(max(1, round(left)), 'second')} left"
        click.echo(f"\r{finding.share:.0%}{ending}".ljust(40), nl=False, err=True)

    say("Finding the neighbours of the rows. If you stop this, the server finds them when it starts.", err=True)
    shown = sys.stderr.isatty()
    try:
        neighbors.find(seat, f"import-{os.getpid()}", tell if shown else None)
    except (OSError, MemoryError, ValueError) as error:
        say(f"The neighbours were not found: {error} The server tries again when it starts.", err=True)
    finally:
        if shown:
            click.echo("\r".ljust(41) + "\r", nl=False, err=True)


def _say_once_settled(file: Path, columns: Mapping[str, object], beside: Mapping[str, Any]) -> None:
    """Print how a file is read once unlabelled rows and outside true labels are resolved, if nothing else is
    wrong."""
    from workflow import importing

    settled = {"unlabelled": "all", "truth_outside": "unknown"}
    told = {name: columns.get(name) or value for name, value in settled.items()}
    with suppress(importing.TableError):
        upload, table = importing.read_as_named(file, {**columns, **told}, **beside)
        options = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in told.items())
        say(f"With {options}: {importing.described(upload, table)}")


def _refuse_doubts(doubts: Sequence[Doubt], accepted: Sequence[str]) -> None:
    """Raise ClickException for doubts that stop an import and that were not accepted."""
    names = {doubt.name for doubt in doubts}
    if unknown := [name for name in accepted if name not in names]:
        known = ", ".join(sorted(names)) or "none"
        raise click.ClickException(
            f"No doubt of this file is called {', '.join(unknown)}; those that stop it: {known}. Fix: leave out "
            f"--accept {unknown[0]}."
        )
    if left := [doubt for doubt in doubts if doubt.name not in accepted]:
        raise click.ClickException(
            "\n".join(f"{doubt} To accept this reading, add --accept {doubt.name}." for doubt in left)
        )


@click.command("encode")
@click.argument("what", metavar="FILE|PROJECT_ID")
@click.option(
    "--encoder",
    "name",
    help="A folder with model.onnx and encoder.json, or the name of one in WINNOW_HOME/encoders, such as those of "
    "`winnow encoders`.",
)
@click.option(
    "--out",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With a FILE: the file to write, .npz or .parquet; `import --embeddings` takes it.",
)
@click.option(
    "--back-to-words",
    is_flag=True,
    help="With a project: remove the vectors of its rows; it then learns from its other columns only.",
)
@file_options
@column_options
@json_option
def encode(
    what: str,
    name: str | None,
    target: Path | None,
    back_to_words: bool,
    files: FileOptions,
    columns: Mapping[str, object],
) -> object:
    """Compute an embedding of each row with an encoder, from its text, images or recordings.

    Embeddings of a FILE are written to another file. A project learns from them together with its other
    columns. Nothing is downloaded: use `winnow encoders get` for that.
    """
    from workflow.importing import encoding
    from workflow.importing.vector_memory import minutes_for
    from workflow.models.encoders import offers

    is_project = re.fullmatch("[0-9]+", what) is not None
    told = any(files.values()) or any(value is not None for value in columns.values())
    if is_project and (told or target is not None):
        raise click.UsageError("--out and the options of columns and rows belong to a FILE, not to a project.")
    if back_to_words:
        if not is_project or name is not None:
            raise click.UsageError("--back-to-words belongs to a project, without --encoder.")
        with home() as here:
            encoding.back_to_words(owner(here).at(int(what)))
        say(f"Project {what} learns without vectors again.")
        return {"id": int(what), "file": None, "notes": []}
    if name is None:
        raise click.UsageError("Name the encoder: --encoder FOLDER.")
    if not is_project and target is None:
        raise click.UsageError("Name the file to write: --out vectors.npz.")

    with home() as here:
        folder = Path(name) if Path(name).is_dir() else encoding.folder_of(here, name)
        encoder = encoding.Encoder(folder)  # before the table, which may take long to read

        def tell(done: int, total: int, kind: str) -> None:
            left = "" if encoder.ms is None else f", about {minutes_for(total - done, encoder.ms)} min left"
            end = " " * 20 if done == total else left.ljust(20)
            click.echo(f"\r{done:,} of {total:,} ({kind}){end}", nl=done == total, err=True)

        progress = tell if sys.stderr.isatty() else None
        if target is None:
            seat = owner(here).at(int(what))
            notes = encoding.encode_project(seat, encoder, progress)
            if folder.parent == here.encoders_dir:
                offers.note_asked(seat, folder.name)
            done = f"Project {what} learns from vectors of its rows."
        else:
            path, beside = on_disk(what, files)
            notes = encoding.encode_file(path, target, encoder, columns, beside, progress)
            done = f"{target}: vectors of the rows of {what}."
    for said in notes:
        say(said, err=True)
    say(done)
    return {"id": int(what) if target is None else None, "file": target, "notes": notes}


@click.command("append")
@click.argument("project_id", type=int)
@click.argument("file", type=FileToRead())
@file_options
@click.option("--label-column", "labels", multiple=True, help="A new column of labels. Can be repeated.")
@_accept_option
@json_option
def append_rows(
    project_id: int, file: str, files: FileOptions, labels: tuple[str, ...], accepted: tuple[str, ...]
) -> object:
    """Add the rows of FILE, of an address or standard input (-) that PROJECT_ID does not have yet. It must have the
    columns of the project's first file.

    The whole file is refused, with row, column and fix, if any cell or file is wrong.
    """
    from workflow import importing
    from workflow.importing import more_rows

    with home() as here:
        seat = owner(here).at(project_id)
        path, beside = on_disk(file, files)
        upload = importing.read_paths(path, **beside)
        addition = more_rows.read_rows(seat, upload, labels)
        _refuse_doubts([doubt for doubt in addition.doubts if doubt.stops], accepted)
        n_rows = more_rows.add_rows(seat, addition)
        _find_neighbors(seat)
    grown = addition.grown
    notes = [*upload.notes, *(str(doubt) for doubt in addition.doubts if not doubt.stops)]
    for said in (
        f"Rows that the project already has, unchanged: {len(grown.known):,}." if grown.known else "",
        f"New labels: {', '.join(grown.new_classes)}." if grown.new_classes else "",
        f"Columns left out: {', '.join(grown.dropped)}." if grown.dropped else "",
        f"Columns empty in the new rows: {', '.join(grown.empty)}." if grown.empty else "",
        *notes,
    ):
        if said:
            say(said, err=True)
    say(f"Project {project_id}: {counted(grown.n_new, 'row')} added, {n_rows} in all.")
    return {
        "rows": n_rows,
        "added": grown.n_new,
        "known": grown.known,
        "new_classes": grown.new_classes,
        "dropped": grown.dropped,
        "empty": grown.empty,
        "notes": notes,
        "reading": addition.reading,
    }


@click.command("export")
@click.argument("project_id", type=int)
@export_options
@json_option
def export(
    project_id: int,
    target: str | None,
    name: str | None,
    rows: str,
    above: float | None,
    details: Mapping[str, Any],
    log: bool,
    as_of: str | None,
    with_undecided: bool,
    label_disputed: bool,
    for_spreadsheets: bool,
) -> object:
    """Write the disambiguated table of PROJECT_ID, as CSV or in another format; in its current state or an
    earlier one."""
    from workflow.exporting import files as exporting

    if target == STANDARD:
        target = None
    if target is None and is_json():
        raise click.UsageError("With --json, standard output is one JSON document. Name a file: --to labels.csv.")

    with home() as here, nullcontext() if target is None else written(target) as path:
        seat = owner(here).at(project_id)
        sort = exporting.LOG if log else exporting.TABLE
        try:
            name = name or exporting.file_for(seat, "" if path is None else path.name, sort)
            least = exporting.ABOVE if above is None else above
            card = exporting.CardDetails.told(**details)
            then = None if as_of is None else exporting.read_as_of(as_of)
            choice = exporting.ExportChoice(
                name, rows, least, card, then, with_undecided, label_disputed, for_spreadsheets
            )
            taken = exporting.take(seat, choice)
        except ValueError as error:
            raise click.ClickException(str(error)) from None
        if path is None:
            taken.write(sys.stdout.buffer, progress_printer(taken.total))
            return None
        exporting.write_file(taken, path, progress_printer(taken.total))
        size = path.stat().st_size
    return {"file": target, "format": name, "bytes": size}


@click.command("push")
@click.argument("project_id", type=int)
@click.argument("address", metavar=DATA_SET)
@_card_option("A fact for its card")
@click.option("--public", is_flag=True, help="If the data set is new, everyone may read it. Default: private.")
@json_option
def push(project_id: int, address: str, details: Mapping[str, Any], public: bool) -> object:
    """Send PROJECT_ID to the Hugging Face Hub as a data set: labels as Parquet, the log, a card and Croissant
    metadata, in one commit.

    A data set that is not there is created. HF_TOKEN is the token, HF_ENDPOINT another hub. Annotators are
    numbered unless --card named=yes.
    """
    from workflow.exporting import files as exporting

    with home() as here, pushed(address, private=not public) as path:
        seat = owner(here).at(project_id)
        card = exporting.CardDetails.told(**details)
        choice = exporting.ExportChoice(exporting.DATA_SET, exporting.ALL, exporting.ABOVE, card)
        taken = exporting.take(seat, choice)
        exporting.write_file(taken, path, progress_printer(taken.total))
    say(f"Project {project_id} is at {address}.")
    return {"address": address}


@click.command("pull", params=[click.Argument(["address"], metavar=DATA_SET), *import_table.params[1:]])
@click.pass_context
def pull(context: click.Context, /, address: str, name: str | None, **options: object) -> None:
    """Create a project from a data set of the Hugging Face Hub that `winnow push` has sent: its rows, candidates,
    weights and true labels, without the log.

    Takes the options of `winnow import`, which reads other data sets. HF_TOKEN and HF_ENDPOINT as for `push`.
    """
    file = f"{address.rstrip('/')}/data.parquet"
    context.invoke(import_table, file=file, name=name or data_set_name(address), **options)


@click.command("verify")
@click.argument("what", metavar="FILE|PROJECT_ID")
@click.option("--project", "project_id", type=int, help="Verify that the log of this project begins with FILE.")
@json_option
def verify(what: str, project_id: int | None) -> object:
    """Check the hash chain of a log written as JSON Lines, or the log of a project against its table.

    Names the first wrong line or entry. A completely rewritten log also passes: record its head elsewhere.
    """
    from workflow.log import verifying

    file = None if project_id is None and re.fullmatch("[0-9]+", what) else path_of(what)
    if file is not None and project_id is None:
        found: tuple[verifying.Verified, ...] = (verifying.verify_file(file),)
    else:
        with home() as here:
            seat = owner(here).at(int(what) if project_id is None else project_id)
            found = verifying.verify_project(seat, file)
    say("\n".join(map(str, found)))
    return {"holds": [asdict(one) for one in found]}


FILE_COMMANDS = (import_table, append_rows, encode, export, push, pull, verify)


# The command that creates, lists and checks named snapshots of a project.


@click.command("snapshot")
@click.argument("project_id", type=int)
@click.argument("name", required=False)
@click.option("--check", is_flag=True, help="Verify that NAME, or every snapshot, is unchanged.")
@json_option
def snapshot(project_id: int, name: str | None, check: bool) -> object:
    """Give the current state of PROJECT_ID a NAME; without a name, list the snapshots.

    `export --as-of NAME` writes it again. Exit status 2 if a check finds that a snapshot has changed.
    """
    from workflow.exporting import snapshots

    with home() as here:
        seat = owner(here).at(project_id)
        if check:
            names = [name] if name is not None else [one.name for one in snapshots.list_snapshots(seat)]
            found = [snapshots.check_snapshot(seat, one) for one in names]
            for one in found:
                say(one.said)
            checked = {"checked": [asdict(one) for one in found]}
            return checked if all(one.holds for one in found) else NotWell(checked)
        made = [snapshots.make_snapshot(seat, name)] if name is not None else snapshots.list_snapshots(seat)
        for each in made:
            say(f"{each.name}\tentry {each.seq}\t{each.made_at:%Y-%m-%d %H:%M} UTC\t{each.by}\t{each.sha256}")
    return {"snapshots": [asdict(one) for one in made]}
