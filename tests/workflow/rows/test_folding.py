"""Text as a search compares it, in Python and in the browser alike."""

from __future__ import annotations

import json
import unicodedata

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from workflow.rows.finding import folded

CASES = json.loads((ROOT / "tests" / "pages" / "scripts" / "folding.json").read_text())
LETTERS = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x24F, blacklist_categories=("Cc",)), max_size=8
)


def one(text: str) -> str:
    (found,) = folded(pa.array([text], pa.large_string())).to_pylist()
    return str(found)


@pytest.mark.parametrize(("text", "wanted"), CASES)
def test_the_cases_that_the_browser_has_too(text: str, wanted: str) -> None:
    assert one(text) == wanted
    assert one(wanted) == wanted


@given(LETTERS)
def test_case_and_composition_do_not_matter(text: str) -> None:
    assert one(text) == one(unicodedata.normalize("NFD", text)) == one(unicodedata.normalize("NFC", text))
    assert one(one(text)) == one(text)
    if text.upper().lower() == text.lower():  # a long s becomes another letter
        assert one(text) == one(text.upper())


def test_every_text_of_an_array_is_folded() -> None:
    assert folded(pa.array(["Ä", "B", "Ø"], pa.large_string())).to_pylist() == ["a", "b", "o"]
    assert folded(pa.array([], pa.large_string())).to_pylist() == []
    chunks = pa.chunked_array([["Ä", "B"], ["C", "Ö"]], pa.large_string())
    assert folded(chunks).to_pylist() == ["a", "b", "c", "o"]
