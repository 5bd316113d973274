"""The commands for backups and checks: backup, restore, bring-in, accept-store, doctor."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from winnow_labels.options import NotWell, home, json_option, owner, say

if TYPE_CHECKING:
    from workflow.backups.manifest import Manifest


@click.command("backup")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--project", "project_id", type=int, help="Only this project, to import into another Winnow.")
@json_option
def backup(file: Path | None, project_id: int | None) -> object:
    """Write everything into one FILE while Winnow runs: the database, the tables, their images and recordings.

    FILE must not exist yet; it is verified before it gets its name. Without it, or if it is a folder, the
    name is the time; the default folder is 'backups' in the data folder.
    """
    from workflow.backups import making, one_project
    from workflow.files.stored import make_folder

    with home() as here:
        if project_id is not None:
            if file is None:
                raise click.UsageError("Name the file that the project is written to.")
            taken = one_project.take_along(owner(here).at(project_id), file, _teller())
            say(f"{file}: {_counted(taken)}. To import it elsewhere: winnow bring-in {file}")
            return {"file": file, **_document(taken)}
        folder = here.backups_dir if file is None else file
        if file is None:
            make_folder(folder)
        target = making.place_at(folder, datetime.now(UTC)) if folder.is_dir() else folder
        manifest = making.make(here, target, _teller())
    for said in _lacks(manifest):
        say(said, err=True)
    say(f"{target}: {_counted(manifest)}. Checked. To restore: winnow restore {target}")
    return {"file": target, **_document(manifest)}


@click.command("restore")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--to", "folder", type=click.Path(file_okay=False, path_type=Path), help="Default: WINNOW_HOME.")
@click.option(
    "--replace", is_flag=True, help="Replace the current data; its database is saved in the folder 'backups'."
)
@json_option
def restore(file: Path, folder: Path | None, replace: bool) -> object:
    """Replace the data folder with the backup FILE. No Winnow may be running on it.

    All of FILE is checked before anything is touched.
    """
    import os

    from workflow.backups import restoring
    from workflow.server.settings import Settings

    said = dict(os.environ)
    if folder is not None:
        said |= {"WINNOW_HOME": str(folder), "WINNOW_DATABASE_URL": ""}
    settings = Settings.from_environment(said)
    done = restoring.restore(settings, file, replace=replace, tell=_teller())
    for line in _lacks(done.manifest):
        say(line, err=True)
    if done.before is not None:
        say(f"The previous database is now {done.before}.", err=True)
    say(
        "Everyone must sign in again, and open sign-in links are revoked. People disabled since the "
        "backup are enabled again.",
        err=True,
    )
    say(f"{settings.home}: {_counted(done.manifest)}, as of {done.manifest.made_at}.")
    return {"home": settings.home, "before": done.before, **_document(done.manifest)}


@click.command("bring-in")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", help="Name of the project here; default: its old name.")
@json_option
def bring_in(file: Path, name: str | None) -> object:
    """Create a project from FILE, written by `winnow backup --project` in another Winnow, with its whole log.

    People of the same name here count as the same person; others are added without a way to sign in.
    """
    from workflow.backups import one_project

    with home() as here:
        done = one_project.bring_in(owner(here), file, name, _teller())
    for names, how in ((done.known, "People with the same name here"), (done.new, "New here")):
        if names:
            say(f"{how}: {', '.join(names)}.", err=True)
    say(f"Project {done.project_id}: {done.name}.")
    return {"id": done.project_id, "name": done.name, "known": done.known, "new": done.new}


@click.command("accept-store")
@json_option
def accept_store() -> object:
    """Continue with the present database, permanently.

    Winnow does not start if the database is missing, empty, damaged, older than the last one used, or another
    one. Put the right one back if you have it. With this command the current one is accepted unchanged; an empty or
    damaged file is renamed, and a new database is started.
    """
    from workflow.server import store
    from workflow.server.home import open_home
    from workflow.server.settings import Settings

    settings = Settings.from_environment()
    kept = list(store.set_aside_what_is_none(settings))
    for path in kept:
        say(f"Kept as {path}.")
    open_home(settings, accept=True).close()
    say(f"Accepted: {store.where(settings)}.")
    return {"kept": kept, "accepted": store.where(settings)}


@click.command("doctor")
@json_option
def doctor() -> object:
    """Check the installation, the database, the files, the disk and the backups, and print what to do.

    Exit status 2 if there is a problem.
    """
    from workflow.server.doctor import examine
    from workflow.server.settings import Settings

    found = []
    for finding in examine(Settings.from_environment()):
        say(finding)
        found.append({"what": finding.what, "well": not finding.fix, "says": finding.says, "fix": finding.fix})
    well = all(one["well"] for one in found)
    document = {"well": well, "findings": found}
    return document if well else NotWell(document)


def _lacks(manifest: Manifest) -> list[str]:
    """Return the problems found when the backup was made."""
    lines = []
    for names, how in ((manifest.missing, "is missing"), (manifest.damaged, "is damaged")):
        if names:
            more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
            lines.append(f"In the data folder that was backed up, {names[0]}{more} {how}.")
    return lines


def _counted(manifest: Manifest) -> str:
    from workflow.backups.manifest import counted

    files = len(manifest.members)
    return f"{counted(manifest.counts)}, {files:,} file{'' if files == 1 else 's'}, {manifest.size:,} bytes"


def _document(manifest: Manifest) -> dict[str, object]:
    """Return the report for programs."""
    return {
        "kind": manifest.kind,
        "made_at": manifest.made_at,
        "counts": manifest.counts,
        "files": len(manifest.members),
        "bytes": manifest.size,
        "missing": manifest.missing,
        "damaged": manifest.damaged,
    }


def _teller() -> Callable[[int, int], None] | None:
    """Return a progress display if a person watches the terminal, else None."""
    if not sys.stderr.isatty():
        return None

    def tell(done: int, total: int) -> None:
        click.echo(f"\r{done / max(total, 1):.0%}", nl=done == total, err=True)

    return tell


BACKUP_COMMANDS = (backup, restore, bring_in, accept_store, doctor)
