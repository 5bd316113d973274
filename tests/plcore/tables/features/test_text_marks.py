"""Values of pieces of a text: all of what its features are worth, where they stand."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables import TextFeatures, marks_of

TEXT = st.text(st.sampled_from("ab é鳥空ー .ﬁ\u0308"), max_size=25)


def worth_of(features: TextFeatures, **worth: float) -> np.ndarray:
    """(d, 1): words and n-grams by their names, all others nothing."""
    return np.array([[worth.get(name.strip("“”"), 0.0)] for name in features.names_])


def test_word_is_worth_its_own_column_and_its_n_grams() -> None:
    text = "Red bird, blue"
    features = TextFeatures().fit([text])
    marks = marks_of(features, text, worth_of(features, bird=3.0, ue=1.0))
    assert [text[mark.start : mark.end] for mark in marks] == ["Red", "bird", "blue"]
    found = [float(mark.worth[0]) for mark in marks]
    assert found == [0.0, 6.0, 1.0], "the word, and the n-gram of the same letters"


def test_what_stands_twice_is_shared() -> None:
    features = TextFeatures(grams=False).fit(["red red blue"])
    marks = marks_of(features, "red red blue", worth_of(features, red=1.0))
    assert [float(mark.worth[0]) for mark in marks] == [0.5, 0.5, 0.0]


def test_script_without_spaces_is_marked_by_signs() -> None:
    text = "今日鳥が"
    features = TextFeatures(words=False).fit([text])
    marks = marks_of(features, text, worth_of(features, **{"鳥が": 2.0, "今": 0.0}))
    assert [(mark.start, mark.end, float(mark.worth[0])) for mark in marks] == [
        (0, 1, 0.0), (1, 2, 0.0), (2, 3, 1.0), (3, 4, 1.0)
    ]  # fmt: skip


def test_sign_keeps_its_marks_and_other_letters_stay_together() -> None:
    text = "Python ที่นี่ 鳥abc"
    features = TextFeatures().fit([text])
    marks = marks_of(features, text, np.zeros((len(features.names_), 1)))
    pieces = [text[mark.start : mark.end] for mark in marks]
    assert pieces == ["Python", "ที่", "นี่", "鳥", "abc"]


def test_word_compared_in_another_form_is_marked_whole() -> None:
    text = "ﬁsh"
    features = TextFeatures().fit(["fish"])
    (mark,) = marks_of(features, text, np.ones((len(features.names_), 2)))
    assert (mark.start, mark.end) == (0, 3)
    np.testing.assert_allclose(mark.worth, len(features.columns_of("fish")))


def test_words_that_no_column_knows_are_worth_nothing() -> None:
    features = TextFeatures().fit(["red"])
    (mark,) = marks_of(features, "xyz", np.ones((len(features.names_), 1)))
    assert mark.worth.tolist() == [0.0]


@given(TEXT, st.integers(0, 100))
def test_pieces_share_out_all_that_features_of_text_are_worth(text: str, seed: int) -> None:
    features = TextFeatures().fit([text])
    worth = np.random.default_rng(seed).normal(size=(len(features.names_), 3))
    marks = marks_of(features, text, worth)
    total = sum((mark.worth for mark in marks), np.zeros(3))
    np.testing.assert_allclose(total, worth.sum(axis=0), atol=1e-9)
    edges = [edge for mark in marks for edge in (mark.start, mark.end)]
    assert edges == sorted(edges)
