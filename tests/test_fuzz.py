"""The hunt of `make fuzz` finds what it is for, keeps it, and tries it first the next time."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests import fuzz
from workflow import importing

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of findings; the home of the hunt is its own, too."""
    monkeypatch.setenv("WINNOW_HOME", str(tmp_path))
    monkeypatch.setattr(fuzz, "KEPT", tmp_path / "kept")
    return tmp_path / "kept"


def test_crash_is_found_kept_and_tried_first(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []

    def break_down(data: bytes, _name: str) -> Any:
        asked.append(data)
        raise RuntimeError("Traceback ...")

    monkeypatch.setattr(importing, "read_upload", break_down)
    monkeypatch.setattr(fuzz, "MOST", 6)
    found = fuzz.hunt(60, seed=1)
    assert found["crash"] == found["files"] > 0
    (first, *_) = sorted(kept.iterdir())
    assert first.read_bytes() in asked
    asked.clear()
    monkeypatch.setattr(fuzz, "MOST", len(list(kept.iterdir())))
    fuzz.hunt(60, seed=2)
    assert set(asked) == {one.read_bytes() for one in kept.iterdir()}


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("Row 3: expected a number. Fix: type one.", ""),
        ("invalid literal for int() with base 10", "words"),
        ("The file breaks the program that reads it.", "words"),
    ],
)
def test_words_of_a_refusal_are_judged(said: str, wrong: str) -> None:
    assert fuzz.wrong_with(lambda: said, fuzz.Costs()).partition(":")[0] == wrong


def test_long_and_large_cases_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "SECONDS", -1.0)
    assert fuzz.wrong_with(lambda: "", fuzz.Costs()).startswith("cost: ")


def test_seed_repeats_a_hunt() -> None:
    data = b"id,text\na,b\nc,d\n"
    one, other = ([fuzz.mutate(Path("a.csv"), data, random.Random(3)) for _ in range(9)] for _ in range(2))
    assert one == other
