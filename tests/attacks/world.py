"""The server under attack: its people, what belongs to whom, and what no one else may see."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import text

from plcore import LearnerSettings
from tests.attacks.cases import ADA, EVE, OWNER
from tests.browser.server import Server
from tests.plcore.tables.zips import WAV, make_zip, picture
from tests.workflow.files.test_finding import CSV, FILES, kept
from tests.workflow.sounds import RECORDINGS, segments_project
from tests.workflow.world import small_project
from workflow import importing
from workflow.people import browsers, members, team
from workflow.seat import Seat
from workflow.server.home import Home, open_home
from workflow.server.settings import Settings

SECRET = "zugvogelnest"
"""In the name of every project that belongs only to the owner."""


@dataclass(frozen=True)
class World:
    """Values of the words in braces, and cookies by sender."""

    words: dict[str, str]
    cookies: dict[str, str]
    project: int
    open_project: int


def opened(server: Server) -> Home:
    return open_home(Settings.from_environment({"WINNOW_HOME": str(server.home)}))


def make(server: Server) -> World:
    """Fill the server's home."""
    home = opened(server)
    try:
        return _make(home, server.port)
    finally:
        home.close()


def _make(home: Home, port: int) -> World:
    owner = Seat(home, team.ensure_owner(home).id)
    upload = importing.read_upload(make_zip({"birds.csv": CSV.encode(), "call.wav": WAV, **FILES}))
    table = importing.check(upload, upload.suggest_roles()).table
    assert table is not None
    project = importing.create(owner, f"{SECRET} one", table, LearnerSettings(n_neighbors=3))
    segments_project(home, owner.person_id)
    open_project = small_project(home, owner.person_id, "for Ada")
    eves = small_project(home, owner.person_id, "of Eve")

    def signed_in(name: str) -> str:
        return team.redeem_link(home, team.make_link(owner, name))

    cookies = {OWNER: team.redeem_link(home, team.make_start_link(home)), ADA: signed_in("Ada"), EVE: signed_in("Eve")}
    members.share(owner, "Ada", [open_project], "annotator")
    members.share(owner, "Eve", [eves], "owner")
    cookies |= {name: signed_in(name.capitalize()) for name in ("expired", "ended", "disabled")}
    cookies["forged"] = cookies[OWNER][:-1] + ("A" if cookies[OWNER][-1] != "A" else "B")
    cookies["link"] = team.make_link(owner, "Nobody yet")
    used, dead = team.make_link(owner, "Was here"), team.make_link(owner, "Disabled")
    team.redeem_link(home, used)
    people = {one.name: one.id for one in team.list_people(owner)}
    for browser in browsers.my_browsers(Seat(home, people["Ended"])):
        browsers.end_my_browser(Seat(home, people["Ended"]), browser.id)
    team.disable_person(owner, people["Disabled"])
    with home.database.write() as session:
        session.execute(
            text("UPDATE sign_ins SET expires_at = :then WHERE person_id = :person"),
            {"then": datetime.now(UTC) - timedelta(days=1), "person": people["Expired"]},
        )
    words = {
        "port": str(port),
        "picture": kept(picture(2)),
        "sound": kept(RECORDINGS["calls/0.wav"], "wav"),
        "project": str(project),
        "key": "x" * 32,
        "session": "00000000-0000-0000-0000-000000000000",
        "upload": "x" * 32,
        "used": used,
        "dead": dead,
    }
    return World(words, cookies, project, open_project)
