"""Features of texts: the plain formula, known answers, lengths, scripts without spaces, determinism."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer

from plcore.tables.features import text as text_features
from plcore.tables.features.text import TextFeatures, compared, grams_of, spans_of, words_of

BIRDS = ["A red bird, red", "the blue bird sings", "blue sky", "", "?!", "birds are singing"]
TEXTS = st.lists(st.text(st.sampled_from("abc é鳥 .,"), max_size=30), min_size=1, max_size=8)


def grams_in(text: str) -> list[str]:
    return [part for word in words_of(text) for part, _, _ in grams_of(word)]


def lengths(X: sp.csr_matrix) -> np.ndarray:
    return np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())


def test_n_grams_of_a_word_have_positions() -> None:
    found = list(grams_of("abc"))
    assert [part for part, _, _ in found] == [" a", "ab", "bc", "c ", " ab", "abc", "bc ", " abc", "abc "]
    assert all("abc"[start:end] == part.strip() for part, start, end in found)
    assert [part for part, _, _ in grams_of("鳥")] == [" 鳥", "鳥 ", " 鳥 "]


@given(TEXTS, TEXTS)
def test_each_part_matches_scikit_learn_tf_idf(seen: list[str], unseen: list[str]) -> None:
    for side, analyzer in (("words", words_of), ("grams", grams_in)):
        if not any(analyzer(text) for text in seen):
            continue
        other = {"words": "grams", "grams": "words"}[side]
        made = TextFeatures(**{other: False}).fit(seen)
        plain = TfidfVectorizer(sublinear_tf=True, analyzer=analyzer).fit(seen)
        assert len(made.names_) == len(plain.vocabulary_)
        for texts in (seen, unseen):
            np.testing.assert_allclose(made.transform(texts).toarray(), plain.transform(texts).toarray(), atol=1e-12)


def test_rows_have_unit_length_with_a_quarter_from_words() -> None:
    made = TextFeatures().fit(BIRDS)
    X = made.transform(BIRDS)
    assert isinstance(X, sp.csr_matrix)
    np.testing.assert_allclose(lengths(X), [1, 1, 1, 0, 0, 1])
    is_word = np.array([not name.startswith("“") for name in made.names_])
    np.testing.assert_allclose(lengths(X[:, is_word])[[0, 1, 2, 5]] ** 2, 0.25)


def test_unseen_word_is_represented_by_its_n_grams() -> None:
    made = TextFeatures().fit(BIRDS)
    found = made.transform(["birdsong", "xyz"])
    np.testing.assert_allclose(lengths(found), [1, 0])
    named = {made.names_[column] for column in found[0].indices}
    assert {"“bird”", "“ bir”"} <= named
    assert not {"bird", "birds"} & named


def test_words_come_first_in_alphabetical_order() -> None:
    names = TextFeatures().fit(["b a", "鳥 ü"]).names_
    assert names[:4] == ("a", "b", "ü", "鳥")
    grams = [name[1:-1] for name in names[4:]]
    assert grams == sorted(grams)
    assert "“ a ”" in names


def test_texts_without_spaces_are_similar_by_shared_n_grams() -> None:
    texts = ["今日は鳥が飛ぶ", "鳥が飛ぶ空", "明日の魚料理", "魚料理を食べる"]
    words = TextFeatures(grams=False).fit(texts).transform(texts).toarray()
    assert (words @ words.T == np.eye(4)).all(), "no run of signs comes twice"
    both = TextFeatures().fit(texts).transform(texts)
    near = (both @ both.T).toarray() - np.eye(4)
    assert near.argmax(axis=1).tolist() == [1, 0, 3, 2]


def test_inflections_and_typos_are_similar() -> None:
    texts = ["kittens sleeping", "kitten sleeps", "stocks falling", "stock fell"]
    made = TextFeatures().fit(texts)
    near = (made.transform(["a kiten slept"]) @ made.transform(texts).T).toarray()[0]
    assert set(np.argsort(-near)[:2]) == {0, 1}


def test_most_frequent_terms_are_kept_with_alphabetical_ties(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_features, "MOST_WORDS", 2)
    monkeypatch.setattr(text_features, "MOST_GRAMS", 3)
    assert TextFeatures().fit(["d c", "d b", "d"]).names_ == ("b", "d", "“ d”", "“ d ”", "“d ”")


def test_n_grams_in_nearly_all_texts_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["the " + word for word in ("cat", "dog", "hen", "emu", "owl")] * 2
    monkeypatch.setattr(text_features, "COMMON", 4)
    made = TextFeatures().fit(texts)
    assert "the" in made.names_, "words stay"
    assert "“the”" not in made.names_
    assert "“cat”" in made.names_
    monkeypatch.setattr(text_features, "COMMON", 100)
    assert "“the”" in TextFeatures().fit(texts).names_, "in few texts nothing stands everywhere"


def test_n_grams_of_very_long_texts_come_from_a_sample_of_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_features, "MOST_CHARACTERS", 5)
    made = TextFeatures(words=False).fit(["aaa bbb ccc"])  # 9 characters: every second word
    found = lengths(made.transform(["aaa", "bbb", "ccc"]))
    np.testing.assert_allclose(found, [1, 0, 1])


def test_columns_of_a_text_name_the_place_of_each_n_gram() -> None:
    made = TextFeatures().fit(["bird", "birch"])
    found = {(start, end): made.names_[column] for start, end, column in made.columns_of("bird")}
    assert found[1, 3] == "“ir”"
    assert found[0, 1] == "“ b”"
    assert found[1, 4] in {"“ird”", "“ird ”"}, "the space after the word stands nowhere in it"
    assert {made.names_[column] for _, _, column in made.columns_of("bird")} >= {"bird", "“ bir”", "“d ”"}
    assert made.columns_of("xyz") == []


def test_texts_without_words_have_no_features() -> None:
    made = TextFeatures().fit(["", "..."])
    assert made.names_ == ()
    assert made.transform(["a", "b"]).shape == (2, 0)


def test_unfitted_text_features_are_refused() -> None:
    with pytest.raises(NotFittedError, match="Call 'fit' first"):
        TextFeatures().transform(["a"])


@given(TEXTS)
def test_order_of_texts_does_not_affect_features(texts: list[str]) -> None:
    made, turned = TextFeatures().fit(texts), TextFeatures().fit(texts[::-1])
    assert made.names_ == turned.names_
    np.testing.assert_allclose(
        made.transform(texts).toarray(), turned.transform(texts[::-1]).toarray()[::-1], atol=1e-12
    )
    found = lengths(made.transform(texts)) if made.names_ else np.zeros(len(texts))
    np.testing.assert_allclose(found, [float(bool(words_of(text))) for text in texts], atol=1e-12)


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
def test_words_in_many_scripts_are_found(text: str, words: list[str]) -> None:
    assert words_of(text) == [compared(word) for word in words]
    assert [word for _, _, word in spans_of(text)] == [compared(word) for word in words]


def test_equivalent_unicode_forms_are_one_letter() -> None:
    assert words_of("nai\u0308ve ＡＢＣ ﬁne") == words_of("na\u00efve abc fine") == ["na\u00efve", "abc", "fine"]


def test_spans_refer_to_the_original_text() -> None:
    text = "The ﬁsh, nai\u0308ve."
    spans = list(spans_of(text))
    assert [text[start:end] for start, end, _ in spans] == ["The", "ﬁsh", "nai\u0308ve"]
    assert [word for _, _, word in spans] == ["the", "fish", "naïve"]


@settings(max_examples=settings().max_examples * 2 // 5)
@given(st.text(max_size=60))
def test_spans_are_in_order_and_hold_their_words(text: str) -> None:
    before = 0
    for start, end, word in spans_of(text):
        assert before <= start < end <= len(text)
        assert compared(text[start:end]) == word
        before = end


@given(st.text(st.characters(categories=("L", "Nd", "Zs", "Po")), max_size=60))
def test_unicode_normalisation_form_does_not_matter(text: str) -> None:
    composed, apart = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert words_of(composed) == words_of(apart)
