"""Who looks at a file gets what was made of it, or words."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from plcore.tables import MediaError, thumbnail
from tests.plcore.tables.zips import picture
from workflow.files.limited import Bounds, look, looking


def test_what_was_made_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(picture(1))
    assert base64.b64decode(look("small_picture", {"path": str(path)}, 1)) == thumbnail(picture(1))


def test_what_cannot_be_decoded_is_said_with_its_fix(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(picture(1)[:50])
    with pytest.raises(MediaError) as caught:
        look("small_picture", {"path": str(path)}, 50)
    assert "damaged" in caught.value.args[0]
    assert "Save it as PNG" in caught.value.args[1]
    with pytest.raises(FileNotFoundError):
        look("small_picture", {"path": str(tmp_path / "none.png")}, 50)


def test_a_limit_is_said_as_of_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(picture(1, "PNG", (5_000, 5_000)))
    monkeypatch.setattr(looking, "LEAST_MB", 20)
    with pytest.raises(MediaError) as caught:
        look("small_picture", {"path": str(path)}, 50)
    assert caught.value.args[0].startswith("Reading it takes more than 20 MB of memory")
    assert "Save it anew" in caught.value.args[1]
    assert "column" not in caught.value.args[1]
    assert look("small_picture", {"path": str(path)}, 50, mb=300)


def test_the_limits_go_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def ask(_job: str, _given: object, _folder: Path, bounds: Bounds) -> None:
        asked.append(bounds)
        raise MediaError

    monkeypatch.setattr(looking, "ask", ask)
    for size in (1_000, 10_000_000):
        with pytest.raises(MediaError):
            look("small_picture", {}, size)
    assert asked == [Bounds.of_file(1_000, looking.LEAST_MB), Bounds.of_file(10_000_000, looking.LEAST_MB)]
