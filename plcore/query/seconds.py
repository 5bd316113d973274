"""The cost of a question in seconds, by annotator, form of the question, and number of labels it names.

The cost of labelling is time, not the number of answers. For a person w, a form f and n labels to read, the model

    log seconds = mean + person_w + form_f + slope log n + noise

is fitted by ridge regression around a prior: the maximum a posteriori of a Gaussian model, in which each person's mean
is shrunk towards the overall mean. Forms: "which" (which of these n is it?), "is" (is it k?, n = 1) and "group" (is it
one of these n?). By Hick's law, time grows with the logarithm of the number of choices (Hick, "On the rate of gain of
information", 1952). With the logarithm of seconds it is a power of n, which also grows slowly and cannot fall below 0.

The effect of the form can be estimated only if the form does not depend on the row: if "is it k?" is asked only about
easy rows, the form looks fast. So callers ask some questions in a random form.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray

FORMS = ("which", "is", "group")
"""The forms of a question."""

LONGEST = 300.0
"""Maximum seconds of an answer; a longer time was a break."""

NO_ANSWERS: FloatArray = np.zeros(0)
N_COMMON = 4  # columns of the mean, "is", "group" and the slope


@dataclass(frozen=True)
class SecondsPrior:
    """The prior of seconds before any answer, with standard deviations of log seconds.

    which : "which of these four?" takes 4 s. This is an assumption: it changes with the first answers, and cancels when
        forms are compared
    yes_no : a yes or no about one class takes 0.55 of that. Russakovsky, Li and Fei-Fei (CVPR 2015) found a little more
        than half for pictures: verifying a class against naming one of many
    slope : seconds grow as n ** 0.3. Hick's own times, 0.38 s for two and 0.72 s for ten, give 0.4; some of the time is
        spent on the row, whatever the choices, so 0.3 is assumed
    noise : of one answer around its mean, 0.6: two in three are within a factor of 1.8      person : of people around
        the project's mean, 0.5
    project, form, change : of the mean, of a form's effect and of the slope around the values above. All are assumed;
        their ratios to the noise are the penalties of the ridge
    noise_answers : number of answers at which the observed noise counts as much as the assumed one
    """

    which: float = 4.0
    yes_no: float = 0.55
    slope: float = 0.3
    noise: float = 0.6
    person: float = 0.5
    project: float = 1.0
    form: float = 0.5
    change: float = 0.3
    noise_answers: float = 20.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            flat = name == "slope" and value == 0  # the time may stay the same, but not shrink
            if not np.isfinite(value) or (value <= 0 and not flat):
                least = "of at least 0" if name == "slope" else "above 0"
                raise ValueError(f"{name} of SecondsPrior must be a number {least}. Got {value!r}.")

    @property
    def common(self) -> FloatArray:
        """Return (4,) log seconds of "which" with one choice, the effects of "is" and "group", and the slope."""
        mean = np.log(self.which) - self.slope * np.log(4)
        yes_no = np.log(self.which * self.yes_no) - mean
        return np.array([mean, yes_no, yes_no, self.slope])

    @property
    def penalties(self) -> FloatArray:
        """Return (4,) the penalties of the common effects: the noise variance over their prior variance."""
        return self.noise**2 / np.array([self.project, self.form, self.form, self.change]) ** 2


class SecondsModel:
    """Expected seconds of a question, fitted from answers; before `fit`, or without answers, equal to its
    prior.

    Attributes
    ----------
    mean_ : log seconds of "which" with one choice for an average person      slope_ : as above
    forms_ : {form: effect}, 0 for "which"      people_ : {person: effect}, shrunk to 0
    noise_ : standard deviation of log seconds around their mean
    n_used_, n_dropped_ : number of answers used, and of breaks and times of 0 that were dropped
    """

    def __init__(self, prior: SecondsPrior | None = None) -> None:
        self.prior = prior or SecondsPrior()
        self.fit(NO_ANSWERS, [], [], NO_ANSWERS)

    def fit(
        self, seconds: ArrayLike, people: Sequence[Hashable], forms: Sequence[str], shown: ArrayLike
    ) -> SecondsModel:
        """Fit from scratch on answers, four sequences of one length.

        seconds : (k,) floats; 0, NaN and more than 300 are dropped      people : the annotator of each answer
        forms : each one of `FORMS`      shown : (k,) number of labels the question named, at least 1
        Raises ValueError for other forms, fewer labels, negative seconds, or different lengths.
        """
        taken, places, n = np.asarray(seconds, dtype=np.float64), _places(forms), _numbers(shown)
        if taken.ndim != 1 or not len(taken) == len(people) == len(places) == len(n):
            raise ValueError(
                "seconds, people, forms and shown must be of one length. "
                f"Got {taken.shape}, {len(people)}, {len(places)} and {len(n)}."
            )
        if (taken < 0).any():
            raise ValueError(f"seconds must be at least 0. Got {taken[taken < 0][0]}.")
        kept: BoolArray = (taken > 0) & (taken <= LONGEST)  # also drops NaN
        self.n_used_, self.n_dropped_ = int(kept.sum()), int((~kept).sum())
        names = list(dict.fromkeys(name for name, one in zip(people, kept.tolist(), strict=True) if one))
        place_of = {name: place for place, name in enumerate(names)}
        who = np.array([place_of[name] for name, one in zip(people, kept.tolist(), strict=True) if one], np.int64)
        design, log_seconds = _design(places[kept], n[kept]), np.log(taken[kept])
        common, persons = self._solve(design, who, len(names), log_seconds)
        left = log_seconds - design @ common - persons[who]
        assumed = self.prior.noise_answers
        self.noise_ = float(np.sqrt((left @ left + assumed * self.prior.noise**2) / (len(left) + assumed)))
        self.mean_, self.slope_ = float(common[0]), float(common[3])
        self.forms_ = dict(zip(FORMS, (0.0, float(common[1]), float(common[2])), strict=True))
        self.people_ = dict(zip(names, persons.tolist(), strict=True))
        return self

    def _solve(self, design: FloatArray, who: IntArray, n_people: int, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the common effects (4,) and people's effects (p,), which minimise

            |y - A b - u[who]|^2 + sum_j penalty_j (b_j - prior_j)^2 + penalty |u|^2

        People are eliminated first: their block is diagonal, so no n x p matrix is needed.
        """
        penalty = (self.prior.noise / self.prior.person) ** 2
        prior, penalties = self.prior.common, self.prior.penalties
        y = y - design @ prior  # solve for the change against the prior
        weights = 1.0 / (np.bincount(who, minlength=n_people) + penalty)
        sums = np.array([np.bincount(who, column, n_people) for column in design.T]).reshape(N_COMMON, n_people)
        totals = np.bincount(who, y, n_people)
        left = design.T @ design + np.diag(penalties) - (sums * weights) @ sums.T
        change = np.linalg.solve(left, design.T @ y - (sums * weights) @ totals)
        return prior + change, weights * (totals - change @ sums)

    def expected(self, person: Hashable | None, forms: str | Sequence[str], shown: ArrayLike) -> FloatArray:
        """Return the mean seconds of questions to one person; forms and shown are single values, or sequences
        of one length.

        person : unknown persons and None are average      forms : each one of `FORMS`
        shown : number of labels the question names, at least 1
        It is the mean of a log-normal variable, exp(mean of logs + noise_ ** 2 / 2): total times follow it, not the
        median. Raises ValueError for other forms, or fewer labels.
        """
        effects = np.array([*self.forms_.values()])[_places([forms])[0] if isinstance(forms, str) else _places(forms)]
        own = self.people_.get(person, 0.0)
        logs = self.mean_ + own + effects + self.slope_ * np.log(_numbers(shown))
        return np.asarray(np.exp(logs + self.noise_**2 / 2))


def _places(forms: Sequence[str]) -> IntArray:
    """Return (k,) the places of forms in `FORMS`. Raises ValueError for another form."""
    if unknown := set(forms) - set(FORMS):
        raise ValueError(f"forms must be of {', '.join(map(repr, FORMS))}. Got {sorted(map(repr, unknown))[0]}.")
    return np.array([FORMS.index(form) for form in forms], dtype=np.int64)


def _numbers(shown: ArrayLike) -> FloatArray:
    """Return the numbers of labels as floats. Raises ValueError for fewer than 1."""
    n: AnyArray = np.asarray(shown, dtype=np.float64)
    if not (n >= 1).all():  # also catches NaN
        raise ValueError(f"shown must be numbers of labels, at least 1. Got {n[~(n >= 1)].flat[0]}.")
    return n


def _design(places: IntArray, shown: FloatArray) -> FloatArray:
    """Return (k, 4) the columns of the common effects."""
    return np.column_stack([np.ones(len(places)), places == 1, places == 2, np.log(shown)])
