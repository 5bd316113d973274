"""The first document and the files that it loads."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from starlette.testclient import TestClient
from streamlit.components.v2.bidi_component.serialization import BidiComponentSerde, deserialize_trigger_list
from streamlit.file_util import get_static_dir
from streamlit.proto.BackMsg_pb2 import BackMsg

from pages.parts.components import scripts_in
from plcore import AnswerError
from tests.web.conftest import BASE, COOKIE, app_of
from tests.workflow.alike_world import alike_project
from web.closed import HOST_CONFIG
from web.document import ALWAYS, CHOOSING, MANIFEST_TYPE, NEEDED, PAGES, PATH, START, document, needed
from web.headers import HEADERS, hashes_of
from web.packed import FOLDER, MOST, NO_PRESS, Readable, files, packed, readable
from workflow.access import Role
from workflow.answering.press import Press
from workflow.people import members, team
from workflow.seat import Seat
from workflow.server.home import Home

# The head of every page names existing scripts, except those that Streamlit names already


STREAMLITS = Path(get_static_dir(), "index.html").read_text("utf-8")
PRELOADS = re.compile(r'<link rel="modulepreload"[^>]*href="\./([^"]+)">')


@pytest.fixture
def ada(home: Home) -> Iterator[TestClient]:
    """An annotator's browser."""
    seat = Seat(home, team.ensure_owner(home).id)
    with TestClient(app_of(with_documents=True), base_url=BASE, follow_redirects=False) as made:
        made.cookies.set(COOKIE, team.redeem_link(home, team.make_link(seat, "Ada")))
        yield made


@pytest.mark.slow
@pytest.mark.parametrize("page", [START, "annotate", "progress", "account"])
def test_preloaded_scripts_exist_and_are_named_once(ada: TestClient, page: str) -> None:
    text = ada.get(f"/{page}").text
    named = PRELOADS.findall(text)
    assert len(named) == len(set(named)) > len(PRELOADS.findall(STREAMLITS)) > 50
    for address in named[len(PRELOADS.findall(STREAMLITS)) :]:
        answer = ada.get(f"/{address}")
        assert answer.status_code == 200, address
        assert answer.headers["content-type"].startswith("text/javascript")


@pytest.mark.slow
def test_document_extends_streamlits_document_in_head_only(subtests: pytest.Subtests) -> None:
    for page in [START, *PAGES]:
        with subtests.test(page):
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


@pytest.mark.slow
def test_document_inlines_host_config_without_framing_origins(ada: TestClient) -> None:
    told = re.findall(r"HOST_CONFIG: (.*?) };</script>", ada.get("/annotate").text)
    named = [json.loads(one) for one in told]
    assert named == [ada.get(HOST_CONFIG).json() | {"allowedOrigins": ["https://nobody.invalid"]}]


@pytest.mark.slow
def test_imports_of_preloaded_scripts_are_preloaded() -> None:
    names = [re.sub(r"\.[\w-]{8}\.js$", "", one.rpartition("/")[2]) for one in needed("annotate")]
    assert {"BidiComponent", "serialization", "purify.es"} <= set(names)
    assert "PlotlyChart" in " ".join(needed("progress"))
    assert "PlotlyChart" not in " ".join(needed("annotate"))


@pytest.mark.slow
def test_needed_scripts_of_every_page_exist(subtests: pytest.Subtests) -> None:
    """Streamlit's scripts are found by their names without hashes: another version may have other names."""
    for page in [START, *PAGES]:
        with subtests.test(page):
            plain = needed(page)
            for chooses in {False, page in CHOOSING}:
                named = needed(page, chooses=chooses)
                assert named[: len(plain)] == plain
                assert all((Path(get_static_dir()) / one).is_file() for one in named if one.startswith("static/"))


@pytest.mark.slow
def test_select_box_script_is_preloaded_if_page_shows_one(ada: TestClient, home: Home) -> None:
    """The person's own projects count, not those of others."""
    seat, named = Seat(home, team.ensure_owner(home).id), {}
    for number in range(5):
        project = alike_project(home, seat.person_id, f"Numbers {number}", "numbers").project_id or 0
        if number != 1:
            members.share(seat, "Ada", [project], Role.ANNOTATOR)
        texts = {page: ada.get(f"/{page}").text for page in (START, "annotate", "account")}
        named[number] = [page for page, text in texts.items() if "/Selectbox." in text or "/MenuButton." in text]
    assert named == {0: [], 1: [], 2: ["annotate"], 3: ["annotate"], 4: [START, "annotate"]}


@pytest.mark.slow
def test_own_scripts_are_one_file_after_those_of_streamlit(subtests: pytest.Subtests) -> None:
    for page in [START, *PAGES]:
        with subtests.test(page):
            *others, last = needed(page)
            assert last == scripts_in(FOLDER).address
            assert all(one.startswith("static/js/") for one in others)


@pytest.mark.slow
def test_needed_scripts_name_existing_pages_only() -> None:
    assert {*NEEDED, *CHOOSING} <= {START, *PAGES}
    assert all(not set(more) & set(ALWAYS) for more in NEEDED.values())


@pytest.mark.slow
def test_document_is_gzipped_for_browsers_that_accept_it(ada: TestClient) -> None:
    for coding in ("gzip", "identity"):
        answer = ada.get("/annotate", headers={"accept-encoding": coding})
        assert answer.text == document("annotate")
        assert answer.headers.get("content-encoding", "identity") == coding
        assert answer.headers["cache-control"] == "no-cache"
        assert answer.headers["vary"] == "accept-encoding"


@pytest.mark.slow
def test_document_redirects_to_sign_in_without_sign_in(ada: TestClient) -> None:
    ada.cookies.clear()
    for page in (START, *PAGES):
        answer = ada.get(f"/{page}", headers={"accept": "text/html"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/signin")


# Malformed page messages are counted as unusable


DEEP = "[" * 100_000 + "]" * 100_000
UNREADABLE = ("9" * 5_000, DEEP, '{"press": ' + "9" * 5_000 + "}", '{"a":' * 100_000, "", "not JSON", '["half')


def message(part: str, value: str) -> bytes:
    made = BackMsg()
    one = made.rerun_script.widget_states.widgets.add(id="card")
    setattr(one, part, value)
    made.rerun_script.widget_states.widgets.add(id="box", string_value=value)
    return made.SerializeToString()


def value_of(sent: bytes, part: str) -> str:
    read = BackMsg()
    read.ParseFromString(sent)
    card, box = read.rerun_script.widget_states.widgets
    assert (card.id, box.id) == ("card", "box")
    return str(getattr(card, part))


def test_unreadable_value_is_refused_as_press(subtests: pytest.Subtests) -> None:
    for value in UNREADABLE:
        with subtests.test(repr(value[:60])):
            trigger = value_of(readable(message("json_trigger_value", value)), "json_trigger_value")
            assert trigger == NO_PRESS
            (sent,) = deserialize_trigger_list(trigger) or []
            assert sent["event"] == "press"
            with pytest.raises(AnswerError, match="sent an invalid answer"):
                Press.read(sent["value"])
            state = value_of(readable(message("json_value", value)), "json_value")
            assert BidiComponentSerde().deserialize(state) == {}


@pytest.mark.parametrize("value", ['[{"event": "press", "value": {"note": "\\ud800"}}]', "null", "NaN", "[1e999]"])
@pytest.mark.parametrize("part", ["json_trigger_value", "json_value"])
def test_readable_message_is_passed_on_unchanged(part: str, value: str) -> None:
    json.loads(value)
    sent = message(part, value)
    assert readable(sent) is sent
    for other in (b"", b"no message \xff", BackMsg(clear_cache=True).SerializeToString()):
        assert readable(other) is other


def test_only_binary_websocket_messages_are_rewritten() -> None:
    bad = message("json_trigger_value", DEEP)
    coming = [
        {"type": "websocket.connect"},
        {"type": "websocket.receive", "bytes": bad},
        {"type": "websocket.receive", "bytes": None, "text": "a"},
        {"type": "websocket.disconnect", "code": 1000},
    ]

    def received(kind: str) -> list[Any]:
        left, got = [dict(one) for one in coming], []

        async def receive() -> Any:
            return left.pop(0)

        async def app(_scope: Any, take: Any, _send: Any) -> None:
            got.extend([await take() for _ in coming])

        async def run() -> None:
            async def send(_message: Any) -> None:
                raise AssertionError

            await Readable(app)({"type": kind}, receive, send)

        asyncio.run(run())
        return got

    assert received("http") == coming
    got = received("websocket")
    assert value_of(got[1]["bytes"], "json_trigger_value") == NO_PRESS
    assert [got[0], got[2], got[3]] == [coming[0], coming[2], coming[3]]


def test_oversized_message_closes_websocket_unread() -> None:
    got: list[str] = []
    told: list[Any] = []

    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        got.append((await receive())["type"])

    async def receive() -> Any:
        return {"type": "websocket.receive", "bytes": b"x" * (MOST + 1)}

    async def send(message: Any) -> None:
        told.append(message)

    asyncio.run(Readable(app)({"type": "websocket"}, receive, send))
    assert got == ["websocket.disconnect"]
    assert told == [{"type": "websocket.close", "code": 1009}]


# `/scripts/VERSION.js`: all modules of the pages in one file, and nothing else


SCRIPTS = scripts_in(FOLDER)
ADDRESS = f"/{SCRIPTS.address}"


@pytest.fixture
def signed_in(client: TestClient, home: Home) -> TestClient:
    team.ensure_owner(home)
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_start_link(home)))
    return client


@pytest.mark.parametrize("coding", ["gzip", "identity"])
def test_scripts_are_gzipped_on_request_and_cached_forever(signed_in: TestClient, coding: str) -> None:
    answer = signed_in.get(ADDRESS, headers={"accept-encoding": coding})
    assert (answer.status_code, answer.content) == (200, SCRIPTS.joined)
    assert answer.headers.get("content-encoding", "identity") == coding
    assert (int(answer.headers["content-length"]) < len(SCRIPTS.joined) / 3) == (coding == "gzip")
    assert answer.headers["vary"] == "accept-encoding"
    assert answer.headers["content-type"].partition(";")[0] == "text/javascript"
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert answer.headers["x-content-type-options"] == "nosniff"
    head = signed_in.head(ADDRESS)
    assert (head.status_code, head.content) == (200, b"")


def test_joined_scripts_contain_every_module() -> None:
    names = [path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.js")]
    assert {"head/menu.js", "one_label/card.js", "label_vectors/card.js"} <= set(names)
    assert set(names) == set(SCRIPTS.contents)


def test_unknown_script_address_is_404(signed_in: TestClient, subtests: pytest.Subtests) -> None:
    for address in [
        f"/scripts/{SCRIPTS.version}",
        f"/scripts/{SCRIPTS.version}.py",
        f"/scripts/{SCRIPTS.version}.js/head/menu.js",
        f"/scripts/{SCRIPTS.version}/head/menu.js",
        f"/scripts/{SCRIPTS.version}/%2e%2e/main.py",
        "/scripts/",
        "/scripts/head/menu.js",
        "/scripts/%2e%2e/head/menu.js",
        "/scripts/0123456789abcdef.js",
    ]:
        with subtests.test(address):
            answer = signed_in.get(address)
            assert answer.status_code == 404
            assert "immutable" not in answer.headers.get("cache-control", "")


def test_policy_allows_scripts_of_this_server() -> None:
    policy = dict(rule.split(" ", 1) for rule in HEADERS["content-security-policy"].split("; "))
    assert "'self'" in policy["script-src"].split()


# Streamlit's scripts are sent compressed to signed-in clients that accept it, and are unchanged


SCRIPT = max(files(), key=lambda name: files()[name].stat().st_size * (files()[name].suffix == ".js"))
STYLE = next(name for name in files() if name.endswith(".css"))


@pytest.fixture
def packed_ada(client: TestClient, home: Home) -> TestClient:
    """An annotator's browser."""
    seat = Seat(home, team.ensure_owner(home).id)
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_link(seat, "Ada")))
    return client


@pytest.mark.parametrize(("name", "kind"), [(SCRIPT, "text/javascript"), (STYLE, "text/css")])
def test_static_file_is_gzipped_and_complete(packed_ada: TestClient, name: str, kind: str) -> None:
    answer = packed_ada.get(name, headers={"accept-encoding": "br, GZIP"})
    assert answer.status_code == 200
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["content-type"].startswith(kind)
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["x-content-type-options"] == "nosniff", "the headers of all answers stand on it"
    assert answer.content == files()[name].read_bytes()
    assert int(answer.headers["content-length"]) == len(packed(files()[name]))


def test_packing_is_worth_it_and_done_once() -> None:
    path = files()[SCRIPT]
    assert len(packed(path)) < path.stat().st_size / 2
    assert packed(path) is packed(path)
    assert gzip.decompress(packed(path)) == path.read_bytes()


def test_range_or_plain_request_is_left_to_streamlit(packed_ada: TestClient, subtests: pytest.Subtests) -> None:
    for headers in [
        {"accept-encoding": "identity"},
        {"accept-encoding": ""},
        {"accept-encoding": "gzip;q=0"},
        {"accept-encoding": "gzip", "range": "bytes=0-9"},
    ]:
        with subtests.test(str(headers)):
            assert "content-encoding" not in packed_ada.get(SCRIPT, headers=headers).headers


def test_unknown_static_name_is_not_served(packed_ada: TestClient, subtests: pytest.Subtests) -> None:
    for name in ["/static/js/none.js", "/static/../index.html", "/static/js/../../index.html", "/favicon.png"]:
        with subtests.test(name):
            assert name not in files()
            assert "content-encoding" not in packed_ada.get(name, headers={"accept-encoding": "gzip"}).headers
            assert all(path.is_relative_to(get_static_dir()) for path in files().values())


def test_static_file_needs_sign_in(client: TestClient) -> None:
    answer = client.get(SCRIPT, headers={"accept-encoding": "gzip"})
    assert answer.status_code in (303, 401, 403)
    assert "content-encoding" not in answer.headers


# The manifest and its icons: for everyone who is signed in, with correct sizes and types


INSTALLING_ADDRESS = f"{PATH}/manifest.webmanifest"


def test_icons_have_sizes_of_manifest(client: TestClient, home: Home) -> None:
    assert client.get(INSTALLING_ADDRESS, headers={"accept": "*/*"}).status_code == 401
    seat = Seat(home, team.ensure_owner(home).id)
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_link(seat, "Ada")))
    answer = client.get(INSTALLING_ADDRESS)
    assert answer.headers["content-type"].startswith(MANIFEST_TYPE)
    assert answer.headers["content-security-policy"] == HEADERS["content-security-policy"]
    said = answer.json()
    assert urljoin(INSTALLING_ADDRESS, said["start_url"]) == urljoin(INSTALLING_ADDRESS, said["scope"]) == "/"
    assert {one["purpose"] for one in said["icons"]} == {"any", "maskable"}
    assert {one["sizes"] for one in said["icons"]} == {"192x192", "512x512"}
    for one in said["icons"]:
        icon = client.get(urljoin(INSTALLING_ADDRESS, one["src"]))
        assert icon.headers["content-type"] == one["type"]
        width, height = struct.unpack(">II", icon.content[16:24])  # the header of a PNG
        assert f"{width}x{height}" == one["sizes"]
    for other in ("icon-64.png", "icon-..%2F..%2Ficon.png"):
        assert client.get(f"{PATH}/{other}").status_code == 404
