"""A program behind a trusted proxy is nobody else than the proxy says."""

from __future__ import annotations

from tests.web.api.conftest import API
from tests.web.test_proxies import ADA, PROXY, STRANGER, From, come_from, there
from workflow.people import team, tokens
from workflow.seat import Seat
from workflow.server.home import Home

__all__ = ["come_from", "there"]


def ada_s_token(there: Home) -> dict[str, str]:
    owner = Seat(there, team.ensure_owner(there).id)
    ada = next(one.id for one in team.list_people(owner) if one.name == "Ada")
    return {"authorization": f"Bearer {tokens.make_token(Seat(there, ada), 'survey')}"}


def test_nobody_s_token_works_for_somebody_else(come_from: From, there: Home) -> None:
    token, client = ada_s_token(there), come_from(PROXY)
    assert client.get(f"{API}/projects", headers=token | ADA).status_code == 200
    for user in ("bob", "eve"):
        assert client.get(f"{API}/projects", headers=token | {"x-forwarded-user": user}).status_code == 401
    assert client.get(f"{API}/projects", headers=token).status_code == 200, "the proxy says nothing"


def test_a_stranger_s_word_counts_for_nothing(come_from: From, there: Home) -> None:
    token, client = ada_s_token(there), come_from(STRANGER)
    assert client.get(f"{API}/projects", headers=ADA).status_code == 401
    assert client.get(f"{API}/projects", headers=token | {"x-forwarded-user": "bob"}).status_code == 200
