"""Sign-in by link, password and OpenID."""

from __future__ import annotations

import logging
import secrets
import time
import tomllib
from collections.abc import Iterator
from datetime import timedelta
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from httpx2 import Response
from joserfc.jwk import OctKey, RSAKey
from starlette.requests import HTTPConnection
from starlette.testclient import TestClient

import workflow.server.home
from tests.clocks import ahead
from tests.conftest import ROOT
from tests.web.conftest import BASE, COOKIE, app_of
from tests.web.provider import CLIENT, SECRET, Provider
from tests.workflow.world import full_disk
from web import openid
from web.signin_page import page, visit_of
from workflow.people import audited, browsers, elsewhere, passwords, team
from workflow.people.attempts import LINKS_PER_ADDRESS
from workflow.seat import Seat
from workflow.server.home import Home

# signin


def test_link_signs_in_once(client: TestClient, home: Home) -> None:
    secret = team.make_start_link(home)
    answer = client.get("/signin", params={"link": secret})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert answer.headers["cache-control"] == "no-store"
    cookie = SimpleCookie(answer.headers["set-cookie"])[COOKIE]
    assert cookie["httponly"]
    assert (cookie["samesite"], cookie["path"], cookie["secure"]) == ("lax", "/", "")
    assert 0 < int(cookie["max-age"]) <= 14 * 24 * 3600
    assert secret != cookie.value
    assert client.get("/").status_code == 200

    again = client.get("/signin", params={"link": secret})
    assert again.status_code == 403
    assert "used already" in again.text
    assert "set-cookie" not in again.headers


def test_sign_in_page_has_logo_and_theme_colours(client: TestClient) -> None:
    """The logo, and the colours of the other pages, in light and in dark."""
    text = client.get("/signin").text
    assert '<svg xmlns="http://www.w3.org/2000/svg"' in text
    assert 'aria-label="Winnow"' in text
    light, dark = text.split("@media (prefers-color-scheme: dark) { :root")
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]
    for scheme, said in (("light", light), ("dark", dark)):
        for name, key in (("page", "background"), ("sunk", "secondaryBackground"), ("ink", "text"), ("link", "link")):
            assert f"--{name}: {theme[scheme][f'{key}Color']};" in said


def test_cookie_is_secure_over_https(client: TestClient, home: Home) -> None:
    client.base_url = client.base_url.copy_with(scheme="https")
    answer = client.get("/signin", params={"link": team.make_start_link(home)})
    assert SimpleCookie(answer.headers["set-cookie"])[COOKIE]["secure"]


def test_expired_link_is_refused(client: TestClient, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = team.make_start_link(home)

    monkeypatch.setattr(team, "datetime", ahead(team.START_LINK_LIFE + timedelta(seconds=1)))
    answer = client.get("/signin", params={"link": secret})
    assert answer.status_code == 403
    assert "expired" in answer.text


@pytest.mark.parametrize("secret", ["", "x", "<script>alert(1)</script>", "\u00e9\u0000", "a" * 5000])
def test_unknown_link_is_refused_without_echo(client: TestClient, secret: str) -> None:
    answer = client.get("/signin", params={"link": secret})
    assert answer.status_code == 403
    assert "not known" in answer.text
    assert "<script>" not in answer.text
    assert secret[:20] not in answer.text or len(secret) < 2


def test_head_and_post_do_not_use_link_up(client: TestClient, home: Home) -> None:
    secret = team.make_start_link(home)
    look = client.head("/signin", params={"link": secret})
    assert look.status_code == 200
    assert "set-cookie" not in look.headers
    assert client.post("/signin", params={"link": secret}).status_code == 403, "a post carries it in its body"
    assert client.get("/signin", params={"link": secret}).status_code == 303


def test_sign_in_page_without_link_explains_fix(client: TestClient) -> None:
    answer = client.get("/signin")
    assert answer.status_code == 200
    assert "printed in the terminal" in answer.text
    assert "cli.py link" in answer.text, "a new one needs no new start"


def test_signing_out_ends_sign_in_and_cookie(client: TestClient, home: Home) -> None:
    client.get("/signin", params={"link": team.make_start_link(home)})
    sign_in = client.cookies[COOKIE]
    page = client.get("/signout")
    assert 'method="post"' in page.text
    assert client.get("/").status_code == 200  # looking at the page ends nothing

    answer = client.post("/signout", headers={"origin": BASE})
    assert (answer.status_code, answer.headers["location"]) == (303, "/signin?left=1")
    assert COOKIE not in client.cookies
    client.cookies.set(COOKIE, sign_in)
    assert client.get("/").status_code == 401


def test_invitation_signs_in_by_its_button_only(client: TestClient, home: Home) -> None:
    secret = team.make_link(Seat(home, team.ensure_owner(home).id), "Ada <b>")
    for _ in range(2):  # a mail scanner opens it, then the person
        look = client.get("/signin", params={"link": secret})
        assert (look.status_code, "set-cookie" in look.headers) == (200, False)
        assert "Ada &lt;b&gt;" in look.text
    elsewhere = client.post("/signin", data={"link": secret}, headers={"origin": "http://evil.example"})
    assert elsewhere.status_code == 403, "no other site signs a browser in"
    signed_in = client.post("/signin", data={"link": secret}, headers={"origin": BASE})
    assert (signed_in.status_code, signed_in.headers["location"]) == (303, "/")
    assert COOKIE in client.cookies
    assert client.post("/signin", data={"link": secret}).status_code == 403


def test_link_for_owner_name_is_refused(home: Home) -> None:
    owner = team.ensure_owner(home)
    with pytest.raises(team.PersonNameError, match="is an owner"):
        team.make_link(Seat(home, owner.id), "OWNER")
    ada = team.redeem_link(home, team.make_link(Seat(home, owner.id), "Ada"))
    again = team.redeem_link(home, team.make_link(Seat(home, owner.id), "ada"))
    assert browsers.person_of(home, ada) == browsers.person_of(home, again), "one person, however spelt"


def test_full_disk_is_reported_and_link_stays_usable(client: TestClient, home: Home) -> None:
    link = team.make_start_link(home)
    with full_disk():
        answer = client.get("/signin", params={"link": link})
    assert answer.status_code == 503
    assert "could not be written" in answer.text
    assert "set-cookie" not in answer.headers
    assert client.get("/signin", params={"link": link}).status_code == 303
    with full_disk():
        answer = client.post("/signout", headers={"origin": BASE})
    assert answer.status_code == 503
    assert "Still signed in" in answer.text
    assert client.get("/").status_code == 200


GOOD = "four plain words here"


@pytest.fixture
def bob(home: Home) -> Seat:
    """Bob, who has a password."""
    owner = team.ensure_owner(home).id
    team.make_link(Seat(home, owner), "Bob")
    passwords.set_password(Seat(home, owner + 1), GOOD)
    return Seat(home, owner + 1)


def post(client: TestClient, name: str = "Bob", password: str = GOOD, **headers: str) -> Response:
    return client.post("/signin", data={"name": name, "password": password}, headers=headers)


def test_password_signs_in_with_fresh_cookie(client: TestClient, bob: Seat) -> None:
    client.cookies.set(COOKIE, "chosen-by-somebody-else")
    answer = post(client, origin=BASE, **{"user-agent": "Mozilla/5.0 (X11; Linux) Firefox/140.0"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = SimpleCookie(answer.headers["set-cookie"])[COOKIE]
    assert cookie.value != "chosen-by-somebody-else"
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "lax", "/")
    client.cookies.clear()
    client.cookies.set(COOKIE, cookie.value)
    assert client.get("/").json() == [str(bob.person_id)]
    (mine,) = browsers.my_browsers(bob)
    assert (mine.browser, mine.address, mine.how) == ("Firefox on Linux", "testclient", "password")


def test_wrong_password_and_unknown_name_are_refused_alike(client: TestClient, bob: Seat) -> None:
    said = {(post(client, name, "wrong").status_code, post(client, name, "wrong").text) for name in ("Bob", "Eve")}
    assert len(said) == 1
    ((status, text),) = said
    assert status == 403
    assert "Name or password is wrong" in text
    assert "wrong" not in text.replace("password is wrong", "")
    assert COOKIE not in client.cookies


def test_sixth_attempt_must_wait(client: TestClient, bob: Seat) -> None:
    for _ in range(5):
        assert post(client, password="wrong").status_code == 403
    answer = post(client)
    assert answer.status_code == 429
    assert 0 < int(answer.headers["retry-after"]) <= 300
    assert "Too many attempts" in answer.text
    assert COOKIE not in client.cookies


def test_large_form_is_refused(client: TestClient, bob: Seat) -> None:
    assert post(client, password="x" * 100_000).status_code == 413
    assert client.post("/signin", files={"link": b"x"}).status_code == 415
    assert client.post("/signin", content=b"\xff\xfe=1").status_code in (400, 403)


def test_sign_in_ignores_redirect_parameters(client: TestClient, home: Home, bob: Seat) -> None:
    for name in ("next", "url", "redirect", "return_to"):
        answer = client.post(
            "/signin", params={name: "//evil.example"}, data={"name": "Bob", "password": GOOD, name: "//evil.example"}
        )
        assert answer.headers["location"] == "/"
    link = team.make_start_link(home)
    assert client.get("/signin", params={"link": link, "next": "//evil.example"}).headers["location"] == "/"


def test_sign_in_page_says_why_browser_was_signed_out(client: TestClient) -> None:
    ended = client.get("/signin?ended=1").text
    assert "This browser was signed out" in ended
    assert "not saved" in ended
    assert "You are signed out." in client.get("/signin?left=1").text


def test_password_is_never_echoed_or_logged(client: TestClient, bob: Seat, caplog: pytest.LogCaptureFixture) -> None:
    page = client.get("/signin").text
    assert 'autocomplete="current-password"' in page
    answer = post(client, "Bob", "a-mistyped-secret")
    assert "a-mistyped-secret" not in answer.text + caplog.text
    with full_disk():
        assert post(client).status_code == 503
    assert GOOD not in caplog.text


def test_refused_sign_in_is_audited_with_address(client: TestClient, home: Home) -> None:
    request = HTTPConnection({"type": "http", "headers": [], "client": None})
    assert visit_of(request) == browsers.Visit("", "Another program")
    for secret in ("unknown", "unknown"):
        client.get("/signin", params={"link": secret})
    owner = Seat(home, team.ensure_owner(home).id)
    lines = audited.audit_lines(owner, audited.EventFilter())
    assert [(one.what, one.address) for one in lines] == [("sign-in refused", "testclient")] * 2


def test_plain_pages_escape_title_and_words() -> None:
    text = bytes(page("<Title>", "<b>words</b>", "<hr>").body).decode()
    assert "&lt;Title&gt;" in text
    assert "&lt;b&gt;words" in text
    assert "<hr>" in text


def test_invalid_links_are_rate_limited(client: TestClient, home: Home) -> None:
    team.ensure_owner(home)
    good = team.make_start_link(home)
    statuses = [client.get("/signin?link=no-such-link").status_code for _ in range(LINKS_PER_ADDRESS.amount + 3)]
    assert statuses == [403] * LINKS_PER_ADDRESS.amount + [429] * 3
    answer = client.get(f"/signin?link={good}")
    assert answer.status_code == 429
    assert "it still works" in answer.text
    assert 0 < int(answer.headers["retry-after"]) <= 300
    assert team.redeem_link(home, good), "it was not used up"


# Signing in by OpenID Connect, with a test provider that signs correct or, if configured, false tokens


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
def openid_client(there: Home) -> Iterator[TestClient]:
    with TestClient(app_of(), base_url=BASE, follow_redirects=False) as made:
        yield made


def begin(client: TestClient) -> str:
    """The provider's address that a browser is redirected to."""
    answer = client.get("/signin/openid")
    assert (answer.status_code, answer.headers["cache-control"]) == (302, "no-store")
    return answer.headers["location"]


def refused(client: TestClient, address: str, status: int = 403) -> str:
    answer = client.get(address)
    assert answer.status_code == status, answer.text
    assert COOKIE not in client.cookies
    assert "set-cookie" not in answer.headers or COOKIE not in answer.headers["set-cookie"]
    return answer.text


def test_openid_signs_in_known_person(openid_client: TestClient, provider: Provider, there: Home) -> None:
    assert 'href="signin/openid"' in openid_client.get("/signin").text
    answer = openid_client.get(provider.agree(begin(openid_client)))
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = SimpleCookie(answer.headers["set-cookie"])[COOKIE]
    assert (cookie["httponly"], cookie["samesite"].rstrip(","), cookie["path"]) == (True, "lax", "/")
    found = browsers.signed_in(there, openid_client.cookies[COOKIE])
    assert found is not None
    assert (found.person.name, found.how) == ("Ada", "openid")
    assert openid_client.get("/").status_code == 200


def test_state_nonce_and_pkce_are_sent_again_each_time(openid_client: TestClient, provider: Provider) -> None:
    for _ in range(2):
        provider.agree(begin(openid_client))
    first, second = provider.asked
    for name in ("state", "nonce", "code_challenge"):
        assert len(first[name]) >= 20, name
        assert first[name] != second[name]
    assert (first["code_challenge_method"], first["response_type"]) == ("S256", "code")
    assert first["redirect_uri"] == f"{BASE}/signin/openid/back"
    assert "openid" in first["scope"].split()


def test_openid_cookie_is_http_only_and_limited_to_its_path(openid_client: TestClient) -> None:
    answer = openid_client.get("/signin/openid")
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
def test_openid_token_with_wrong_claim_is_refused(
    openid_client: TestClient, provider: Provider, there: Home, lie: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    # Times are created here, because test names must not depend on the second of collection.
    provider.lies = {
        name: int(time.time() + value.total_seconds()) if isinstance(value, timedelta) else value
        for name, value in lie.items()
    }
    with caplog.at_level(logging.WARNING, "winnow"):
        assert "The sign-in was not completed" in refused(openid_client, provider.agree(begin(openid_client)))
    assert SECRET not in caplog.text
    owner = Seat(there, team.ensure_owner(there).id)
    assert audited.audit_lines(owner, audited.EventFilter())[0].details.startswith("why: OpenID Connect refused")


@pytest.mark.parametrize("forged", ["another key", "none", "the secret as a key"])
def test_openid_token_with_foreign_signature_is_refused(
    openid_client: TestClient, provider: Provider, forged: str
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
    refused(openid_client, provider.agree(begin(openid_client)))


def test_openid_state_of_another_browser_is_refused(openid_client: TestClient, provider: Provider, there: Home) -> None:
    """An attacker's own reply, opened in another person's browser, would sign them in as the attacker."""
    attackers = TestClient(app_of(), base_url=BASE, follow_redirects=False)
    theirs = provider.agree(begin(attackers))
    refused(openid_client, theirs)
    begin(openid_client)
    refused(openid_client, theirs)
    mine = provider.agree(begin(openid_client))
    at = urlsplit(mine)
    for changed in (mine.replace("state=", "state=x"), f"{at.path}?code={parse_qs(at.query)['code'][0]}", at.path):
        refused(openid_client, changed)


def test_openid_answer_works_once(openid_client: TestClient, provider: Provider) -> None:
    answer = provider.agree(begin(openid_client))
    assert openid_client.get(answer).status_code == 303
    openid_client.cookies.delete(COOKIE)
    refused(openid_client, answer)


def test_forged_openid_cookie_is_refused(openid_client: TestClient, provider: Provider) -> None:
    answer = provider.agree(begin(openid_client))
    name = "winnow_openid_8501"
    kept = openid_client.cookies[name].strip('"')
    openid_client.cookies.clear()
    openid_client.cookies.set(name, kept[:-4] + secrets.token_hex(2), path="/signin/openid")
    refused(openid_client, answer)


@pytest.mark.parametrize("issuer", ["https://evil.example", None, ""])
def test_provider_that_states_another_issuer_is_refused(
    openid_client: TestClient, provider: Provider, issuer: str | None
) -> None:
    provider.stated = {"issuer": issuer}
    refused(openid_client, "/signin/openid")


def test_answer_that_names_another_issuer_is_refused(openid_client: TestClient, provider: Provider) -> None:
    answer = provider.agree(begin(openid_client))
    refused(openid_client, f"{answer}&iss=https%3A%2F%2Fevil.example")


def test_new_keys_of_provider_are_fetched(openid_client: TestClient, provider: Provider) -> None:
    assert openid_client.get(provider.agree(begin(openid_client))).status_code == 303
    provider.key = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256", "kid": "two"})
    assert openid_client.get(provider.agree(begin(openid_client))).status_code == 303


def test_unknown_openid_person_is_refused(openid_client: TestClient, provider: Provider, there: Home) -> None:
    provider.user = {"sub": "u2", "email": "<b>eve@example.org", "email_verified": True}
    said = refused(openid_client, provider.agree(begin(openid_client)))
    assert "is not known here" in said
    assert "<b>eve" not in said


def test_provider_error_is_shown_without_its_text(openid_client: TestClient) -> None:
    begin(openid_client)
    said = refused(openid_client, "/signin/openid/back?error=access_denied&error_description=%3Cscript%3E")
    assert "script" not in said


def test_unreachable_provider_is_reported(openid_client: TestClient, provider: Provider) -> None:
    provider.stated = {"token_endpoint": "http://127.0.0.1:1/token"}
    said = refused(openid_client, provider.agree(begin(openid_client)), status=502)
    assert "cannot be reached" in said


def test_openid_addresses_are_404_without_provider(home: Home) -> None:
    with TestClient(app_of(), base_url=BASE, follow_redirects=False) as client:
        for path in ("/signin/openid", "/signin/openid/back"):
            assert client.get(path).status_code == 404
        assert "organisation" not in client.get("/signin").text


def test_openid_ignores_redirect_parameters(openid_client: TestClient, provider: Provider) -> None:
    for name in ("next", "redirect_uri", "url", "return_to"):
        begun = openid_client.get("/signin/openid", params={name: "https://evil.example"})
        assert urlsplit(begun.headers["location"]).netloc == urlsplit(provider.issuer).netloc
        assert "evil" not in begun.headers["location"]
        answer = openid_client.get(f"{provider.agree(begun.headers['location'])}&{name}=https%3A%2F%2Fevil.example")
        assert answer.headers["location"] == "/"
