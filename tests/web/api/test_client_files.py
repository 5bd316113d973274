"""The client of the HTTP API: streams, exports, data frames, and how it shows itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import pandas as pd
import pytest

from tests.conftest import ROOT
from tests.docs.pages import blocks
from tests.docs.test_tutorials import NEAR, SAID, values
from winnow_labels import connection
from winnow_labels.client import Winnow, WinnowError
from workflow.exporting import files
from workflow.people import team, tokens
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home


def asking(answer: Any, **options: Any) -> Winnow:
    """A client of a server that answers so."""
    return Winnow("http://127.0.0.1", "winnow_secret", transport=httpx2.MockTransport(answer), **options)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []
    monkeypatch.setattr("winnow_labels.connection.time.sleep", found.append)
    return found


class Pieces(httpx2.SyncByteStream):
    """A reply in these pieces, after which the connection breaks or not."""

    def __init__(self, *pieces: bytes, breaks: bool) -> None:
        self._pieces, self._breaks = pieces, breaks

    def __iter__(self) -> Iterator[bytes]:
        yield from self._pieces
        if self._breaks:
            raise httpx2.ReadError("lost on the way")


def test_predictions_continue_after_broken_connection() -> None:
    texts = ["a", "b\u2028c\x85", "ü" * 50, "", "e"]
    lines = [json.dumps({"row": row, "row_id": one}, ensure_ascii=False) for row, one in enumerate(texts)]
    asked = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        start = int(request.url.params["start"])
        asked.append(start)
        sent = "".join(f"{one}\n" for one in lines[start:]).encode()
        cut = len(sent) if len(asked) == 3 else len(lines[start].encode()) + 5
        return httpx2.Response(200, stream=Pieces(sent[:7], sent[7:cut], breaks=cut < len(sent)))

    with asking(answer) as winnow:
        assert [one["row_id"] for one in winnow.project(1).predictions()] == texts
    assert asked[0] == 0
    assert all(before < after for before, after in pairwise(asked))


def test_connection_that_breaks_without_progress_is_reported() -> None:
    def answer(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, stream=Pieces(b'{"row"', breaks=True))

    with asking(answer) as winnow, pytest.raises(WinnowError, match="broke again"):
        list(winnow.project(1).predictions())


def test_refused_stream_is_reported() -> None:
    refused = httpx2.Response(403, json={"detail": "Owners alone."})
    with asking(lambda _: refused) as winnow, pytest.raises(WinnowError, match="Owners alone") as error:
        list(winnow.project(1).predictions())
    assert error.value.status == 403


def test_export_waits_until_file_is_ready(tmp_path: Path, pauses: list[float]) -> None:
    job = {"key": "k", "state": "waiting", "done": 0, "total": 9, "fault": None}
    states, asked = iter(["waiting", "writing", "ready"]), []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(f"{request.method} {request.url.path.removeprefix('/api/v1/projects/1')}")
        if request.url.path.endswith("/file"):
            return httpx2.Response(200, content=b"whole")
        if request.method == "DELETE":
            return httpx2.Response(204)
        return httpx2.Response(200, json=job if request.method == "POST" else job | {"state": next(states)})

    with asking(answer) as winnow:
        winnow.project(1).export(tmp_path / "labels.csv", rows="sure", above=0.95)
    assert (tmp_path / "labels.csv").read_bytes() == b"whole"
    assert asked == ["POST /exports", *["GET /exports/k"] * 3, "GET /exports/k/file", "DELETE /exports/k"]
    assert all(before < after for before, after in pairwise(pauses))


def test_failed_export_is_reported_and_removed(tmp_path: Path, pauses: list[float]) -> None:
    asked = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.method)
        job = {"key": "k", "state": "failed", "done": 0, "total": 9, "fault": "The disk is full."}
        return httpx2.Response(200, json=job)

    with asking(answer) as winnow, pytest.raises(WinnowError, match="disk is full"):
        winnow.project(1).export(tmp_path / "labels.csv")
    assert asked == ["POST", "DELETE"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_frames_have_rows_and_probabilities(winnow: Winnow, seat: Seat) -> None:
    seat.settle()
    project, count = winnow.project(seat.project_id or 0), managing.get_project(seat).n_rows
    frame = project.to_frame()
    assert len(frame) == count
    shares = project.to_frame("probabilities")
    columns = [name for name in shares if name.startswith("winnow_probability:")]
    assert len(columns) == managing.get_project(seat).n_classes
    assert shares["winnow_id"].tolist() == [one["row_id"] for one in project.rows()]
    if seat.kind.NAME == "one_label":
        pd.testing.assert_series_equal(
            shares[columns].sum(axis=1), pd.Series(1.0, index=shares.index), check_names=False
        )
    assert files.prepared(seat) == (), "the files of the server are removed"


@pytest.mark.slow
def test_gallery_labels_frame_without_browser(url: str, home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    seat = Seat(home, team.ensure_owner(home).id)
    (code,) = (one for one in blocks(ROOT / "docs" / "gallery.md", "python") if "Winnow(url" in one)
    names = {"url": url, "token": tokens.make_token(seat, "notebook")}
    exec(compile(code, "gallery.md", "exec"), names)  # noqa: S102
    said = [values(one) for one in SAID.findall(code)]
    printed = [values(one) for one in capsys.readouterr().out.splitlines() if one[0].isdigit()]
    assert printed[0] == said[0]
    assert printed[1] == pytest.approx(said[1], abs=NEAR)


def test_repr_names_server_and_project_without_token() -> None:
    with Winnow("https://example.org/winnow/", "winnow_secret") as winnow:
        assert repr(winnow) == "Winnow('https://example.org/winnow')"
        assert repr(winnow.project(3)) == "WinnowProject(3, Winnow('https://example.org/winnow'))"


@pytest.mark.parametrize(("shown", "seconds", "said"), [(True, 2.0, True), (True, 0.5, False), (False, 2.0, False)])
def test_progress_is_shown_for_long_calls(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, shown: bool, seconds: float, said: bool
) -> None:
    now = [0.0]
    monkeypatch.setattr(connection.time, "monotonic", lambda: now[0])
    tell = connection.ProgressLine("Writing csv", shown)
    now[0] = seconds
    tell(450, 1_000)
    tell.end()
    line = f"\r{'Writing csv: 45% (450 of 1,000)':<79}\n"
    assert capsys.readouterr().err == (line if said else "")
