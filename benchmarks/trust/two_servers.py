"""Twenty people at two servers on one PostgreSQL, one of which is killed midway: is a row answered twice, is
an answer lost, can everyone continue?"""

from __future__ import annotations

import os
import time
from pathlib import Path

from benchmarks import homes
from benchmarks.harness import Table, benchmark, folder, load_average, page, sized
from tests.browser.server import Server
from tests.two_servers import make_team, stored

PEOPLE, ANSWERS = sized((20, 200), tiny=(2, 4))


def run(url: str, place: Path) -> tuple[float, ...]:
    team = make_team({"WINNOW_HOME": str(place / "home"), **homes.place_of(url)}, PEOPLE, ANSWERS)
    servers = [Server(place / "home", more=homes.place_of(url)) for _ in range(2)]
    try:
        for one in servers:
            one.start()
        begun = time.perf_counter()
        team.answer(servers, kill_at=PEOPLE * ANSWERS // 2)
        seconds = time.perf_counter() - begun
        with homes.owner_of(place / "home", **homes.place_of(url)) as owner:
            found = stored(owner.home, team)
    finally:
        for one in servers:
            one.stop()
    if team.faults:
        raise RuntimeError(f"{len(team.faults)} people saw what no one should see: {team.faults[:3]}")
    lost = found.lost, found.other, found.twice, team.behind
    return len(team.acknowledged), team.moved, team.cut, *lost, seconds


@benchmark("Two servers, one PostgreSQL, one of them killed", packages=("psycopg",))
def two_servers() -> str:
    table = Table("acknowledged | moved | cut | lost | other | twice | behind | seconds", ",.0f")
    with homes.postgres("fsync=on") as server, folder() as place:
        if server is None:
            raise SystemExit("two_servers needs PostgreSQL. Fix: make postgres.")
        with server.empty_database() as url:
            table.add(*run(url, place))
    return page(
        f"""{PEOPLE} people give {ANSWERS} answers each in one project, half of them at each of two servers, through
the guard and as the card does, without a pause. Once half of all answers are saved the first server is killed with
`SIGKILL`. Whoever loses it goes on at the other with the same sign-in (*moved*); what was in the air then is *cut*,
and is stored once or not at all. *Acknowledged*: the card said *Saved*. *Lost*: of these, not in the log; *other*:
with another label. *Twice*: rows with more than one entry. *Behind*: next questions chosen without an answer, of
anyone at either server, that had been acknowledged before they were asked for. Servers, database and people share
{os.cpu_count()} cores with whatever else ran. {load_average()}""",
        table,
    )
