"""Every colour of a mark is read on the page of either theme."""

from __future__ import annotations

import tomllib

import pytest

from pages.parts import palette
from tests.conftest import ROOT

THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]
MARKS = (
    palette.WINNOW,
    palette.DOUBT,
    palette.GOAL,
    palette.BAD,
    palette.APART,
    palette.GIVEN,
    palette.RANDOM,
    *palette.FURTHER,
)


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_definition() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_is_seen_on_either_page(scheme: str, mark: str) -> None:
    assert contrast(mark, THEME[scheme]["backgroundColor"]) >= 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_are_read_on_either_page(scheme: str) -> None:
    colours = THEME[scheme]
    for ground in ("backgroundColor", "secondaryBackgroundColor"):
        assert contrast(colours["textColor"], colours[ground]) >= 4.5
        assert contrast(colours["linkColor"], colours[ground]) >= 4.5
    for name in ("orange", "green"):
        assert contrast(colours[f"{name}TextColor"], colours[f"{name}BackgroundColor"]) >= 4.5


def test_no_two_meanings_have_one_colour() -> None:
    assert len(set(MARKS)) == len(MARKS)


def test_a_band_is_its_colour_paler() -> None:
    assert palette.band("#2b8a78", 0.2) == "rgba(43, 138, 120, 0.2)"
