"""Tokens narrowed to an action, or to projects: what they may do, they do; all else is refused, in words that help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest
from starlette.testclient import TestClient

from tests.web import addresses
from tests.web.api.conftest import API, KINDS, somebody_with
from tests.web.conftest import BASE
from tests.workflow.world import small_project
from winnow_labels.client import Winnow, WinnowError
from workflow.access import Action, NotAllowed, numbered
from workflow.exporting import files
from workflow.people import audited, tokens
from workflow.seat import Seat
from workflow.server.home import Home

HERE, THERE = "this project", "another one"
TABLE = b"id,text,labels\na,red,x|y\nb,blue,y|z\nc,green,x\n"
_SAYS_NO = {
    "GET /files/{name}": 404,
    "POST /projects/{project}/suggestions": 422,
    "POST /projects/{project}/encoders": 422,
    "POST /projects/{project}/back-to-words": 422,
    "DELETE /encoders/{encoder}": 422,
}
"""Calls for which this project has nothing to do, with the status that says so to a token that may make them."""


@pytest.fixture
def seat(home: Home) -> Seat:
    from workflow.people import team

    owner = team.ensure_owner(home).id
    made = Seat(home, owner, KINDS["one_label"](home, owner))
    made.settle()
    return made


def narrowed(server: TestClient, seat: Seat, may: str, only: tuple[int, ...] = ()) -> TestClient:
    """A program whose token may do this alone."""
    made = TestClient(server.app, base_url=f"{BASE}{API}", follow_redirects=False, raise_server_exceptions=False)
    made.portal = server.portal
    secret = tokens.make_token(seat, f"{may} {only}", may=may, project_ids=only)
    made.headers["authorization"] = f"Bearer {secret}"
    return made


class Facts(NamedTuple):
    """A project: two open rows, its first class, and its first row as a new one."""

    row: int
    other: int
    label: str
    record: dict[str, str]


def facts_of(seat: Seat) -> Facts:
    with seat.learner() as opened:
        learner, table = opened.learner, opened.learner.table
        rows = [one for one in range(table.n_rows) if learner.may_ask(one, "1")]
    record = {str(name): str(cell) for name, cell in table.cells.iloc[0].items()}
    return Facts(rows[0], rows[-1], str(learner.classes[0]), record | {str(table.roles.id): "new"})


def sent(seat: Seat, line: str, owners: TestClient, facts: Facts) -> Mapping[str, Any]:
    """The arguments of a right call. owners : a program that may all"""
    here, said = f"/projects/{seat.project_id}", {"kind": "unsure", "key": "may"}
    match line:
        case "POST /projects/{project}/answers":
            asked = owners.post(f"{here}/question").json()["question"]
            return {"json": {"token": asked["token"], "kind": "unsure"}}
        case "POST /projects/{project}/answers/batch":
            return {"json": {"answers": [said | {"row": facts.row}]}}
        case "PUT /projects/{project}/rows/{row}/answer":
            return {"json": said | {"key": "june"}}
        case "POST /projects/{project}/rows":
            return {"json": {"rows": [facts.record]}}
        case "POST /projects/{project}/predictions":
            return {"json": {"model": "net", "key": "may", "predictions": [{"row": 0, "scores": {facts.label: 1}}]}}
        case "POST /projects/{project}/encoders":
            return {"json": {"encoder": "none"}}
        case "POST /projects/{project}/suggestions":
            return {"json": {"url": "http://127.0.0.1:9/v1", "model": "m"}}
        case "PATCH /projects/{project}/settings":
            return {"json": {"settings": {"strategy": "random"}}}
        case "PUT /projects/{project}/further":
            return {"json": {"projects": []}}
        case "PUT /projects/{project}/members/{person}":
            return {"json": {"role": "viewer"}}
        case "POST /projects/{project}/classes":
            version = owners.get(f"{here}/classes").json()["version"]
            return {"json": {"version": version, "kind": "rename", "names": [facts.label, "gnu"]}}
        case "POST /uploads" | "POST /readings":
            return {"content": TABLE, "params": {"name": "a.csv"}}
        case "POST /projects":
            return {"content": TABLE, "params": {"name": "a.csv", "project": "Made", "accept": ["few-rows"]}}
    return {}


@pytest.mark.parametrize("only", ["", HERE, THERE])
@pytest.mark.parametrize("may", list(Action))
def test_narrowed_token_allows_only_its_actions(server: TestClient, seat: Seat, may: Action, only: str) -> None:
    """Every call of the API, each as it would be right."""
    other, eve = small_project(seat.home, seat.person_id, "other"), somebody_with(seat, "annotator")
    owners = narrowed(server, seat, "own")
    places = {"": (), HERE: (seat.project_id or 0,), THERE: (other,)}[only]
    mine = owners if (may, only) == (Action.OWN, "") else narrowed(server, seat, may, places)
    key = owners.post(f"/projects/{seat.project_id}/exports", params={"file": "csv"}).json()["key"]
    files.wait(seat, key)
    facts = facts_of(seat)
    for line in addresses.API:
        method, path = line.split()
        for name, value in {
            "project": seat.project_id,
            "row": facts.other,
            "person": eve.person_id,
            "key": key,
        }.items():
            path = path.replace(f"{{{name}}}", str(value))
        path = path.replace("{name}", "a" * 64 + ".png").replace("{encoder}", "none")
        answer = mine.request(method, path, **sent(seat, line, owners, facts))
        its_place = not only or line in addresses.OF_NO_PROJECT or ("{project}" in line and only == HERE)
        if its_place and list(Action).index(may) >= list(Action).index(addresses.action_of(line)):
            wanted = _SAYS_NO.get(line)
            assert answer.status_code == wanted if wanted else answer.status_code < 300, (line, answer.text)
            continue
        assert answer.status_code == 403, (line, answer.text)
        words = answer.json()["detail"]
        if its_place:
            assert words.startswith(f"This token may only {'read' if may is Action.READ else 'read and answer'}; "), (
                line
            )
            assert words.endswith(f"--may {addresses.action_of(line)}."), line
        elif "{project}" in line:
            assert f"for project {places[0]} alone, not for project {seat.project_id}." in words, line
            assert words.endswith(f"--project {seat.project_id}."), line
        else:
            assert "need a token for all projects" in words, line


def test_token_limited_to_projects_lists_only_these(server: TestClient, seat: Seat) -> None:
    other = small_project(seat.home, seat.person_id, "other")
    mine = narrowed(server, seat, "read", (other,))
    assert [one["id"] for one in mine.get("/projects").json()["projects"]] == [other]
    everywhere = narrowed(server, seat, "read").get("/projects").json()["projects"]
    assert {one["id"] for one in everywhere} == {other, seat.project_id}


def test_refusal_reveals_nothing_about_other_projects(server: TestClient, seat: Seat) -> None:
    """A project that is there and one that is not get the same words."""
    other = small_project(seat.home, seat.person_id, "other")
    mine = narrowed(server, seat, "own", (other,))
    there, nowhere = (mine.get(f"/projects/{number}") for number in (seat.project_id, 99))
    assert (there.status_code, nowhere.status_code) == (403, 403)
    assert (
        there.text.replace(f"project {seat.project_id}", "project 99").replace(
            f"--project {seat.project_id}", "--project 99"
        )
        == nowhere.text
    )


def test_narrowed_token_has_no_more_than_its_person(server: TestClient, seat: Seat) -> None:
    viewer = somebody_with(seat, "viewer")
    mine = narrowed(server, viewer, "own", (seat.project_id or 0,))
    assert mine.get(f"/projects/{seat.project_id}").status_code == 200
    refused = mine.post(f"/projects/{seat.project_id}/question")
    assert (refused.status_code, "Only annotators" in refused.text) == (403, True)


def test_client_names_missing_right_of_token(url: str, seat: Seat) -> None:
    secret = tokens.make_token(seat, "notebook", may="read")
    with Winnow(url, secret) as winnow:
        project = winnow.project(seat.project_id or 0)
        assert project.figures()
        with pytest.raises(WinnowError, match=r"This token may only read; .* --may answer\.") as refused:
            project.next_question()
    assert refused.value.status == 403


def test_narrowed_seat_makes_and_ends_no_tokens(seat: Seat) -> None:
    tokens.make_token(seat, "reader", may="read")
    tokens.make_token(seat, "here", project_ids=(seat.project_id or 0,))
    used = {one.purpose: one for one in tokens.my_tokens(seat)}
    for purpose in ("reader", "here"):
        one = used[purpose]
        mine = tokens.seat_of(seat.home, tokens.TokenUse(_person(seat), one.id, one.may, one.projects))
        with pytest.raises(NotAllowed):
            tokens.make_token(mine, "wider")
        with pytest.raises(NotAllowed):
            tokens.end_my_token(mine, one.id)
    assert len(tokens.my_tokens(seat)) == 2


def _person(seat: Seat) -> Any:
    with seat.reading() as reading:
        return reading.person


@pytest.mark.parametrize(
    ("may", "only", "words"), [("write", (), "may read, answer, own"), ("read", (99,), "no project 99")]
)
def test_wrong_narrowing_is_refused(seat: Seat, may: str, only: tuple[int, ...], words: str) -> None:
    with pytest.raises(tokens.TokenError, match=words):
        tokens.make_token(seat, "survey", may=may, project_ids=only)


def test_audit_and_list_name_the_narrowing(seat: Seat) -> None:
    other = small_project(seat.home, seat.person_id, "other")
    tokens.make_token(seat, "survey", may="read", project_ids=(other, seat.project_id or 0))
    (line, *_) = audited.audit_lines(seat, audited.EventFilter())
    assert line.details == f"purpose: survey; may: read; only: {numbered([seat.project_id or 0, other])}"
    (one,) = tokens.my_tokens(seat)
    assert tokens.scope_of(one) == f"reads in {numbered([seat.project_id or 0, other])}"
