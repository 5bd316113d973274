"""The demo of a crowd: messages to a shop that is not there, written by templates, and six made-up people who voted.

Many messages speak of two things, the first more than the second, so that good people differ; and not all of the six
are good. The candidates of a row are the voted labels.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

import numpy as np

FILE = "shop-messages.csv"
MESSAGES = 600
SEED = 23
ASIDES = 0.6
"""Share of the messages that speak of a second thing."""
VOTES = (3, 4, 5)
"""How many of the crowd saw a message."""

CROWD = {"Ada": 0.9, "Ben": 0.82, "Cleo": 0.74, "Dan": 0.62, "Eve": 0.5, "Finn": 0.25}
"""How often each is right."""
_TAKEN_FOR = {
    "payment": "account",
    "account": "payment",
    "delivery": "product",
    "product": "delivery",
    "praise": "product",
}
"""Label that most wrong voters confuse each with."""

ABOUT = {
    "payment": "what it costs: bills, refunds, cards",
    "delivery": "where the parcel is, and in what state it came",
    "product": "the thing itself: it is broken, or not as described",
    "account": "signing in, passwords, the address on file",
    "praise": "thanks, and nothing to be done",
}
"""The classes, and what a message of each is about."""

_MAIN = {
    "payment": (
        "I was charged twice for order {n}",
        "my refund for order {n} has not arrived after {d} days",
        "the invoice for order {n} shows the wrong amount",
        "my card was declined although it works elsewhere",
        "you took {p} euros and I never agreed to that price",
        "the discount code was not taken off the bill",
    ),
    "delivery": (
        "the parcel with order {n} is {d} days late",
        "tracking has not moved for {d} days",
        "the courier left order {n} in the rain",
        "my parcel went to the neighbour's old flat",
        "half of order {n} is missing from the box",
        "no one rang but the courier says I was out",
    ),
    "product": (
        "the {t} stopped working after {d} days",
        "the {t} has a crack along the side",
        "the {t} is a different colour from the picture",
        "the lid of the {t} does not close",
        "the {t} gets far too hot to touch",
        "a screw was missing from the {t}",
    ),
    "account": (
        "I cannot sign in since the update",
        "the mail to reset my password never comes",
        "please change the address on my account",
        "I have two accounts and want only one",
        "the site says my user name does not exist",
        "how do I close my account",
    ),
    "praise": (
        "the {t} is even better than I hoped",
        "thank you for answering so quickly",
        "the best {t} I have ever bought",
        "your team was kind and solved it in {d} minutes",
        "just wanted to say how happy we are with the {t}",
        "five stars from the whole family",
    ),
}
_ASIDE = {
    "payment": ("and I still wait for the receipt", "and it was not cheap either", "by the way can I pay by invoice"),
    "delivery": (
        "and it came later than promised",
        "and the box was a bit dented",
        "by the way when do you ship abroad",
    ),
    "product": ("and the handle feels loose", "and the manual is hard to read", "by the way is there a larger {t}"),
    "account": (
        "and the app signed me out again",
        "and your site forgot my address",
        "by the way how do I change my mail",
    ),
    "praise": ("but the {t} itself is lovely", "but your people were very friendly", "otherwise I am a happy customer"),
}
_THINGS = ("kettle", "lamp", "backpack", "toaster", "headset", "blender", "chair", "clock")
_OPENINGS = ("Hello! ", "Hi there! ", "Good morning! ", "Dear team! ", "", "", "")
_CLOSINGS = ("", "", " Thanks.", " Kind regards.", " Please answer soon.")


def make_file(on_step: Callable[[float], None] = lambda _share: None) -> bytes:
    """The CSV someone could have uploaded: a message a row, a column for each of the crowd, and the true label.

    on_step : called with 1 once it is made
    """
    rng = np.random.default_rng(SEED)
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(["id", "message", *CROWD, "true_label"])
    for number in range(MESSAGES):
        first, second = rng.permutation(list(ABOUT))[:2].tolist()
        aside = second if rng.random() < ASIDES else None
        lines.writerow([f"m{number:03}", _message(first, aside, rng), *_votes(first, aside, rng), first])
    on_step(1.0)
    return out.getvalue().encode()


def _message(main: str, aside: str | None, rng: np.random.Generator) -> str:
    said = [str(rng.choice(_MAIN[main])), *([] if aside is None else [str(rng.choice(_ASIDE[aside]))])]
    blanks = {"n": rng.integers(1_000, 9_999), "d": rng.integers(2, 15), "p": rng.integers(10, 90)}
    whole = ". ".join(one[0].upper() + one[1:] for one in said).format(t=rng.choice(_THINGS), **blanks)
    return f"{rng.choice(_OPENINGS)}{whole}.{rng.choice(_CLOSINGS)}"


def _votes(first: str, aside: str | None, rng: np.random.Generator) -> list[str]:
    """Return the votes of each person of the crowd, '' if they did not see the message. Someone is always right,
    because an import accepts no true label outside the candidates."""
    while True:
        saw = set(rng.permutation(len(CROWD))[: rng.choice(VOTES)].tolist())
        votes = [_vote(right, first, aside, rng) if who in saw else "" for who, right in enumerate(CROWD.values())]
        if first in votes:
            return votes


def _vote(right: float, first: str, aside: str | None, rng: np.random.Generator) -> str:
    if rng.random() < right:
        return first
    if rng.random() < 0.7:
        return _TAKEN_FOR[first]
    return aside or str(rng.choice([one for one in ABOUT if one != first]))
