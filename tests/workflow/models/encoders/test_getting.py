"""Downloads from a hub: checked and installed whole, or refused with a message and nothing left behind."""

from __future__ import annotations

import json
import shutil
import socket
import threading
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from plcore.tables.encoders import EncoderError
from plcore.tables.encoders.references import TEXTS
from tests.fake_hub import FakeHub
from tests.plcore.tables.encoders.models import words_of
from tests.plcore.tables.encoders.small_catalogue import REVISION, WORDS, file_of, words_entry
from tests.workflow.models.encoders.conftest import Known
from workflow.importing import encoding
from workflow.models.encoders import fetching, installed
from workflow.server.home import Home

PATH = f"ada/words/{REVISION}/onnx/model.onnx"


def left(home: Home) -> list[str]:
    return sorted(path.name for path in home.encoders_dir.iterdir()) if home.encoders_dir.exists() else []


def refused(home: Home, key: str = "words", **options: Any) -> str:
    """The reason of the refusal; nothing of it is left."""
    with pytest.raises(EncoderError) as caught:
        installed.get(home, key, **options)
    assert left(home) == []
    assert "Fix: " in str(caught.value)
    return str(caught.value)


def test_download_is_verified_and_stored_with_licence_and_source(home: Home, hub: FakeHub) -> None:
    installed.get(home, "words")
    folder = encoding.folder_of(home, "words")
    assert sorted(path.name for path in folder.iterdir()) == ["LICENSE", "SOURCE.json", "encoder.json", "model.onnx"]
    assert (folder / "model.onnx").read_bytes() == WORDS
    assert (folder / "LICENSE").read_text() == "Words: Copyright (c) Ada\n\nMIT: as is."
    source = json.loads((folder / "SOURCE.json").read_text())
    assert (source["repository"], source["revision"]) == ("ada/words", REVISION)
    assert source["files"] == {"onnx/model.onnx": file_of("", WORDS)["sha256"]}
    assert left(home) == ["words"]
    assert encoding.Encoder(folder).about.kind == "text"
    assert set(hub.asked) == {
        (method, f"/{PATH.replace(REVISION, f'resolve/{REVISION}')}") for method in ("HEAD", "GET")
    }


def test_download_sends_no_token_and_no_telemetry(home: Home, hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setenv("WINNOW_OIDC_CLIENT_SECRET", "secret")
    environment = fetching._environment(home.encoders_dir)
    assert not {"HF_TOKEN", "WINNOW_OIDC_CLIENT_SECRET", "WINNOW_HOME"} & set(environment)
    assert environment["HF_HUB_DISABLE_TELEMETRY"] == "1"
    installed.get(home, "words")
    assert "authorization" not in {name.lower() for name in hub.headers}
    assert "secret" not in str(hub.headers)


def test_download_with_wrong_hash_is_refused(home: Home, hub: FakeHub) -> None:
    hub.files[PATH] = WORDS[:-1] + b"!"
    words = refused(home)
    assert "the file differs from the one that Winnow's authors tested; nothing was stored" in words
    assert "'onnx/model.onnx'" in words


def test_download_of_wrong_size_is_refused_before_transfer(home: Home, hub: FakeHub) -> None:
    hub.size = 10**10
    assert "the file differs from the one that Winnow's authors tested" in refused(home)
    assert [method for method, _ in hub.asked] == ["HEAD"]


def test_encoder_with_other_vectors_is_refused(home: Home, hub: FakeHub, known: Known) -> None:
    """The file is the one in the catalogue, and yet the model gives other vectors here than for Winnow's authors."""
    other = words_of(*TEXTS[::-1])
    hub.files[PATH] = other
    known(words=words_entry(files=[file_of("onnx/model.onnx", other)]))
    assert "gives other vectors here than for Winnow's authors" in refused(home)


def test_missing_hub_file_is_named(home: Home, hub: FakeHub) -> None:
    hub.files.clear()
    words = refused(home)
    assert f"has no 'onnx/model.onnx' of ada/words at revision {REVISION[:7]} (404)" in words


def test_busy_hub_is_reported_with_retry_time(home: Home, hub: FakeHub) -> None:
    hub.status, hub.after = 429, "90"
    assert "accepts no more requests for now (429); nothing was stored. Fix: try again in 90 seconds." in refused(home)
    assert len(hub.asked) == 1, "who is asked to wait is not asked again at once"


def test_hub_error_is_reported(home: Home, hub: FakeHub) -> None:
    hub.status = 500
    assert f"{hub.address.removeprefix('http://')} answered with an error (500)" in refused(home)


@pytest.mark.slow
def test_interrupted_download_is_refused(home: Home, hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library tries again and again, and gets the same half each time."""
    monkeypatch.setattr(fetching, "STALLED", 3.0)
    hub.cut = True
    words = refused(home)
    assert "nothing was stored" in words
    assert "sent nothing more for 3 seconds" in words or "broke off" in words


def test_unreachable_hub_names_proxy_mirror_and_files(
    home: Home, known: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # nothing listens on this port
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{closed.getsockname()[1]}")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        words = refused(home)
    assert "cannot be reached" in words
    for fix in ("HTTPS_PROXY", "HF_ENDPOINT", "winnow encoders add"):
        assert fix in words


def test_offline_setting_is_respected(home: Home, hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "HF_HUB_OFFLINE is set" in refused(home)
    assert hub.asked == []


def test_server_that_is_no_hub_is_reported(home: Home, hub: FakeHub) -> None:
    """Such as a captive portal, which answers everything with its own page."""
    hub.status = 204
    assert "does not answer as a hub does" in refused(home)


def test_slow_download_is_reported_and_can_be_cancelled(home: Home, hub: FakeHub, known: Known) -> None:
    half = 10 * (1 << 16)
    hub.files[PATH] = bytes(2 * half)
    known(words=words_entry(files=[file_of("onnx/model.onnx", bytes(2 * half))]))
    hub.gate = threading.Event()
    told: list[tuple[int, int]] = []

    class CancelledError(Exception):
        pass

    def tell(done: int, total: int) -> None:
        told.append((done, total))
        if done >= half:
            raise CancelledError

    with pytest.raises(CancelledError):
        installed.get(home, "words", tell=tell)
    done, total = told[-1]
    assert half <= done < half + 1000 < total == 2 * half
    assert left(home) == []


def test_missing_hub_package_is_named(
    home: Home, hub: FakeHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "huggingface_hub.py").write_text("raise ImportError('no')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert "Fix: pip install 'plcore[onnx]'" in refused(home)


def test_insufficient_disk_space_is_reported_in_mb(
    home: Home, hub: FakeHub, monkeypatch: pytest.MonkeyPatch, known: Known
) -> None:
    class Usage(NamedTuple):
        free: int

    known(words=words_entry(files=[{**file_of("onnx/model.onnx", WORDS), "bytes": 100_000_000}]))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(299_000_000))
    words = refused(home)
    assert "needs 300 MB of room in" in words
    assert "299 MB are free" in words
    assert hub.asked == []


def test_non_commercial_licence_must_be_accepted(home: Home, hub: FakeHub, known: Known) -> None:
    known(words=words_entry(licence="CC-BY-NC-SA-4.0", commercial=False))
    words = refused(home)
    assert "may not be used commercially (CC-BY-NC-SA-4.0)" in words
    assert hub.asked == []
    installed.get(home, "words", non_commercial=True)
    assert "CC-BY-NC-SA-4.0: as is." in (encoding.folder_of(home, "words") / "LICENSE").read_text()


def test_unverified_encoder_is_not_downloaded(home: Home, hub: FakeHub, known: Known) -> None:
    bare = [{"name": "onnx/model.onnx", "what": "model"}]
    known(words=words_entry(files=bare, licence="CC-BY-NC-SA-4.0", commercial=False))
    assert "is not verified: Winnow's authors have not tested its files" in refused(home)
    known(words=words_entry(revision=None, wheel="wordllama==1.0"))
    assert "pip download --no-deps wordllama==1.0, then winnow encoders add FILE.whl" in refused(home)
    assert hub.asked == []


def test_only_catalogue_keys_are_downloaded(home: Home, hub: FakeHub) -> None:
    for key in ("other", "..", "../words", ""):
        assert f"No encoder is called {key!r}. Fix: name one of 'words'." in refused(home, key)
    assert hub.asked == []


def test_installed_encoder_is_not_downloaded_again(home: Home, hub: FakeHub) -> None:
    installed.get(home, "words")
    asked = list(hub.asked)
    with pytest.raises(EncoderError, match="Words is there already"):
        installed.get(home, "words")
    assert hub.asked == asked
    assert left(home) == ["words"]


@pytest.mark.parametrize(
    ("endpoint", "shown"),
    [
        ("", "huggingface.co"),
        ("https://ada:secret@mirror.example:8443/hub", "mirror.example:8443"),
        ("mirror.example", "an address that cannot be read (HF_ENDPOINT)"),
        ("https://mirror.example:port", "an address that cannot be read (HF_ENDPOINT)"),
    ],
)
def test_host_is_named_without_password(monkeypatch: pytest.MonkeyPatch, endpoint: str, shown: str) -> None:
    monkeypatch.setenv("HF_ENDPOINT", endpoint)
    assert fetching.host() == shown
