"""The language of texts, guessed by their most frequent short words and by their letters."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from plcore.tables.text.language import COMMON, guess_language

SENTENCES = {
    "English": "I was charged twice for the card that you sent to me, and it is not what I wanted.",
    "German": "Die Karte ist noch nicht da, und ich weiß nicht, wie ich das Geld auf mein Konto bekomme.",
    "French": "La carte que vous avez envoyée est perdue, et je ne sais pas ce que je dois faire avec les points.",
    "Spanish": "No sé por qué la tarjeta que pedí no llega, y me gustaría saber cómo está el envío.",
    "Dutch": "Ik heb de kaart nog niet gekregen en weet niet wat ik met het geld op mijn rekening moet doen.",
    "Cyrillic letters": "Карта ещё не пришла, и я не знаю, что делать.",
    "Chinese letters": "我的卡还没有到，我该怎么办？",
    "Arabic letters": "لم تصل البطاقة بعد ولا أعرف ماذا أفعل",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_language_of_sentences_is_known(language: str) -> None:
    assert guess_language([SENTENCES[language]]) == language
    assert guess_language(["", SENTENCES[language].upper()]) == language


@pytest.mark.parametrize(
    "texts",
    [[], [""], ["12 %", "http 404"], ["red car", "blue house"], ["the cat"], ["%s: %d" * 50], ["Xq zz kk"] * 50],
)  # fmt: skip
def test_too_few_common_words_give_no_language(texts: list[str]) -> None:
    assert guess_language(texts) is None


def test_majority_of_texts_decides() -> None:
    assert guess_language([SENTENCES["German"]] * 3 + [SENTENCES["English"]]) == "German"
    assert guess_language(["Карта", SENTENCES["English"]]) == "English"


def test_only_the_first_texts_are_read() -> None:
    def texts() -> Iterator[str]:
        yield from [SENTENCES["English"]] * 1_000
        pytest.fail("more was read than is looked at")

    assert guess_language(texts()) == "English"


def test_common_words_are_longer_than_one_letter_and_unique() -> None:
    for words in map(str.split, COMMON.values()):
        assert len(set(words)) == len(words)
        assert min(map(len, words)) > 1
