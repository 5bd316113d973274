"""A team at two servers on one PostgreSQL: nobody is asked what somebody has answered, and whose server is killed goes
on at the other. `python -m benchmarks two_servers` is the same with 20 people and 200 answers of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.server import Server
from tests.databases import postgres_server
from tests.postgres import Server as PostgresServer
from tests.two_servers import make_team, stored
from workflow.server.home import open_home
from workflow.server.settings import Settings

__all__ = ["postgres_server"]

pytestmark = [pytest.mark.browser, pytest.mark.postgres, pytest.mark.proof]

PEOPLE, ANSWERS = 6, 12


def test_no_row_is_answered_twice_and_a_killed_server_keeps_nobody_from_going_on(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    with postgres_server.empty_database() as url:
        place = {"WINNOW_DATABASE_URL": url}
        team = make_team({"WINNOW_HOME": str(tmp_path / "home"), **place}, PEOPLE, ANSWERS)
        servers = [Server(tmp_path / "home", more=place) for _ in range(2)]
        try:
            for one in servers:
                one.start()
            team.answer(servers, kill_at=PEOPLE * ANSWERS // 2)
            home = open_home(Settings.from_environment(servers[1].environment))
            found = stored(home, team)
            home.close()
        finally:
            for one in servers:
                one.stop()
    assert team.faults == []
    assert team.behind == 0, "an answer at one server is known to each next question at the other"
    assert team.moved == PEOPLE // 2
    assert len(team.acknowledged) == PEOPLE * ANSWERS
    assert (found.lost, found.other, found.twice) == (0, 0, 0)
    assert 0 <= found.entries - len(team.acknowledged) <= team.cut, (
        "what a kill has answered is stored once or not at all"
    )
