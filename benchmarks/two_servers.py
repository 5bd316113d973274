"""Twenty people at two servers on one PostgreSQL, of which one is killed in the middle: is a row answered twice, is an
answer lost, does everybody go on?

`python -m benchmarks two_servers`; people press as the card does, without a pause.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from benchmarks import report
from tests.browser.server import Server
from tests.postgres import running
from tests.postgres_programs import find
from tests.two_servers import make_team, stored
from workflow.home import open_home
from workflow.settings import Settings

PEOPLE, ANSWERS = 20, 200


def line(url: str, folder: Path) -> str:
    place = {"WINNOW_HOME": str(folder / "home"), "WINNOW_DATABASE_URL": url}
    team = make_team(place, PEOPLE, ANSWERS)
    servers = [Server(folder / "home", more=place) for _ in range(2)]
    try:
        for one in servers:
            one.start()
        begun = time.perf_counter()
        team.answer(servers, kill_at=PEOPLE * ANSWERS // 2)
        seconds = time.perf_counter() - begun
        home = open_home(Settings.from_environment(place))
        found = stored(home, team)
        home.close()
    finally:
        for one in servers:
            one.stop()
    if team.faults:
        raise RuntimeError(f"{len(team.faults)} people saw what nobody should see: {team.faults[:3]}")
    figures = (
        len(team.acknowledged),
        team.moved,
        team.cut,
        found.lost,
        found.other,
        found.twice,
        team.behind,
    )
    return "| " + " | ".join(f"{one:,}" for one in figures) + f" | {seconds:.0f} |"


def main() -> None:
    if (programs := find()) is None:
        print("Not run: there is no PostgreSQL.")
        return
    with (
        running(programs, ["fsync=on"]) as server,
        server.empty_database() as url,
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
    ):
        text = line(url, Path(folder))
    report.write(
        "two_servers",
        "Two servers, one PostgreSQL, one of them killed",
        f"""
{PEOPLE} people give {ANSWERS} answers each in one project, half of them at each of two servers, through the guard and
as the card does, without a pause. Once half of all answers are saved the first server is killed with `SIGKILL`. Whoever
loses it goes on at the other with the same sign-in (*moved*); what was in the air then is *cut*, and is stored once or
not at all. *Acknowledged*: the card said *Saved*. *Lost*: of these, not in the log; *other*: with another label.
*Twice*: rows with more than one entry. *Behind*: next questions chosen without an answer, of anybody at either server,
that had been acknowledged before they were asked for. Servers, database and people share {os.cpu_count()} cores with
whatever else ran; processes that wanted a core meanwhile, on average of 15 minutes: {os.getloadavg()[2]:.1f}.

| acknowledged | moved | cut | lost | other | twice | behind | seconds |
|--:|--:|--:|--:|--:|--:|--:|--:|
{text}
""",
        ("streamlit", "SQLAlchemy", "psycopg"),
    )


if __name__ == "__main__":
    main()
