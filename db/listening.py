"""News of the logs: PostgreSQL tells every process that listens which project's log has grown, and how far.

It is told with the commit of the entries, and lost where nobody listens: who is told reads the log, and who was not
reads it, too, before anything is shown or answered. SQLite tells nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import make_url

from db.opened_file import DatabaseUnavailableError

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from sqlalchemy.orm import Session

CHANNEL = "winnow_log"
_NEWS = "winnow_news"
"""Execution option of a connection: {project: seq of its latest entry}, to be told with the commit."""


def tell(session: Session, project_id: int, seq: int) -> None:
    """Tell who listens, once this transaction is committed, that the project's log ends with this entry."""
    if session.get_bind().dialect.name == "sqlite":
        return
    connection = session.connection()
    news = connection.get_execution_options().get(_NEWS, {})
    connection.execution_options(**{_NEWS: {**news, project_id: seq}})


def words_of(connection: Connection) -> str:
    """What tells it, as statements before the commit; empty where there is nothing to tell."""
    news: dict[int, int] = connection.get_execution_options().get(_NEWS, {})
    return "".join(f"NOTIFY {CHANNEL}, '{int(project)} {int(seq)}'; " for project, seq in news.items())


class Listener:
    """A connection of its own that listens from the beginning on.

    url : of a PostgreSQL database, as for `db.engine.Database`      Raises DatabaseUnavailableError, here and later
    """

    def __init__(self, url: str) -> None:
        import psycopg  # loaded where there is PostgreSQL

        self._fault = psycopg.Error
        place = make_url(url)
        words, named = place.get_dialect()().create_connect_args(place)
        named = {**named, "autocommit": True, "fallback_application_name": "winnow"}
        try:
            self._connection: psycopg.Connection[Any] = psycopg.connect(*words, **named)
            self._connection.execute(f"LISTEN {CHANNEL}")
        except psycopg.Error as error:
            raise _away(error) from error

    def wait(self, seconds: float) -> dict[int, int]:
        """{project: seq of its latest entry} of what was told since the last call; waits so long for the first."""
        try:
            told = [*self._connection.notifies(timeout=seconds, stop_after=1)]
            told += self._connection.notifies(timeout=0)
        except self._fault as error:
            raise _away(error) from error
        found: dict[int, int] = {}
        for project, _, seq in (one.payload.partition(" ") for one in told):
            found[int(project)] = max(int(seq), found.get(int(project), 0))
        return found

    def close(self) -> None:
        self._connection.close()


def _away(error: Exception) -> DatabaseUnavailableError:
    return DatabaseUnavailableError(f"PostgreSQL does not tell of news now: {error}.")
