"""Signing in by OpenID Connect, against a provider that listens, signs and, where told to, lies."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Iterator
from datetime import timedelta
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc.jwk import OctKey, RSAKey
from starlette.testclient import TestClient

import workflow.server.home
from tests.web.conftest import BASE, COOKIE, app_of
from tests.web.provider import CLIENT, SECRET, Provider
from web import openid
from workflow.people import audited, browsers, elsewhere, team
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def provider() -> Iterator[Provider]:
    made = Provider()
    yield made
    made.close()


@pytest.fixture
def there(home: Home, provider: Provider, monkeypatch: pytest.MonkeyPatch) -> Home:
    """The process's home with this provider, where ada@example.org is known as Ada."""
    for name, value in (("ISSUER", provider.issuer), ("CLIENT_ID", CLIENT), ("CLIENT_SECRET", SECRET)):
        monkeypatch.setenv(f"WINNOW_OIDC_{name}", value)
    workflow.server.home.close_home()
    openid._provider.cache_clear()
    here = workflow.server.home.home()
    owner = Seat(here, team.ensure_owner(here).id)
    team.make_link(owner, "Ada")
    elsewhere.set_known_as(owner, owner.person_id + 1, "ada@example.org")
    return here


@pytest.fixture
def client(there: Home) -> Iterator[TestClient]:
    with TestClient(app_of(), base_url=BASE, follow_redirects=False) as made:
        yield made


def begin(client: TestClient) -> str:
    """The address at the provider that a browser is sent to."""
    answer = client.get("/signin/openid")
    assert (answer.status_code, answer.headers["cache-control"]) == (302, "no-store")
    return answer.headers["location"]


def refused(client: TestClient, address: str, status: int = 403) -> str:
    answer = client.get(address)
    assert answer.status_code == status, answer.text
    assert COOKIE not in client.cookies
    assert "set-cookie" not in answer.headers or COOKIE not in answer.headers["set-cookie"]
    return answer.text


def test_who_is_known_signs_in(client: TestClient, provider: Provider, there: Home) -> None:
    assert 'href="signin/openid"' in client.get("/signin").text
    answer = client.get(provider.agree(begin(client)))
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = SimpleCookie(answer.headers["set-cookie"])[COOKIE]
    assert (cookie["httponly"], cookie["samesite"].rstrip(","), cookie["path"]) == (True, "lax", "/")
    found = browsers.signed_in(there, client.cookies[COOKIE])
    assert found is not None
    assert (found.person.name, found.how) == ("Ada", "openid")
    assert client.get("/").status_code == 200


def test_state_nonce_and_pkce_are_sent_anew_each_time(client: TestClient, provider: Provider) -> None:
    for _ in range(2):
        provider.agree(begin(client))
    first, second = provider.asked
    for name in ("state", "nonce", "code_challenge"):
        assert len(first[name]) >= 20, name
        assert first[name] != second[name]
    assert (first["code_challenge_method"], first["response_type"]) == ("S256", "code")
    assert first["redirect_uri"] == f"{BASE}/signin/openid/back"
    assert "openid" in first["scope"].split()


def test_what_joins_the_two_requests_is_kept_from_scripts_and_other_addresses(client: TestClient) -> None:
    answer = client.get("/signin/openid")
    ((name, cookie),) = SimpleCookie(answer.headers["set-cookie"]).items()
    assert name == "winnow_openid_8501"
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "lax", "/signin/openid")
    assert SECRET not in answer.headers["set-cookie"]


@pytest.mark.parametrize(
    "lie",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "another client"},
        {"aud": None},
        {"exp": timedelta(hours=-1)},
        {"exp": None},
        {"iat": timedelta(hours=1)},
        {"sub": None},
        {"azp": "another client", "aud": [CLIENT, "another client"]},
    ],
    ids=str,
)
def test_a_token_that_says_anything_wrong_is_refused(
    client: TestClient, provider: Provider, there: Home, lie: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    # Times are made here: by name a test must be the same in whichever second it is collected.
    provider.lies = {
        name: int(time.time() + value.total_seconds()) if isinstance(value, timedelta) else value
        for name, value in lie.items()
    }
    with caplog.at_level(logging.WARNING, "winnow"):
        assert "The sign-in was not completed" in refused(client, provider.agree(begin(client)))
    assert SECRET not in caplog.text
    owner = Seat(there, team.ensure_owner(there).id)
    assert audited.audit_lines(owner, audited.EventFilter())[0].details.startswith(
        "why: OpenID Connect refused"
    )


@pytest.mark.parametrize("forged", ["another key", "none", "the secret as a key"])
def test_a_token_that_another_has_signed_is_refused(
    client: TestClient, provider: Provider, forged: str
) -> None:
    if forged == "another key":
        provider.signing = RSAKey.generate_key(2048, {"kid": "one"})
    elif forged == "the secret as a key":
        provider.signing, provider.algorithm = OctKey.import_key(SECRET), "HS256"
    else:
        provider.token = lambda _form, _basic: {  # type: ignore[method-assign]
            "access_token": "a",
            "token_type": "Bearer",
            "id_token": "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1MSJ9.",
        }
    refused(client, provider.agree(begin(client)))


def test_a_state_of_somebody_else_is_refused(client: TestClient, provider: Provider, there: Home) -> None:
    """An attacker's own answer, opened in the browser of somebody else, would sign them in as the attacker."""
    attackers = TestClient(app_of(), base_url=BASE, follow_redirects=False)
    theirs = provider.agree(begin(attackers))
    refused(client, theirs)
    begin(client)
    refused(client, theirs)
    mine = provider.agree(begin(client))
    at = urlsplit(mine)
    for changed in (
        mine.replace("state=", "state=x"),
        f"{at.path}?code={parse_qs(at.query)['code'][0]}",
        at.path,
    ):
        refused(client, changed)


def test_an_answer_works_once(client: TestClient, provider: Provider) -> None:
    answer = provider.agree(begin(client))
    assert client.get(answer).status_code == 303
    client.cookies.delete(COOKIE)
    refused(client, answer)


def test_a_forged_cookie_between_the_requests_is_no_state(client: TestClient, provider: Provider) -> None:
    answer = provider.agree(begin(client))
    name = "winnow_openid_8501"
    kept = client.cookies[name].strip('"')
    client.cookies.clear()
    client.cookies.set(name, kept[:-4] + secrets.token_hex(2), path="/signin/openid")
    refused(client, answer)


@pytest.mark.parametrize("issuer", ["https://evil.example", None, ""])
def test_a_provider_that_states_another_issuer_is_refused(
    client: TestClient, provider: Provider, issuer: str | None
) -> None:
    provider.stated = {"issuer": issuer}
    refused(client, "/signin/openid")


def test_an_answer_that_names_another_issuer_is_refused(client: TestClient, provider: Provider) -> None:
    answer = provider.agree(begin(client))
    refused(client, f"{answer}&iss=https%3A%2F%2Fevil.example")


def test_new_keys_of_the_provider_are_fetched(client: TestClient, provider: Provider) -> None:
    assert client.get(provider.agree(begin(client))).status_code == 303
    provider.key = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256", "kid": "two"})
    assert client.get(provider.agree(begin(client))).status_code == 303


def test_who_is_not_known_is_told_so(client: TestClient, provider: Provider, there: Home) -> None:
    provider.user = {"sub": "u2", "email": "<b>eve@example.org", "email_verified": True}
    said = refused(client, provider.agree(begin(client)))
    assert "is not known here" in said
    assert "<b>eve" not in said


def test_a_refusal_at_the_provider_is_said_without_its_words(client: TestClient) -> None:
    begin(client)
    said = refused(client, "/signin/openid/back?error=access_denied&error_description=%3Cscript%3E")
    assert "script" not in said


def test_a_provider_that_is_not_there_is_said(client: TestClient, provider: Provider) -> None:
    provider.stated = {"token_endpoint": "http://127.0.0.1:1/token"}
    said = refused(client, provider.agree(begin(client)), status=502)
    assert "cannot be reached" in said


def test_without_a_provider_there_is_nothing(home: Home) -> None:
    with TestClient(app_of(), base_url=BASE, follow_redirects=False) as client:
        for path in ("/signin/openid", "/signin/openid/back"):
            assert client.get(path).status_code == 404
        assert "organisation" not in client.get("/signin").text


def test_nobody_can_have_a_browser_sent_elsewhere(client: TestClient, provider: Provider) -> None:
    for name in ("next", "redirect_uri", "url", "return_to"):
        begun = client.get("/signin/openid", params={name: "https://evil.example"})
        assert urlsplit(begun.headers["location"]).netloc == urlsplit(provider.issuer).netloc
        assert "evil" not in begun.headers["location"]
        answer = client.get(f"{provider.agree(begun.headers['location'])}&{name}=https%3A%2F%2Fevil.example")
        assert answer.headers["location"] == "/"
