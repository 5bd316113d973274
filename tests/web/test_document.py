"""The document of every page names, in its head, scripts that there are, and nothing that Streamlit names already."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from streamlit.file_util import get_static_dir

from pages.parts.components import scripts_in
from tests.web.conftest import BASE, COOKIE, app_of
from tests.workflow.alike_world import alike_project
from web.closed import HOST_CONFIG
from web.document import ALWAYS, CHOOSING, NEEDED, PAGES, START, document, needed
from web.headers import hashes_of
from web.scripts import FOLDER
from workflow.access import Role
from workflow.people import members, team
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.slow

STREAMLITS = Path(get_static_dir(), "index.html").read_text("utf-8")
PRELOADS = re.compile(r'<link rel="modulepreload"[^>]*href="\./([^"]+)">')


@pytest.fixture
def ada(home: Home) -> Iterator[TestClient]:
    """An annotator's browser."""
    seat = Seat(home, team.ensure_owner(home).id)
    with TestClient(app_of(with_documents=True), base_url=BASE, follow_redirects=False) as made:
        made.cookies.set(COOKIE, team.redeem_link(home, team.make_link(seat, "Ada")))
        yield made


@pytest.mark.parametrize("page", [START, "annotate", "progress", "account"])
def test_all_that_is_named_is_there_and_named_once(ada: TestClient, page: str) -> None:
    text = ada.get(f"/{page}").text
    named = PRELOADS.findall(text)
    assert len(named) == len(set(named)) > len(PRELOADS.findall(STREAMLITS)) > 50
    for address in named[len(PRELOADS.findall(STREAMLITS)) :]:
        answer = ada.get(f"/{address}")
        assert answer.status_code == 200, address
        assert answer.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize("page", [START, *PAGES])
def test_it_is_streamlits_and_more_in_its_head(page: str) -> None:
    before, after = document(page).split("<script>window.__streamlit")
    assert STREAMLITS.startswith(before.rstrip())
    head, rest = after.split("</head>")
    body, style = rest.split("<style>")
    style, end = style.split("</style>\n")
    assert STREAMLITS.endswith(f"</head>{body}{end}"), "the body is Streamlit's but for the style at its end"
    assert end.startswith("</body>")
    assert style.strip() == (FOLDER / "style.css").read_text("utf-8").strip()
    assert set(hashes_of(document(page))) == set(hashes_of(document(START))), "one policy for all"
    assert all("low" in one for one in re.findall(r"<link [^>]*>", head))


def test_streamlit_is_told_what_it_would_ask_for_and_of_nobody_who_may_frame_it(ada: TestClient) -> None:
    told = re.findall(r"HOST_CONFIG: (.*?) };</script>", ada.get("/annotate").text)
    named = [json.loads(one) for one in told]
    assert named == [ada.get(HOST_CONFIG).json() | {"allowedOrigins": ["https://nobody.invalid"]}]


def test_what_a_script_imports_is_named_with_it() -> None:
    names = [re.sub(r"\.[\w-]{8}\.js$", "", one.rpartition("/")[2]) for one in needed("annotate")]
    assert {"BidiComponent", "serialization", "purify.es"} <= set(names)
    assert "PlotlyChart" in " ".join(needed("progress"))
    assert "PlotlyChart" not in " ".join(needed("annotate"))


@pytest.mark.parametrize("page", [START, *PAGES])
def test_what_any_page_needs_is_there(page: str) -> None:
    """Streamlit's scripts are looked for by the names that they have without their hashes: another version of it may
    have others."""
    plain = needed(page)
    for chooses in {False, page in CHOOSING}:
        named = needed(page, chooses=chooses)
        assert named[: len(plain)] == plain
        assert all((Path(get_static_dir()) / one).is_file() for one in named if one.startswith("static/"))


def test_boxes_to_choose_by_are_named_where_there_are_some(ada: TestClient, home: Home) -> None:
    """A person's own projects count, not those of others."""
    seat, named = Seat(home, team.ensure_owner(home).id), {}
    for number in range(5):
        project = alike_project(home, seat.person_id, f"Numbers {number}", "numbers").project_id or 0
        if number != 1:
            members.share(seat, "Ada", [project], Role.ANNOTATOR)
        named[number] = [
            page for page in (START, "annotate", "account") if "Selectbox" in ada.get(f"/{page}").text
        ]
    assert named == {0: [], 1: [], 2: ["annotate"], 3: ["annotate"], 4: [START, "annotate"]}


@pytest.mark.parametrize("page", [START, *PAGES])
def test_our_own_are_one_file_behind_those_of_streamlit(page: str) -> None:
    *others, last = needed(page)
    assert last == scripts_in(FOLDER).address
    assert all(one.startswith("static/js/") for one in others)


def test_what_pages_need_is_of_pages() -> None:
    assert {*NEEDED, *CHOOSING} <= {START, *PAGES}
    assert all(not set(more) & set(ALWAYS) for more in NEEDED.values())


def test_it_comes_packed_to_who_takes_it_so_and_is_asked_for_each_time(ada: TestClient) -> None:
    for coding in ("gzip", "identity"):
        answer = ada.get("/annotate", headers={"accept-encoding": coding})
        assert answer.text == document("annotate")
        assert answer.headers.get("content-encoding", "identity") == coding
        assert answer.headers["cache-control"] == "no-cache"
        assert answer.headers["vary"] == "accept-encoding"


def test_nobody_has_one_who_is_not_signed_in(ada: TestClient) -> None:
    ada.cookies.clear()
    for page in (START, *PAGES):
        answer = ada.get(f"/{page}", headers={"accept": "text/html"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/signin")
