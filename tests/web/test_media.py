"""Media, exports and backups over HTTP."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.testclient import TestClient

from plcore import LearnerSettings
from plcore.tables import thumbnail
from tests.plcore.tables.zips import WAV, make_zip, picture
from tests.web.conftest import COOKIE
from tests.workflow.files.test_finding import CSV, FILES, kept
from tests.workflow.sounds import RECORDINGS, segments_project
from tests.workflow.world import answer_next, file_of, full_disk, small_project
from web.downloads import backup_file
from web.headers import HEADERS
from workflow import importing
from workflow.backups import making
from workflow.exporting import files
from workflow.exporting.files import ExportChoice
from workflow.files import spectrograms
from workflow.people import team
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

# `/files/NAME`: who gets a picture, or the picture of a sound, and with which headers


ADDRESS = f"/files/{kept(picture(2))}"
DRAWN = f"/files/{kept(RECORDINGS['calls/0.wav'], 'wav')}/spectrogram?start=4&end=6&scale=linear"


@pytest.fixture
def owner(home: Home) -> int:
    owner = team.ensure_owner(home).id
    upload = importing.read_upload(make_zip({"birds.csv": CSV.encode(), "call.wav": WAV, **FILES}))
    checked = importing.check(upload, upload.suggest_roles())
    assert checked.table is not None
    importing.create(Seat(home, owner), "birds", checked.table, LearnerSettings(n_neighbors=3))
    return owner


@pytest.fixture
def signed_in(client: TestClient, home: Home, owner: int) -> TestClient:
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_start_link(home)))
    return client


def test_picture_has_its_type_and_private_cache(signed_in: TestClient) -> None:
    answer = signed_in.get(ADDRESS)
    assert (answer.status_code, answer.content) == (200, picture(2))
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == HEADERS["content-security-policy"]
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "set-cookie" not in answer.headers
    head = signed_in.head(ADDRESS)
    assert (head.status_code, head.content) == (200, b"")


def test_policy_allows_images_and_media_of_this_server() -> None:
    policy = dict(rule.split(" ", 1) for rule in HEADERS["content-security-policy"].split("; "))
    assert "'self'" in policy["img-src"]
    assert "'self'" in policy.get("media-src", policy["default-src"])


def test_range_request_returns_part_of_recording(signed_in: TestClient) -> None:
    answer = signed_in.get(f"/files/{kept(WAV, 'wav')}", headers={"range": "bytes=0-3"})
    assert (answer.status_code, answer.content) == (206, b"RIFF")
    assert answer.headers["content-type"] == "audio/wav"


def test_thumbnail_is_served_like_picture(client: TestClient, signed_in: TestClient) -> None:
    answer = signed_in.get(f"{ADDRESS}/small")
    assert (answer.status_code, answer.content) == (200, thumbnail(picture(2)))
    assert answer.headers["content-type"] == "image/webp"
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert answer.headers["x-content-type-options"] == "nosniff"
    for wrong in (f"/files/{kept(WAV, 'wav')}/small", f"/files/{kept(picture(98))}/small", "/files/..%2F/small"):
        assert signed_in.get(wrong).status_code == 404
    assert signed_in.post(f"{ADDRESS}/small").status_code == 405
    client.cookies.set(COOKIE, "forged")
    assert client.get(f"{ADDRESS}/small").status_code == 401


def test_media_refuse_uploads(signed_in: TestClient) -> None:
    assert signed_in.put(ADDRESS, content=b"x").status_code == 405
    assert signed_in.post(ADDRESS).status_code == 405


def test_spectrogram_needs_same_right_as_recording(client: TestClient, home: Home, owner: int) -> None:
    segments_project(home, owner)
    assert client.get(DRAWN).status_code == 401
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_start_link(home)))
    answer = client.get(DRAWN)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    assert answer.content.startswith(b"\x89PNG")
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert answer.headers["content-security-policy"] == HEADERS["content-security-policy"]
    edges = json.loads(answer.headers["x-winnow-edges"])
    assert edges == {"t0": 2.0, "t1": 8.0, "f0": 0.0, "f1": 8_000.0, "seconds": 10.0}
    again = client.get(DRAWN)
    assert (again.content, again.headers["x-winnow-edges"]) == (answer.content, answer.headers["x-winnow-edges"])
    assert client.get(DRAWN.replace("linear", "log")).content != answer.content
    assert client.post(DRAWN).status_code == 405


INVALID_PARAMETERS = (
    ("start=soon", "start is a number of seconds"),
    ("start=3&end=2", "end is later than start"),
    ("scale=mel", "scale is one of linear, log"),
    ("width=100000", "Got 'width'"),
    ("start=-0.1", "from 0 to"),
    ("end=1e309", "end is a number"),
)


def test_invalid_spectrogram_parameters_are_refused(signed_in: TestClient) -> None:
    for query, words in INVALID_PARAMETERS:
        answer = signed_in.get(f"/files/{kept(WAV, 'wav')}/spectrogram?{query}")
        assert answer.status_code == 400
        assert words in answer.text
        assert "cache-control" not in answer.headers


def test_unreadable_recording_has_no_spectrogram_but_is_served(signed_in: TestClient, home: Home) -> None:
    path = home.media_dir / kept(WAV, "wav")[:2] / kept(WAV, "wav")
    path.write_bytes(b"RIFF, but nothing more")
    answer = signed_in.get(f"/files/{path.name}/spectrogram")
    assert answer.status_code == 415
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.text.endswith(".")
    assert "cache-control" not in answer.headers
    assert signed_in.get(f"/files/{path.name}").content == b"RIFF, but nothing more"
    assert signed_in.get(f"{ADDRESS}/spectrogram").status_code == 415, "a picture is not a recording"


@pytest.mark.parametrize("name", [kept(b"other", "wav"), "birds.csv", "..%2Fwinnow.sqlite3", "%00"])
def test_unknown_name_has_no_spectrogram(signed_in: TestClient, name: str) -> None:
    assert signed_in.get(f"/files/{name}/spectrogram").status_code == 404


def test_spectrograms_are_drawn_two_at_a_time(
    signed_in: TestClient, home: Home, owner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    segments_project(home, owner)
    drawing, most, lock, draw = 0, 0, threading.Lock(), spectrograms.draw

    def counted(*which: Any) -> spectrograms.Spectrogram:
        nonlocal drawing, most
        with lock:
            drawing += 1
            most = max(most, drawing)
        try:
            return draw(*which)
        finally:
            with lock:
                drawing -= 1

    monkeypatch.setattr(spectrograms, "draw", counted)
    addresses = [DRAWN.replace("start=4", f"start=4.{n}") for n in range(8)]
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(signed_in.get, addresses))
    assert [answer.status_code for answer in answers] == [200] * 8
    assert 1 <= most <= 2


# `/exports/PROJECT/KEY`: who gets a prepared file, with which headers, and who does not


@pytest.fixture
def seat(home: Home) -> Seat:
    owner = team.ensure_owner(home).id
    project = small_project(home, owner)
    answer_next(home, owner, project)
    return Seat(home, owner, project)


@pytest.fixture
def key(seat: Seat) -> str:
    """The key of a finished file."""
    made = files.prepare(seat, ExportChoice("jsonl"), "small")
    files.wait(seat, made)
    return made


@pytest.fixture
def exports_signed_in(client: TestClient, home: Home, seat: Seat) -> TestClient:
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_start_link(home)))
    return client


def address(seat: Seat, key: str) -> str:
    return f"/exports/{seat.project_id}/{key}"


def test_export_is_sent_as_attachment(exports_signed_in: TestClient, seat: Seat, key: str) -> None:
    answer = exports_signed_in.get(address(seat, key))
    assert (answer.status_code, answer.content) == (200, file_of(seat, "jsonl"))
    assert answer.headers["content-disposition"] == 'attachment; filename="small-winnowed.jsonl"'
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == HEADERS["content-security-policy"]
    part = exports_signed_in.get(address(seat, key), headers={"range": "bytes=0-9"})
    assert (part.status_code, part.content) == (206, answer.content[:10]), "a download that broke off goes on"
    assert exports_signed_in.head(address(seat, key)).status_code == 200


def test_unknown_export_names_are_not_found(exports_signed_in: TestClient, home: Home, seat: Seat, key: str) -> None:
    second = small_project(home, seat.person_id, "second")
    for path in (
        address(seat, "x" * len(key)),
        address(seat, key[:-1]),
        address(seat, f"{key}/"),
        address(seat, f"..%2F{key}"),
        address(seat, "..%2Fwinnow.sqlite3"),
        address(seat, "%00"),
        f"/exports/{second}/{key}",
        f"/exports/99/{key}",
        f"/exports/one/{key}",
        f"/exports/{key}",
        "/exports/",
    ):
        assert exports_signed_in.get(path).status_code in (404, 307), path
    assert "prepare it again" in exports_signed_in.get(address(seat, "x")).text


def test_export_is_gone_when_archived_or_removed(exports_signed_in: TestClient, seat: Seat, key: str) -> None:
    managing.archive_project(seat)
    assert exports_signed_in.get(address(seat, key)).status_code == 404
    managing.restore_project(seat)
    assert exports_signed_in.get(address(seat, key)).status_code == 200
    files.remove(seat, key)
    assert exports_signed_in.get(address(seat, key)).status_code == 404


def test_exports_refuse_uploads(exports_signed_in: TestClient, seat: Seat, key: str) -> None:
    assert exports_signed_in.put(address(seat, key), content=b"x").status_code == 405
    assert exports_signed_in.post(address(seat, key)).status_code == 405
    assert exports_signed_in.delete(address(seat, key)).status_code == 405


def test_project_number_out_of_range_is_not_found(exports_signed_in: TestClient, key: str) -> None:
    assert exports_signed_in.get(f"/exports/{10**30}/{key}").status_code == 404


# `/backup-files/NAME`: owners of this Winnow get a backup, as a file to store


__all__ = ["backup_file"]


@pytest.fixture
def backups_address(home: Home) -> str:
    team.ensure_owner(home)
    home.backups_dir.mkdir()
    path = home.backups_dir / making.name_at(datetime.now(UTC))
    making.make(home, path)
    return f"/backup-files/{path.name}"


def test_owner_downloads_backup(client: TestClient, home: Home, backups_address: str) -> None:
    assert client.get(backups_address).status_code == 401
    client.cookies.set(COOKIE, team.redeem_link(home, team.make_start_link(home)))
    answer = client.get(backups_address)
    assert (answer.status_code, answer.content) == (200, (home.backups_dir / backups_address[14:]).read_bytes())
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-disposition"].startswith("attachment; ")
    part = client.get(backups_address, headers={"range": "bytes=0-9"})
    assert (part.status_code, part.content) == (206, answer.content[:10])
    for other in ("state.json", "winnow-20200101-000000.zip", "..%2Fwinnow.sqlite3"):
        assert client.get(f"/backup-files/{other}").status_code == 404
    with full_disk():
        assert client.get(backups_address).status_code == 503, "it could not be noted who took it"
