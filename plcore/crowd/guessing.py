"""Detect annotators who guess or answer much too fast, and report the evidence.

**Guessing.** Every answer is compared with other knowledge about its row: the truth, the answers of the others, or a
model. Someone who guesses is right with the chance probability c among the choices that were shown. Someone honest is
right with a probability of at least h(c) > c. Let p be the probability that the answer is right, by the other
knowledge. The answer is

    1 / (h p / c + (1 - h)(1 - p) / (1 - c))

times as likely from a guess as from the worst honest person; if nothing is known, p = c, it is 1. The product over all
answers is reported once it reaches 200. For an honest person compared with the truth it is a supermartingale with mean
at most 1, so they are ever reported with a probability of at most 1/200, no matter how often it is checked (Ville's
inequality; Wald's sequential test, 1945). With few choices, that alone would report too few guessers in time, so at the
thirtieth answer 3 is enough. Both rules together report at most 0.8% of the worst honest people if all rows have the
same number of choices (the tests count it, for 2 to 20).

The answers of the others are not the truth, and with two answers per row the model of each person is overconfident. So
half of the knowledge comes from that model, half from one that treats all people alike, which is not overconfident:
`benchmarks/results/crowd.md` has the figures.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from plcore.arrays.checks import is_real
from plcore.arrays.types import BoolArray, FloatArray, IntArray, LabelsLike
from plcore.crowd.dawid_skene import DawidSkene
from plcore.crowd.votes import CrowdVotes, VotesLike, read_votes

TOLD_AT = 200.0
"""Likelihood ratio of guessing at which a person is reported: at most one honest person in this many is ever
reported."""

LOOK_AT, TOLD_THEN = 30, 3.0
"""At this number of answers, this smaller likelihood ratio is enough."""

SKILL = 0.6
"""Position of the worst honest person between chance (0) and always right (1). It is higher with few choices, where
guesses are often right and thirty answers would otherwise reveal too little: `least_honest`."""

FAST_SHARE, FASTEST, FEWEST, FEWEST_OTHERS = 1 / 3, 0.05, 10, 30
"""Limits for "too fast": a median below this share of the others' median and below this quantile of their times, with
at least this many own answers and others' answers."""


@dataclass(frozen=True)
class GuessCheck:
    """Result of the check for guessing.

    guessing : whether it is reported      told_after : number of answers after which it was reported
    evidence : likelihood ratio of guessing to honest work, over all answers
    right : number of right answers; guessing would give `chance` on average"""

    guessing: bool
    told_after: int | None
    answers: int
    right: float
    chance: float
    evidence: float

    @property
    def sentence(self) -> str:
        """Return the evidence as a sentence."""
        return (
            f"Agrees with the others on about {self.right:.0f} of {self.answers} answers. Random guessing would give "
            f"about {self.chance:.0f}."
        )


@dataclass(frozen=True)
class PaceCheck:
    """Result of the check for speed.

    too_fast      answers      seconds, others_seconds : the medians
    faster : share of the answers that took less time than nearly all (95%) of the others'"""

    too_fast: bool
    answers: int
    seconds: float
    others_seconds: float
    faster: float

    @property
    def sentence(self) -> str:
        """Return the evidence as a sentence."""
        return (
            f"Half of the {self.answers} answers took less than {self.seconds:.1f} s, half of the others' "
            f"{self.others_seconds:.1f} s. {100 * self.faster:.0f}% were faster than 95% of the others' answers."
        )


def least_honest(chance: ArrayLike) -> FloatArray:
    """Return the probability that the worst honest person is right, given that of chance.

    It is 0.875 for two equally likely choices, 0.73 for three, 0.70 for four, 0.64 for ten. If chance is right in 0.6
    or more, it equals chance, so that nothing is reported."""
    c = np.asarray(chance, dtype=np.float64)
    return np.where(c < SKILL, c + (1 - c) * np.maximum(SKILL, 1.5 * c), c)


def check_guessing(right: ArrayLike, chance: ArrayLike) -> GuessCheck:
    """Compare one person's answers, in order, with chance.

    right : (k,) probability that each answer is right, by other knowledge: 1 or 0 if the truth is known
    chance : (k,) probability that a guess is right: one over the number of choices, or the share of the answered class
        among them. Answers with 0, or with 0.6 or more, say nothing and are left out
    Raises ValueError for numbers outside [0, 1], or different lengths.
    """
    p, c = np.asarray(right, dtype=np.float64), np.asarray(chance, dtype=np.float64)
    if p.ndim != 1 or p.shape != c.shape:
        raise ValueError(f"right and chance must be vectors of one length. Got shapes {p.shape} and {c.shape}.")
    for name, values in (("right", p), ("chance", c)):
        if (wrong := ~((values >= 0) & (values <= 1))).any():  # also catches NaN
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
    known : None, or (n, m) distributions from other knowledge, such as the truth (1 for one class) or a model; a row of
        zeros if nothing is known. If given, they replace the answers of the others
    Someone who always answers the same class is right as often as that class occurs: chance is its share among the
    candidates, by the known class shares. Rows that no one else has answered say nothing.
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
        said = probabilities_by_answers(read.rows[others], read.who[others], read.masks[others], read.candidates)
        found[name] = _check(read, place, said)
    return found


def probabilities_by_answers(
    rows: IntArray, who: IntArray, masks: BoolArray, candidates: BoolArray, model: DawidSkene | None = None
) -> FloatArray:
    """Return (n, m) class probabilities of each row from these people's answers; zeros if none of them
    answered.

    rows, who, masks, candidates : as for `DawidSkene.fit_masks`, who from 0
    model : fitted to these votes and others of the same people; None: fitted to these votes only
    It is the mean of two models: with a confusion matrix per person, which is overconfident if few people answered a
    row, and with the pooled matrix for everyone.
    """
    model = model or DawidSkene().fit_masks(rows, who, masks, candidates)
    apart = model.posterior_masks(rows, who, masks, candidates)
    strangers = -1 - who  # unused numbers: each of these people is replaced by an average person
    alike = model.posterior_masks(rows, strangers, masks, candidates)
    said = np.bincount(rows, minlength=len(candidates)) > 0
    return np.asarray((apart + alike) / 2 * said[:, None])


def _check(read: CrowdVotes, place: int, known: FloatArray) -> GuessCheck:
    """Check one person's answers. known (n, m) : zeros in rows of which nothing is known"""
    of: IntArray = np.flatnonzero((read.who == place) & (known[read.rows].sum(axis=1) > 0))
    rows, masks = read.rows[of], read.masks[of]
    shown = read.candidates[rows]
    # Add one row spread evenly over all classes: a class that no one has named is not proof of guessing.
    shares = known.sum(axis=0) + 1 / known.shape[1]
    weights = shares * shown
    right = (known[rows] * masks).sum(axis=1) / known[rows].sum(axis=1)
    chance = (weights * masks).sum(axis=1) / weights.sum(axis=1)
    inside = (masks & shown).any(axis=1)
    return check_guessing(np.clip(right[inside], 0, 1), np.clip(chance[inside], 0, 1))


def too_fast(seconds: ArrayLike, others_seconds: ArrayLike) -> PaceCheck:
    """Check whether one person answers too fast to have looked at the rows.

    seconds : (k,) for their answers      others_seconds : (l,) for the others' answers to questions of the same kind
    It is reported if the median is below a third of the others' median and below the time that 95% of the others'
    answers took, with at least 10 answers, and 30 by the others. Medians are used so that breaks do not count. Times
    that are not positive numbers are left out.
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
