"""Guess the language of texts from their most frequent short words and their script.

The method of common words: Gregory Grefenstette, "Comparing two language identification schemes", JADT 1995. It is for
sentences, not single words, so a guess needs at least `LEAST_HITS` common words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

ENGLISH = "English"
COMMON = {
    ENGLISH: "the of and to is that it for was with you this have are my not but what can from do how they",
    "German": "der die und das ist nicht ich zu den mit ein eine auf für von im wie auch es sie dem des wir",
    "French": "le la les et est des une je dans que pour pas vous qui ce sur avec du au il mon nous sont",
    "Spanish": "el la los que es una por con para las del se no mi como está pero su lo más al en",
    "Italian": "il di che la per un una non sono con del mi della si gli le questo come ho da nel ma",
    "Portuguese": "que de não uma para com os do da em um por mais as se meu eu foi como mas na",
    "Dutch": "de het een van en is niet dat ik op te zijn met voor er aan ook mijn maar wat naar bij hoe",
    "Swedish": "och att det en är som på för inte jag med av den till har ett om vi kan men hur så",
    "Danish": "og at det en er som på for ikke jeg med af den til har et om vi kan men hvor så de",
    "Norwegian": "og at det en er som på for ikke jeg med av den til har et om vi kan men hvor så de",
    "Finnish": "ja on ei että se oli mutta hän olen ovat joka niin kun minun myös kuin mitä tämä voi",
    "Polish": "nie na się do to jest że jak co ale po mi tak za od czy dla już tego przez",
    "Czech": "je se na že to do jsem ale jak co za pro jako by jsou si tak mi už",
    "Hungarian": "az és nem hogy egy is van ez meg de csak már mint vagy kell nekem ha lehet volt",
    "Romanian": "și de la în cu nu este care pe că un din pentru sunt mai ce sau am fi ca dar",
    "Turkish": "ve bir bu için ne çok da de ile gibi daha var mi ben olarak en kadar değil nasıl",
    "Indonesian": "yang dan di ini itu untuk dengan saya tidak dari ke pada akan bisa ada apa adalah",
    "Vietnamese": "và của là có không tôi được cho một các người trong này với đã những để như",
}
"""The most frequent short words of languages with Latin letters. A word of several languages counts for each of them.
Single letters are excluded, as they also occur in codes and placeholders ("%s").
"""
LEAST_HITS = 5
LEAST_SHARE = 0.1
"""Minimum share of common words among all words for a guess. English prose has about a third."""
LETTERS = 20_000
"""Number of letters examined."""
_WORDS = {name: frozenset(words.split()) for name, words in COMMON.items()}
_WORD = re.compile(r"[^\W\d_]+")


def guess_language(texts: Iterable[str]) -> str | None:
    """Return the language of most of the texts, in words that fit after "in".

    "English", another name in `COMMON`, or "Cyrillic letters" if most letters are not Latin. None if there are fewer
    than LEAST_HITS common words, or a share of them below LEAST_SHARE.
    """
    words: list[str] = []
    letters = 0
    for text in texts:
        words += (found := _WORD.findall(text.lower()))
        letters += sum(map(len, found))
        if letters >= LETTERS:
            break
    scripts = Counter(_script(letter) for letter in "".join(words))
    if scripts.pop("Latin", 0) < scripts.total():
        return f"{scripts.most_common(1)[0][0]} letters"
    counts = Counter(words)
    hits = {name: sum(counts[word] for word in common) for name, common in _WORDS.items()}
    best = max(hits, key=lambda name: hits[name])  # the first of equals; English comes first
    return best if hits[best] >= max(LEAST_HITS, LEAST_SHARE * len(words)) else None


def _script(letter: str) -> str:
    name = unicodedata.name(letter, "unknown").partition(" ")[0]
    return "Chinese" if name == "CJK" else name.capitalize()
