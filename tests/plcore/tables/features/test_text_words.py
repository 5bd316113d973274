"""The words of a text: in any script, compared without regard to how a letter was written, found where they stand."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables.features.text import compared, spans_of, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A x, the 2nd well_known!", ["a", "x", "the", "2nd", "well_known"]),
        ("Ärger ÜBER Straße", ["ärger", "über", "straße"]),
        ("don't stop", ["don", "t", "stop"]),
        ("鳥が飛ぶ。空", ["鳥が飛ぶ", "空"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("किताब पढ़ना", ["किताब", "पढ\u093cना"]),  # vowel signs and the dot below belong to their letters
        ("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"]),
        ("مَرْحَبًا بك", ["مَرْحَبًا", "بك"]),
        ("ภาษาไทย ง่าย", ["ภาษาไทย".replace("ำ", "ํา"), "ง่าย"]),
        ("... !? --", []),
        ("", []),
    ],
)
def test_words_in_many_scripts(text: str, words: list[str]) -> None:
    assert words_of(text) == [compared(word) for word in words]
    assert [word for _, _, word in spans_of(text)] == [compared(word) for word in words]


def test_one_letter_written_in_two_ways_is_one() -> None:
    assert (
        words_of("nai\u0308ve ＡＢＣ ﬁne") == words_of("na\u00efve abc fine") == ["na\u00efve", "abc", "fine"]
    )


def test_a_span_is_where_the_word_stands_as_it_was_written() -> None:
    text = "The ﬁsh, nai\u0308ve."
    spans = list(spans_of(text))
    assert [text[start:end] for start, end, _ in spans] == ["The", "ﬁsh", "nai\u0308ve"]
    assert [word for _, _, word in spans] == ["the", "fish", "naïve"]


@given(st.text(max_size=60))
def test_spans_stand_in_order_and_hold_their_words(text: str) -> None:
    before = 0
    for start, end, word in spans_of(text):
        assert before <= start < end <= len(text)
        assert compared(text[start:end]) == word
        before = end


@given(st.text(st.characters(categories=("L", "Nd", "Zs", "Po")), max_size=60))
def test_the_form_of_normalisation_does_not_matter(text: str) -> None:
    composed, apart = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert words_of(composed) == words_of(apart)
