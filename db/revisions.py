"""Which versions of the tables this Winnow knows."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text
from sqlalchemy.orm import Session

MIGRATIONS = Path(__file__).with_name("migrations")


class NewerTablesError(RuntimeError):
    """The tables are of a revision that this Winnow does not know."""


@cache  # each reading runs every migration's file, and an opening asks three times
def revisions() -> tuple[str, ...]:
    """The revisions of the tables that this Winnow knows, the newest first."""
    scripts = ScriptDirectory(str(MIGRATIONS))
    return tuple(str(one.revision) for one in scripts.walk_revisions())


def check_known(session: Session) -> None:
    """Raises NewerTablesError where the tables of the database are of a revision that is not known here."""
    if not inspect(session.connection()).has_table("alembic_version"):
        return
    found = session.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    known = revisions()
    if found is not None and found not in known:
        raise NewerTablesError(
            f"its tables are of version {found}, and this Winnow knows them up to {known[0]}"
        )


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Bring the tables to a revision, inside the connection's transaction."""
    if revision == "head" and MigrationContext.configure(connection).get_current_heads() == revisions()[:1]:
        return
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
