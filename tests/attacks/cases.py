"""The corpus: every case is one request as sent over the wire, its sender, and the replies that count as refusals.

Words in braces stand for values that only the server under attack has (`world.py`): {port}, the keys and numbers of
other people's things. Names begin with what a case tries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from web.document import PAGES

NOBODY, ADA, EVE, OWNER = "nobody", "ada", "eve", "owner"
"""Not signed in; annotator of the demo only; owner of one project of her own; owner of this Winnow."""
STALE = ("forged", "link", "expired", "ended", "disabled")
"""Cookies that were never valid, hold a link's secret, or belong to an ended sign-in."""

HOST = "127.0.0.1:{port}"
REFUSED = (400, 401, 403, 404, 405, 413, 415, 421, 426, 431)
FILE = "application/octet-stream"


@dataclass(frozen=True)
class Case:
    """One attack.

    target : path and query, sent unchanged      headers : added to Host; a Host among them replaces it
    refused : status of a refusal      hangs : the server may wait for more until we give up
    """

    name: str
    who: str = NOBODY
    method: str = "GET"
    target: str = "/"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    refused: tuple[int, ...] = REFUSED
    hangs: bool = field(default=False)


UPGRADE = (
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
)
STREAM = "/_stcore/stream"
FORM = (("Content-Type", "application/x-www-form-urlencoded"),)

OTHERS = (
    "/files/{picture}",
    "/files/{picture}/small",
    "/files/{sound}/spectrogram?start=0&end=1&scale=linear",
    "/files/{sound}",
    "/exports/{project}/{key}",
    "/exports/{project}/x",
    "/exports/999/{key}",
)
"""Files and rows of other people's projects."""

CLOSED = (
    "/_stcore/metrics",
    "/_stcore/metrics?families=session_events",
    "/_stcore/script-health-check",
    "/_stcore/message",
    "/_stcore/agent/mcp",
    "/_stcore/agent/run",
    "/_stcore/bidi-components/winnow_menu/menu.js",
    "/_stcore/upload_file/{session}/a",
    "/_stcore/upload_file/x/y",
    "/component/winnow/index.html",
    "/app/static/secrets.toml",
    "/auth/login",
    "/auth/logout",
    "/oauth2callback?code=x&state=y",
    "/healthz/",
    "/metrics/",
    "/readyz/x",
    "/signin/x",
    "/api/v1/projects",
    "/api/v1/projects/{project}/rows",
    "/api/v1/projects/{project}/question",
    "/api/v1/openapi.json/",
    "/api/v1",
    "/docs",
    "/.git/config",
    "/.env",
    "/.streamlit/config.toml",
    "/.streamlit/secrets.toml",
    "/winnow.sqlite3",
    "/app.py",
    "/index.html",
    "/server-status",
    "/uploads/{upload}",
    "/exports/",
    "/files/",
    "/scripts/",
)
"""Addresses that answer no client."""

TRAVERSALS = (
    "../winnow.sqlite3",
    "..%2Fwinnow.sqlite3",
    "%2e%2e%2fwinnow.sqlite3",
    "%2e%2e/%2e%2e/etc/passwd",
    "..%252fwinnow.sqlite3",
    "....//....//etc/passwd",
    "..%5c..%5cwinnow.sqlite3",
    "%00",
    "{picture}%00.png",
    "{picture}%2f..%2f..%2fwinnow.sqlite3",
    "/etc/passwd",
    "//etc/passwd",
    "%2fetc%2fpasswd",
    "file:%2f%2f%2fetc%2fpasswd",
    "~root",
    "C:%5cwindows%5cwin.ini",
    "%c0%ae%c0%ae%c0%afwinnow.sqlite3",
    "%ff%fe",
    ".%00./winnow.sqlite3",
    "a" * 4000,
)

HOSTS = (
    "evil.example",
    "127.0.0.1.evil.example",
    "evil.example#127.0.0.1",
    "127.0.0.1@evil.example",
    "evil.example:{port}",
    "localhost.evil.example:{port}",
    "www.localhost:{port}",
    "",
    ":{port}",
    "[::1",
    "0.0.0.0:{port}",
    "127.0.0.1 evil.example",
    "127.0.0.1,evil.example",
    "2130706433",
    "127.1",
    "\t",
)

ORIGINS = (
    "http://evil.example",
    "https://evil.example",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "http://localhost:{port}",
    "http://127.0.0.1:{port}.evil.example",
    "http://evil.example@127.0.0.1:{port}",
    "http://127.0.0.1:{port}@evil.example",
    "ws://127.0.0.1:{port}",
    "file://",
    "null",
    "",
    "127.0.0.1:{port}",
    "//127.0.0.1:{port}",
    "http:127.0.0.1:{port}",
    "http://127.0.0.1:{port}/",
    "HTTP://127.0.0.1:{port}",
)


def strangers() -> Iterator[Case]:
    """Refuse everything without a sign-in, and with an old or a made-up one."""
    pages = [f"/{page}" for page in PAGES]
    for target in ("/", *pages, "/signout", "/media/x.csv", "/static/js/index.js", "/_stcore/health", *OTHERS):
        yield Case(f"stranger reads {target}", target=target)
    for who in STALE:
        for target in ("/", "/export", "/_stcore/host-config", *OTHERS[:5]):
            yield Case(f"{who} cookie reads {target}", who, target=target)
        yield Case(f"{who} cookie sends a file", who, "POST", "/uploads?name=a", (("Content-Type", FILE),), b"x")
        yield Case(f"{who} cookie opens a websocket", who, target=STREAM, headers=UPGRADE)
    for header in ("X-Winnow-Person", "x-winnow-person", "X-Winnow-Sign-In", "X-Winnow_Person", "X-Remote-User"):
        yield Case(f"stranger says to be the owner in {header}", headers=((header, "1"),))
        yield Case(f"stranger says so at a websocket in {header}", target=STREAM, headers=(*UPGRADE, (header, "1")))
    for target in ("/", "/export", "/api/v1/projects", "/api/v1/openapi.json", *OTHERS):
        for token in ("winnow_" + "a" * 43, "{used}", "{dead}", "' OR 1=1 --", "a" * 9_000):
            yield Case(
                f"stranger sends the token {token[:9]} to {target}",
                target=target,
                headers=(("Authorization", f"Bearer {token}"),),
            )
    for header in ("X-Forwarded-For", "X-Real-IP", "Forwarded", "X-Original-URL", "X-Rewrite-URL"):
        yield Case(f"stranger names another place in {header}", headers=((header, "/healthz"),))
    for header in ("X-Forwarded-For", "X-Real-IP", "Forwarded", "Via"):
        for who in (NOBODY, OWNER):
            yield Case(
                f"{who} reads metrics through a proxy that says {header}",
                who,
                target="/metrics",
                headers=((header, "127.0.0.1"),),
            )


def people() -> Iterator[Case]:
    """Give signed-in people only their own data."""
    for who in (ADA, EVE):
        for target in OTHERS:
            yield Case(f"{who} reads {target} of others", who, target=target)
        for target in CLOSED:
            for method in ("GET", "POST"):
                yield Case(f"{who} {method} {target}", who, method, target, body=b"x" * (method == "POST"))
    for target in CLOSED[:16]:
        yield Case(f"owner PUT {target}", OWNER, "PUT", target, body=b"x" * 4096)
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "x" * 200):
        for target in ("/", "/exports/1/x", "/files/x", "/uploads"):
            yield Case(f"ada {method[:9]} {target}", ADA, method, target)
    yield Case("ada sends a file", ADA, "POST", "/uploads?name=a.csv", (("Content-Type", FILE),), b"a,b\n")
    yield Case("ada sends a file with a length and no body", ADA, "POST", "/uploads", (*_file(10**9),))
    for kind in ("text/plain", "multipart/form-data; boundary=x", FORM[0][1]):
        yield Case(f"eve sends {kind}", EVE, "POST", "/uploads", (("Content-Type", kind),), b"a,b\n")


def paths() -> Iterator[Case]:
    """Try paths that lead out of their folder."""
    for root in ("/files/", "/exports/1/", "/scripts/x/", "/static/", "/"):
        for path in TRAVERSALS:
            yield Case(f"path {root}{path[:60]}", OWNER, target=f"{root}{path}", refused=(*REFUSED, 307))
    for path in ("/static/../../../etc/passwd", "/static/%2e%2e/%2e%2e/x", "//signin", "/./signin/../", "/;/signin"):
        yield Case(f"path {path}", ADA, target=path)


def hosts_and_origins() -> Iterator[Case]:
    """Use other names for this server, and pages of other sites that send requests with the owner's cookie."""
    for host in HOSTS:
        for target in ("/", "/healthz"):
            yield Case(f"host {host!r} {target}", OWNER, target=target, headers=(("Host", host),))
        yield Case(f"host {host!r} websocket", OWNER, target=STREAM, headers=(*UPGRADE, ("Host", host)))
    for origin in ORIGINS:
        said = (("Origin", origin),)
        yield Case(f"origin {origin!r} signs out", OWNER, "POST", "/signout", said)
        yield Case(f"origin {origin!r} sends a file", OWNER, "POST", "/uploads", (*said, ("Content-Type", FILE)), b"x")
        yield Case(f"origin {origin!r} websocket", OWNER, target=STREAM, headers=(*UPGRADE, *said))
        yield Case(f"origin {origin!r} signs in", NOBODY, "POST", "/signin", (*said, *FORM), b"name=a&password=b")
    for site in ("cross-site", "same-site"):
        said = (("Sec-Fetch-Site", site),)
        yield Case(f"a {site} form signs out", OWNER, "POST", "/signout", (*said, *FORM))
        yield Case(f"a {site} page opens a websocket", OWNER, target=STREAM, headers=(*UPGRADE, *said))
    for path in ("/", "/signin", "/_stcore/health", "/_stcore/stream/", "/annotate/_stcore/stream", "/uploads"):
        yield Case(f"websocket at {path}", OWNER, target=path, headers=UPGRADE)


def bodies() -> Iterator[Case]:
    """Send bodies that are too large, endless, have two lengths, or differ from their headers."""
    big = b"name=" + b"x" * 100_000
    for target in ("/signin", "/signin?link=x"):
        yield Case(f"form too large {target}", NOBODY, "POST", target, FORM, big)
        yield Case(f"form of another type {target}", NOBODY, "POST", target, (("Content-Type", "text/xml"),), b"<a/>")
        yield Case(f"form of many fields {target}", NOBODY, "POST", target, FORM, b"&".join([b"a=b"] * 500))
        yield Case(f"form of no text {target}", NOBODY, "POST", target, FORM, b"name=\xff\xfe&password=%ff")
    for size in ("200000001", "99999999999999999999", "-1", "1e3", "0x10", "1,2", "a"):
        yield Case(f"file that says it has {size}", OWNER, "POST", "/uploads", _file(size), b"x", hangs=True)
    chunked = (("Content-Type", FILE), ("Transfer-Encoding", "chunked"))
    yield Case("chunks without a sign-in", NOBODY, "POST", "/uploads", chunked, b"5\r\nhello\r\n0\r\n\r\n")
    yield Case("chunks of an annotator", ADA, "POST", "/uploads", chunked, b"5\r\nhello\r\n0\r\n\r\n")
    for chunk in (b"zz\r\nhello\r\n", b"-5\r\nhello\r\n", b"FFFFFFFFFFFFFFFFFF\r\n", b"5;" + b"x" * 90_000):
        yield Case(
            f"chunks that are none {chunk[:9]!r}",
            OWNER,
            "POST",
            "/uploads",
            chunked,
            chunk,
            hangs=True,
            refused=(*REFUSED, 429),  # while the previous one is still being unloaded
        )
    both = (*chunked, ("Content-Length", "4"))
    yield Case("two lengths of one request", NOBODY, "POST", "/signin", both, b"0\r\n\r\nGET / HTTP/1.1\r\n\r\n")
    yield Case(
        "two content lengths", NOBODY, "POST", "/signin", (("Content-Length", "1"), ("Content-Length", "2")), b"ab"
    )
    yield Case("a header that goes on", ADA, headers=(("X-A", "a\r\n b"), ("X-Winnow-Person\r\n ", "1")), hangs=True)
    yield Case("a header with a line of its own", NOBODY, headers=(("X-A", "a\r\nX-Winnow-Person: 1"),))
    yield Case("a target with a line of its own", NOBODY, target="/ HTTP/1.1\r\nX-Winnow-Person: 1\r\nX: ")
    yield Case("headers without end", NOBODY, headers=tuple((f"X-{n}", "x" * 1000) for n in range(200)))
    yield Case("an address without end", NOBODY, target="/" + "x" * 200_000)


def signing_in() -> Iterator[Case]:
    """Send invalid names, links and passwords, and oversized cookies."""
    words = ("' OR 1=1 --", '"; DROP TABLE people; --', "\x00", "../", "{{7*7}}", "<script>alert(1)</script>", "owner")
    for word in words:
        body = f"name={word}&password={word}".encode()
        yield Case(f"password {word!r}", NOBODY, "POST", "/signin", FORM, body, refused=(*REFUSED, 429))
        link = "".join(f"%{byte:02x}" for byte in word.encode())
        yield Case(f"link {word!r}", target=f"/signin?link={link}")
    yield Case("a link that was used", target="/signin?link={used}")
    yield Case("a link that was used, posted", NOBODY, "POST", "/signin", FORM, b"link={used}")
    yield Case("a link of someone disabled", NOBODY, "POST", "/signin", FORM, b"link={dead}")
    for path in ("/signin/openid", "/signin/openid/back?code=x&state=y"):
        yield Case(f"a provider that is none {path}", target=path)
    for cookie in ("x" * 8000, "=", "a=b; " * 500, '"', "\\", "winnow_signin_{port}"):
        yield Case(f"cookie {cookie[:20]!r}", headers=(("Cookie", cookie),))


def presses() -> Iterator[Case]:
    """Send answers without a sign-in, as a non-member, without the right to answer, or from other sites, and malformed
    bodies."""
    said = b'{"kind":"is","labels":["ant"],"token":"1.1.1","shown":null,"seq":null,"note":"","flagged":false}'
    json = (("Content-Type", "application/json"), ("Content-Length", str(len(said))))
    theirs = "/presses/{project}"
    for who in (NOBODY, *STALE, ADA, EVE):
        yield Case(f"{who} answers in a project of others", who, "POST", theirs, json, said)
    for target in (
        "/presses/999",
        "/presses/-1",
        "/presses/",
        "/presses/1/2",
        "/presses/1e3",
        "/presses/%00",
        "/presses/" + "9" * 5_000,
        "/exports/" + "9" * 5_000 + "/x",
    ):
        yield Case(f"press at {target}", OWNER, "POST", target, json, said, refused=(*REFUSED, 307))
    for origin in ORIGINS:
        yield Case(f"press from {origin}", OWNER, "POST", theirs, (*json, ("Origin", origin)), said)
    for site in ("cross-site", "same-site"):
        yield Case(f"press {site}", OWNER, "POST", theirs, (*json, ("Sec-Fetch-Site", site)), said)
    for method in ("GET", "PUT", "DELETE", "PATCH", "OPTIONS"):
        yield Case(f"{method} of presses", OWNER, method, theirs)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        yield Case(f"press as {kind}", OWNER, "POST", theirs, (("Content-Type", kind),), said)
    for body in (b"{", b"\xff", b"[" * 100_000, b"1" * 5_000, b" " * 1_000_001):
        yield Case(f"press of {body[:5]!r}", OWNER, "POST", theirs, (("Content-Type", "application/json"),), body)


def _file(size: int | str) -> tuple[tuple[str, str], ...]:
    return (("Content-Type", FILE), ("Content-Length", str(size)))


CASES = [*strangers(), *people(), *paths(), *hosts_and_origins(), *bodies(), *signing_in(), *presses()]
