"""Conventions that all calls of the HTTP API share."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.web.api.conftest import API, ONE_KIND, OTHER_KIND_IN_PROOFS, program
from tests.web.conftest import BASE, COOKIE
from web.api import conventions
from web.api.made import make_api
from web.problems import TYPE
from workflow import kinds
from workflow.answering import loop
from workflow.exporting import for_programs
from workflow.exporting.project_files import files_of
from workflow.people import team, tokens
from workflow.seat import Seat
from workflow.server.home import Home

PLAIN = {"accept-encoding": "identity"}
LAB = "https://lab.example.org"


def at(seat: Seat, path: str = "") -> str:
    return f"/projects/{seat.project_id}{path}"


WRONG_METHODS = (
    ("DELETE", "/projects", "GET, HEAD, POST"),
    ("PATCH", "/projects/1", "DELETE, GET, HEAD"),
    ("POST", "/projects/1/settings", "GET, HEAD, PATCH"),
    ("GET", "/projects/1/members/2", "DELETE, PUT"),
    ("HEAD", "/uploads", "POST"),
    ("OPTIONS", "/projects/1/log", "GET, HEAD"),
)


@ONE_KIND
def test_wrong_method_is_refused_with_allowed_methods(api: TestClient) -> None:
    for method, path, allowed in WRONG_METHODS:
        refused = api.request(method, path)
        assert (refused.status_code, refused.headers["allow"]) == (405, allowed), path
        assert refused.headers["content-type"] == TYPE


@OTHER_KIND_IN_PROOFS
def test_head_of_every_get_has_its_headers_and_no_body(api: TestClient, seat: Seat) -> None:
    tried = 0
    for path, methods in make_api().openapi()["paths"].items():
        if "get" in methods:
            where = path.replace("{project}", str(seat.project_id)).replace("{name}", "a" * 64 + ".png")
            head, whole = api.head(where, headers=PLAIN), api.get(where, headers=PLAIN)
            assert (head.status_code, head.content) == (whole.status_code, b""), path
            if not path.endswith("export"):  # written again, with the time of that moment
                assert dict(head.headers) == dict(whole.headers), path
            tried += 1
    assert tried > 10


@ONE_KIND
def test_large_text_is_compressed_if_client_accepts_gzip(api: TestClient, seat: Seat) -> None:
    for path in ("/openapi.json", at(seat, "/export?file=csv"), at(seat, "/rows?count=1000")):
        packed = api.get(path, headers={"accept-encoding": "gzip"})
        assert packed.headers["content-encoding"] == "gzip", path
        assert packed.headers["vary"].lower() == "accept-encoding"
        plain = api.get(path, headers=PLAIN)
        assert "content-encoding" not in plain.headers
        assert int(plain.headers["content-length"]) == len(plain.content) > conventions.COMPRESSED_FROM
        assert packed.content == plain.content


@ONE_KIND
def test_small_and_compressed_bodies_are_sent_unchanged(api: TestClient, seat: Seat) -> None:
    for path in ("/projects", at(seat, "/export?file=parquet"), at(seat, "/export?file=xlsx")):
        given = api.get(path, headers={"accept-encoding": "gzip"})
        assert given.status_code == 200
        assert "content-encoding" not in given.headers, path
        assert int(given.headers["content-length"]) == len(given.content)


def test_unchanged_reply_is_304(api: TestClient, seat: Seat) -> None:
    for path in ("/rows?count=1000", "/figures", "/settings", "/log?since=0", ""):
        check_unchanged(api, seat, path)
    log, question = at(seat, "/log?since=0"), loop.next_question(seat)
    tag = api.get(log).headers["etag"]
    loop.submit_answer(seat, question.token, "skip")
    news = api.get(log, headers={"if-none-match": tag})
    assert (news.status_code, len(news.json()["entries"]), news.headers["etag"] == tag) == (200, 1, False)


def check_unchanged(api: TestClient, seat: Seat, path: str) -> None:
    first = api.get(at(seat, path))
    tag = first.headers["etag"]
    assert first.headers["cache-control"] == "private, no-cache"
    for known in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
        same = api.get(at(seat, path), headers={"if-none-match": known})
        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag), known
        assert "content-length" not in same.headers
    assert api.get(at(seat, path), headers={"if-none-match": '"other"'}).content == first.content


def pages(api: TestClient, path: str) -> list[dict[str, Any]]:
    """All pages of a list, by their links."""
    found, url = [], path
    while url:
        reply = api.get(url)
        found.append(reply.json())
        link = reply.links.get("next")
        url = "" if link is None else path.partition("?")[0] + link["url"]
        assert link is None or link["url"].startswith("?")
    return found


@pytest.mark.parametrize("what", ["rows", "predictions"])
def test_links_lead_through_all_pages(api: TestClient, seat: Seat, what: str) -> None:
    found = pages(api, at(seat, f"/{what}?count=7"))
    (whole,) = pages(api, at(seat, f"/{what}?count=1000"))
    assert len(found) == -(-whole["total"] // 7)
    assert [one["row"] for page in found for one in page[what]] == list(range(whole["total"]))


def test_links_lead_through_log_to_its_end(api: TestClient, seat: Seat) -> None:
    for _ in range(5):
        question = api.post(at(seat, "/question")).json()["question"]
        assert api.post(at(seat, "/answers"), json={"token": question["token"], "kind": "skip"}).is_success
    (whole,) = pages(api, at(seat, "/log"))
    found = pages(api, at(seat, "/log?count=2"))
    assert [len(page["entries"]) for page in found] == [2, 2, 1]
    assert [one for page in found for one in page["entries"]] == whole["entries"]


@ONE_KIND
def test_misspelt_query_name_is_refused_with_nearest(api: TestClient, seat: Seat) -> None:
    for query, words in (
        ("cuont=5", "there is no 'cuont' here. Did you mean 'count'? Fix: send count, start alone."),
        ("Start=5", "there is no 'Start' here. Did you mean 'start'? Fix: send count, start alone."),
        ("zzz=5", "there is no 'zzz' here. Fix: send count, start alone."),
    ):
        refused = api.get(at(seat, f"/rows?{query}"))
        assert (refused.status_code, refused.json()["detail"]) == (422, f"query: {words}")


def test_document_lists_values_and_media_types() -> None:
    document = make_api().openapi()
    export = document["paths"]["/projects/{project}/export"]["get"]
    (file,) = (one for one in export["parameters"] if one["name"] == "file")
    made = {name: one for kind in kinds.KINDS.values() for name, one in files_of(kind).items()}
    assert set(file["schema"]["enum"]) == set(made) == set(for_programs.FILES)
    content = export["responses"]["200"]["content"]
    for one in made.values():
        assert conventions.MEDIA_TYPES[PurePath(f"a{one.form.suffix}").suffix] in content
    assert content.pop("application/json") == {}, "any value of JSON: Label Studio's files are lists"
    assert all(kind["schema"] == {"type": "string", "format": "binary"} for kind in content.values())
    schemas = document["components"]["schemas"]
    for name in ("ListedProject", "AnswerBody", "RowAnswer", "StoredAnswer", "LoggedEntry"):
        assert len(schemas[name]["properties"]["kind"]["enum"]) > 1, name


CONTENT_TYPES = (
    ("csv", "text/csv; charset=utf-8"),
    ("parquet", "application/vnd.apache.parquet"),
    ("jsonl", "application/x-ndjson"),
    ("dataset", "application/zip"),
    ("labelstudio", "application/json"),
)


def test_exported_file_has_its_content_type(api: TestClient, seat: Seat) -> None:
    for file, kind in CONTENT_TYPES:
        given = api.head(at(seat, f"/export?file={file}"))
        assert (given.status_code, given.headers["content-type"]) == (200, kind), file
        assert given.headers["content-disposition"].startswith("attachment")


# Pages of other sites (CORS)


@pytest.fixture
def shared(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that the pages of one other site may call."""
    monkeypatch.setenv("WINNOW_API_ORIGINS", LAB)


def preflight(server: TestClient, origin: str, path: str = f"{API}/projects") -> Any:
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    return server.options(path, headers={"origin": origin, **asked})


@ONE_KIND
def test_other_sites_cannot_call_by_default(server: TestClient, api: TestClient) -> None:
    asked = preflight(server, LAB)
    read = api.get("/projects", headers={"origin": LAB})
    for reply in (asked, read):
        assert not [name for name in reply.headers if name.startswith("access-control")]
    assert asked.status_code == 401
    assert api.post("/projects", headers={"origin": LAB}).status_code == 403


@ONE_KIND
@pytest.mark.usefixtures("shared")
def test_named_site_can_call_with_token(server: TestClient, seat: Seat) -> None:
    asked = preflight(server, LAB)
    assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (200, LAB)
    assert "authorization" in asked.headers["access-control-allow-headers"].lower()
    assert "access-control-allow-credentials" not in asked.headers
    api, browser = program(server, seat), {"origin": LAB, "sec-fetch-site": "cross-site"}
    for reply in (api.get("/projects", headers=browser), api.post(at(seat, "/question"), headers=browser)):
        assert (reply.status_code, reply.headers["access-control-allow-origin"]) == (200, LAB)
        assert "Origin" in reply.headers["vary"]
        assert "link" in reply.headers["access-control-expose-headers"].lower()


@ONE_KIND
@pytest.mark.usefixtures("shared")
def test_named_site_cannot_use_cookie(server: TestClient, seat: Seat) -> None:
    cookie = f"{COOKIE}={team.redeem_link(seat.home, team.make_start_link(seat.home))}"
    for path in (f"{API}/projects", f"{API}/openapi.json"):
        assert server.get(path, headers={"origin": LAB, "cookie": cookie}).status_code == 401
    assert server.get("/account", headers={"origin": LAB, "cookie": cookie}).status_code == 200
    assert "access-control-allow-origin" not in server.get("/healthz", headers={"origin": LAB}).headers
    for path in (f"/presses/{seat.project_id}", "/uploads"):
        assert server.post(path, headers={"origin": LAB, "cookie": cookie}).status_code == 403


@ONE_KIND
@pytest.mark.usefixtures("shared")
def test_other_site_cannot_call_next_to_named_one(server: TestClient, seat: Seat) -> None:
    token = {"authorization": f"Bearer {tokens.make_token(seat, 'page')}"}
    for origin in ("https://evil.example", f"{LAB}.evil.example", "http://lab.example.org", "null"):
        assert preflight(server, origin).status_code == 401
        refused = server.post(f"{API}{at(seat, '/question')}", headers=token | {"origin": origin})
        assert refused.status_code == 403
        assert "access-control-allow-origin" not in refused.headers
    own = server.post(f"{API}{at(seat, '/question')}", headers=token | {"origin": BASE})
    assert own.status_code == 200
