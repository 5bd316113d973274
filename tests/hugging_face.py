"""Hugging Face's own reader of data sets, isolated: no network, no files left in the home folder."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The library, isolated from the network and the home folder. It reads these settings when it is imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HOME", str(tmp_path_factory.mktemp("hugging_face")))
        for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"):
            patch.setenv(name, "1")
        library = importlib.import_module("datasets")
        library.disable_progress_bars()
        yield library
