"""What every page begins with: a name of a user is shown as it is."""

from __future__ import annotations

import re

import pytest

from pages.parts import frame

EMOJI = re.compile(r":\+1:|:-1:|:[\w-]+:")
"""What the browser takes for the name of one (remark-emoji), in text that has lost its backslashes."""
ICON = re.compile(r":material/[a-z0-9_]+:")


@pytest.mark.parametrize("name", ["animal:dog:poodle", "at 12:100:30", ":material/home:", ":+1:", "a:b:c:d"])
def test_a_name_holds_no_emoji_and_no_icon(name: str) -> None:
    shown = frame.escape(name).replace("\\", "")
    assert not EMOJI.search(shown)
    assert not ICON.search(shown)
    assert shown.replace("\u2060", "") == name


@pytest.mark.parametrize("name", ["row 4: a", "12:30", "a :: b"])
def test_a_name_without_one_holds_nothing_unseen(name: str) -> None:
    assert "\u2060" not in frame.escape(name)
