"""A small catalogue in place of the real one, and a hub that has its files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from plcore.tables.encoders import EncoderEntry
from tests.fake_hub import FakeHub, serving
from tests.plcore.tables.encoders.small_catalogue import REVISION, WORDS, small_catalogue, words_entry
from workflow.models.encoders import installed

Known = Callable[..., dict[str, EncoderEntry]]


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Known:
    """Makes these entries the catalogue."""

    def make(**entries: dict[str, Any]) -> dict[str, EncoderEntry]:
        made = small_catalogue(tmp_path / "catalogue", **entries)
        monkeypatch.setattr(installed, "read_catalogue", lambda: made)
        return made

    make(words=words_entry())
    return make


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, known: Known) -> Iterator[FakeHub]:
    """A hub with the model `words` of the catalogue."""
    with serving(FakeHub({f"ada/words/{REVISION}/onnx/model.onnx": WORDS})) as made:
        monkeypatch.setenv("HF_ENDPOINT", made.address)
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HF_HUB_OFFLINE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield made
