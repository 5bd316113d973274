"""Inputs of an encoder come from limited processes: the right ones, and words for those that there are none of."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plcore.tables import MediaError
from plcore.tables.encoders import Description, encoding, taken
from tests.plcore.tables.zips import picture
from tests.workflow.sounds import tone
from workflow.files import limited
from workflow.importing.encoder_inputs import taking

IMAGES = Description("image", size=(4, 3))
SOUNDS = Description("sound", rate=8_000, seconds=0.5)
INLINE = "data:image/png;base64," + base64.b64encode(picture(3)).decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in {"a": picture(1), "b": picture(2), "s": tone(2), "bad": picture(1)[:60]}.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def test_images_and_sounds_are_those_that_are_made_anywhere(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {"image": ["a", INLINE, "b"], "sound": [("s", None, None), ("s", 1.0, 1.2)]}
    wanted = {
        about.kind: [taken(key, about, lambda name: (folder / name).open("rb")) for key in keys[about.kind]]
        for about in (IMAGES, SOUNDS)
    }
    monkeypatch.setattr(encoding, "open_image", None)  # nothing is decoded in this process
    monkeypatch.setattr(encoding, "Sound", None)
    for about in (IMAGES, SOUNDS):
        found = taking(lambda name: folder / name)(keys[about.kind], about)
        np.testing.assert_array_equal(found, wanted[about.kind])


def test_each_that_has_none_says_why(folder: Path) -> None:
    def path_of(name: str) -> Path:
        if name == "never":
            raise MediaError("the file did not come with the table.", "Give a zip.")
        return folder / name

    found = taking(path_of)(["a", "bad", "gone", "never", "b"], IMAGES)
    assert [isinstance(one, MediaError) for one in found] == [False, True, True, True, False]
    assert "damaged" in found[1].args[0]
    assert "cannot be read any more" in found[2].args[0]
    assert "did not come" in found[3].args[0]
    assert all(isinstance(one, MediaError) for one in taking(path_of)(["gone", "never"], IMAGES))


def test_one_that_takes_too_much_does_no_harm_to_the_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = limited.look

    def limit(job: str, given: Mapping[str, Any], *others: Any) -> Any:
        if "b" in given["keys"]:
            raise MediaError("Reading it takes more than 350 MB.", "Save it anew.")
        return look(job, given, *others)

    monkeypatch.setattr(limited, "look", limit)
    found = taking(lambda name: folder / name)(["a", "b", INLINE], IMAGES)
    assert [isinstance(one, MediaError) for one in found] == [False, True, False]


def test_texts_are_taken_as_they_are() -> None:
    assert taking(Path)(["wren", "owl"], Description("text")) == ["wren", "owl"]
