"""Detect annotators who guess or answer much too fast, and report the evidence.

**Guessing.** Every answer is held against what is known of its row from elsewhere: the truth, what the others say, or
a model. Someone who guesses is right as often as chance c has it among the choices that were shown; someone honest
is right at least as often as h(c) > c. Let p be how probable the answer is right by what is known. The answer is

    1 / (h p / c + (1 - h)(1 - p) / (1 - c))

times as likely of a guess as of the worst honest person; if nothing is known, p = c, it is 1. The product over all
answers is reported once it reaches 200. Of an honest person held against the truth it is a supermartingale of mean 1 at
most, so that they are told of by it, ever, with a probability of at most 1/200, however often one looks (Ville's
inequality; Wald's sequential test, 1945). If choices are few that alone would tell too few of those who guess in
time, so that at the thirtieth answer 3 is enough. Both together tell of at most .8% of the worst honest people where
all rows have as many choices (the tests count it, for 2 to 20).

What the others say is no truth, and of two answers a row the model of each person is surer than it is right. So rows
are taken half by that model, half by the one that takes all people for alike, which is surer of nothing than their
answers bear out: `benchmarks/results/crowd.md` has the figures.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from plcore.arrays.types import BoolArray, FloatArray, IntArray, LabelsLike, is_real
from plcore.crowd.dawid_skene import DawidSkene
from plcore.crowd.votes import CrowdVotes, VotesLike, read_votes

TOLD_AT = 200.0
"""Likelihood ratio of guessing at which a person is reported: at most one honest person in this many is ever
reported."""

LOOK_AT, TOLD_THEN = 30, 3.0
"""At this number of answers, this smaller likelihood ratio is enough."""

SKILL = 0.6
"""Share of the way from chance to always right for the worst honest person; higher with few choices, where a guess is
right so often that thirty answers reveal no less: `least_honest`."""

FAST_SHARE, FASTEST, FEWEST, FEWEST_OTHERS = 1 / 3, 0.05, 10, 30
"""Too fast: a median under this share of the others' and under this quantile of theirs, on this many answers each."""


@dataclass(frozen=True)
class GuessCheck:
    """guessing: whether it is reported; told_after: after how many of the answers; evidence: how many times likelier
    of a
    guess than of honest work all of them are. right of answers, where guessing gives `chance` of them on average."""

    guessing: bool
    told_after: int | None
    answers: int
    right: float
    chance: float
    evidence: float

    @property
    def sentence(self) -> str:
        """The evidence in words."""
        return (
            f"Agrees with the others on about {self.right:.0f} of {self.answers} answers. Random guessing would give "
            f"about {self.chance:.0f}."
        )


@dataclass(frozen=True)
class PaceCheck:
    """too_fast; answers; seconds, others_seconds: the medians; faster: share of the answers that took less than nearly
    all (95%) of the others'."""

    too_fast: bool
    answers: int
    seconds: float
    others_seconds: float
    faster: float

    @property
    def sentence(self) -> str:
        """The evidence in words."""
        return (
            f"Half of the {self.answers} answers took less than {self.seconds:.1f} s, half of the others' "
            f"{self.others_seconds:.1f} s. {100 * self.faster:.0f}% were faster than 95% of the others' answers."
        )


def least_honest(chance: ArrayLike) -> FloatArray:
    """Return how often the worst honest person is right, given how often chance is: 0.875 at two choices
    alike, 0.73 at three, 0.70 at four, 0.64 at ten. Equal to chance, so that nothing is reported, where
    chance is right in 0.6 or more."""
    c = np.asarray(chance, dtype=np.float64)
    return np.where(c < SKILL, c + (1 - c) * np.maximum(SKILL, 1.5 * c), c)


def check_guessing(right: ArrayLike, chance: ArrayLike) -> GuessCheck:
    """Compare one person's answers, in order, with chance.

    right : (k,) how probable each answer is right, by what is known from elsewhere: 1 and 0 if the truth is known
    chance : (k,) how probable it was right if it was a guess: one over the number of choices, or the share of the class
        that was answered among them; answers where that is 0 or 0.6 and more tell nothing and are left out
    Raises ValueError where they are not numbers in [0, 1], or not as many.
    """
    p, c = np.asarray(right, dtype=np.float64), np.asarray(chance, dtype=np.float64)
    if p.ndim != 1 or p.shape != c.shape:
        raise ValueError(
            f"right and chance must be vectors of one length. Got shapes {p.shape} and {c.shape}."
        )
    for name, values in (("right", p), ("chance", c)):
        if (wrong := ~((values >= 0) & (values <= 1))).any():  # NaN fails it too
            place = int(np.flatnonzero(wrong)[0])
            raise ValueError(f"{name} must be probabilities in [0, 1]. Got {values[place]} at place {place}.")
    tells = (c > 0) & (c < SKILL)
    p, c = p[tells], c[tells]
    h = least_honest(c)
    evidence = -np.log(h * p / c + (1 - h) * (1 - p) / (1 - c)).cumsum()
    needed = np.full(len(evidence), TOLD_AT)
    needed[LOOK_AT - 1 : LOOK_AT] = TOLD_THEN
    told = np.flatnonzero(evidence >= np.log(needed))
    return GuessCheck(
        bool(len(told)),
        int(told[0]) + 1 if len(told) else None,
        len(p),
        float(p.sum()),
        float(c.sum()),
        float(np.exp(min(evidence[-1], 700.0))) if len(p) else 1.0,
    )


def who_is_guessing(
    votes: VotesLike, candidates: LabelsLike | None = None, known: ArrayLike | None = None
) -> dict[Hashable, GuessCheck]:
    """Check every annotator against the answers of all others: {annotator: check}, in the order of the votes.

    votes, candidates : as for `DawidSkene.fit`; the candidates of a row are the choices that were shown
    known : None, or (n, m) distributions from elsewhere, as the truth (1 for one class) or a model's; a row of zeros
        if nothing is known. Where given they replace the others
    Someone who always takes the same class is right as often as that class is: chance is its share among the
    candidates, by the shares of classes in what is known. Rows on which no one else has said anything tell nothing.
    """
    read = read_votes(votes, candidates)
    if known is not None:
        given = np.asarray(known, dtype=np.float64)
        if given.shape != read.candidates.shape or not (given >= 0).all():
            raise ValueError(
                f"known must be probabilities {read.candidates.shape}, a column for every class. "
                f"Got shape {given.shape}."
            )
        return {name: _check(read, place, given) for place, name in enumerate(read.annotators)}
    found = {}
    for place, name in enumerate(read.annotators):
        others = read.who != place
        if not others.any():
            found[name] = check_guessing([], [])
            continue
        said = what_they_say(read.rows[others], read.who[others], read.masks[others], read.candidates)
        found[name] = _check(read, place, said)
    return found


def what_they_say(
    rows: IntArray, who: IntArray, masks: BoolArray, candidates: BoolArray, model: DawidSkene | None = None
) -> FloatArray:
    """Return (n, m) class probabilities of each row from these people's answers; zeros if none of them
    answered.

    rows, who, masks, candidates : as for `DawidSkene.fit_masks`, who from 0
    model : fitted to these votes and others, of the same people; None: to these alone
    The mean of two models: each person with a confusion of their own, which follows them closely and is too sure where
    few have answered a row, and all with the pooled one.
    """
    model = model or DawidSkene().fit_masks(rows, who, masks, candidates)
    apart = model.posterior_masks(rows, who, masks, candidates)
    strangers = -1 - who  # unused numbers: each of these people is replaced by an average other person
    alike = model.posterior_masks(rows, strangers, masks, candidates)
    said = np.bincount(rows, minlength=len(candidates)) > 0
    return np.asarray((apart + alike) / 2 * said[:, None])


def _check(read: CrowdVotes, place: int, known: FloatArray) -> GuessCheck:
    """known (n, m): zeros in rows of which nothing is known."""
    of: IntArray = np.flatnonzero((read.who == place) & (known[read.rows].sum(axis=1) > 0))
    rows, masks = read.rows[of], read.masks[of]
    shown = read.candidates[rows]
    # One row spread evenly over all classes: a class that no one has named is no proof of guessing.
    shares = known.sum(axis=0) + 1 / known.shape[1]
    weights = shares * shown
    right = (known[rows] * masks).sum(axis=1) / known[rows].sum(axis=1)
    chance = (weights * masks).sum(axis=1) / weights.sum(axis=1)
    inside = (masks & shown).any(axis=1)
    return check_guessing(np.clip(right[inside], 0, 1), np.clip(chance[inside], 0, 1))


def too_fast(seconds: ArrayLike, others_seconds: ArrayLike) -> PaceCheck:
    """Check whether one person answers too fast to have looked at the rows.

    seconds : (k,) of their answers      others_seconds : (l,) of the others', to questions of the same kind
    Reported if the median is under a third of the others' median and under the time that 95% of the others'
    answers took, with at least 10 answers, and 30 of the others. Medians, so that breaks do not count. Times
    that are no positive numbers are left out.
    """
    own, others = _times(seconds), _times(others_seconds)
    mine, theirs = (float(np.median(times)) if len(times) else np.nan for times in (own, others))
    bound = float(np.quantile(others, FASTEST)) if len(others) else 0.0
    faster = float(np.mean(own < bound)) if len(own) else 0.0
    enough = len(own) >= FEWEST and len(others) >= FEWEST_OTHERS
    told = enough and mine < min(FAST_SHARE * theirs, bound)
    return PaceCheck(told, len(own), mine, theirs, faster)


def _times(seconds: ArrayLike) -> FloatArray:
    if is_real(seconds):
        raise ValueError(f"seconds must be a sequence of numbers. Got {seconds!r}.")
    times = np.asarray(seconds, dtype=np.float64).ravel()
    return times[np.isfinite(times) & (times > 0)]
