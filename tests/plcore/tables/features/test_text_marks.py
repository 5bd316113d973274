"""Values of the pieces of a text: they add up to the values of its features."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables import TextFeatures, marks_of

TEXT = st.text(st.sampled_from("ab é鳥空ー .ﬁ\u0308"), max_size=25)


def worth_of(features: TextFeatures, **worth: float) -> np.ndarray:
    """(d, 1): values of the named words and n-grams, 0 for all others."""
    return np.array([[worth.get(name.strip("“”"), 0.0)] for name in features.names_])


def test_value_of_a_word_includes_its_n_grams() -> None:
    text = "Red bird, blue"
    features = TextFeatures().fit([text])
    marks = marks_of(features, text, worth_of(features, bird=3.0, ue=1.0))
    assert [text[mark.start : mark.end] for mark in marks] == ["Red", "bird", "blue"]
    found = [float(mark.worth[0]) for mark in marks]
    assert found == [0.0, 6.0, 1.0], "the word, and the n-gram of the same letters"


def test_value_of_a_repeated_word_is_shared() -> None:
    features = TextFeatures(grams=False).fit(["red red blue"])
    marks = marks_of(features, "red red blue", worth_of(features, red=1.0))
    assert [float(mark.worth[0]) for mark in marks] == [0.5, 0.5, 0.0]


def test_scripts_without_spaces_are_marked_per_character() -> None:
    text = "今日鳥が"
    features = TextFeatures(words=False).fit([text])
    marks = marks_of(features, text, worth_of(features, **{"鳥が": 2.0, "今": 0.0}))
    assert [(mark.start, mark.end, float(mark.worth[0])) for mark in marks] == [
        (0, 1, 0.0), (1, 2, 0.0), (2, 3, 1.0), (3, 4, 1.0)
    ]  # fmt: skip


def test_combining_marks_and_other_letters_stay_together() -> None:
    text = "Python ที่นี่ 鳥abc"
    features = TextFeatures().fit([text])
    marks = marks_of(features, text, np.zeros((len(features.names_), 1)))
    pieces = [text[mark.start : mark.end] for mark in marks]
    assert pieces == ["Python", "ที่", "นี่", "鳥", "abc"]


def test_word_in_another_normalised_form_is_marked_as_a_whole() -> None:
    text = "ﬁsh"
    features = TextFeatures().fit(["fish"])
    (mark,) = marks_of(features, text, np.ones((len(features.names_), 2)))
    assert (mark.start, mark.end) == (0, 3)
    np.testing.assert_allclose(mark.worth, len(features.columns_of("fish")))


def test_unknown_words_have_value_zero() -> None:
    features = TextFeatures().fit(["red"])
    (mark,) = marks_of(features, "xyz", np.ones((len(features.names_), 1)))
    assert mark.worth.tolist() == [0.0]


@given(TEXT, st.integers(0, 100))
def test_values_of_pieces_add_up_to_the_value_of_the_text(text: str, seed: int) -> None:
    features = TextFeatures().fit([text])
    worth = np.random.default_rng(seed).normal(size=(len(features.names_), 3))
    marks = marks_of(features, text, worth)
    total = sum((mark.worth for mark in marks), np.zeros(3))
    np.testing.assert_allclose(total, worth.sum(axis=0), atol=1e-9)
    edges = [edge for mark in marks for edge in (mark.start, mark.end)]
    assert edges == sorted(edges)
