"""PLKernelRidge: alternate a kernel regression on soft labels with soft labels inside the candidate sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from plcore.arrays.threads import one_thread
from plcore.arrays.types import (
    AnyArray,
    BoolArray,
    FeatureMatrix,
    FloatArray,
    IntArray,
    LabelsLike,
    Matrix,
    MatrixLike,
    RoundProgress,
    draw_seed,
    is_sparse,
)
from plcore.kernel.choice import ALPHAS, Grid, Rows, choose
from plcore.kernel.doubtful import Sets, estimate_outside, read_answered, read_checks, settle_in_doubt, starts_to_try
from plcore.kernel.features import KERNELS, KernelFeatures
from plcore.kernel.file_scores import ScorePool, ScoreRule, WeighedScores, weigh
from plcore.kernel.rounds import TOLERANCE, Rounds, Settled, left_out_accuracy, probability_temperature
from plcore.kernel.smoother import FactoredSmoother, Ridge, Smoother, effects
from plcore.kernel.soft_labels import (
    SoftLabelClassifier,
    fit_scaler,
    imported_labels,
    scaled,
    softmax_inside,
    warn_about_frequent_classes,
)
from plcore.kernels import margins
from plcore.labels.candidates import candidates_among
from plcore.labels.set_masses import SetMasses, as_rows, read_sources, same_sets, sources_by_set
from plcore.labels.training import check_training, check_update
from plcore.labels.weights import ClassMasses, check_candidate_weights, prior_labels

# Too many rows for their features to fit in memory: the regression learns from a sample, and the other rows follow.
#
# Their soft labels use scores of a regression that has not seen them, like the leave-one-out scores of the sample.

MOST_RESIDENT = 200_000  # up to this many rows, all of them train: features of 1,000 points take 800 MB
DRAWN = 50_000
FEW = 50  # up to this many rows of a class, all of them are drawn
BLOCK = 4096  # rows scored at a time


def draw(rows: Rows, seed: int) -> IntArray | None:
    """Draw the rows to learn from, ascending: None for all, else DRAWN rows with weight and all rows of rare
    classes, each with the other rows of its source."""
    candidates = rows.candidates
    if len(candidates) <= MOST_RESIDENT:
        return None
    present = np.flatnonzero(rows.weights > 0)
    drawn = rows.draw(present, DRAWN, np.random.RandomState(seed))
    rare = candidates.sum(axis=0) <= FEW
    needed = present[candidates[np.ix_(present, np.flatnonzero(rare))].any(axis=1)]
    if rows.sources is not None:
        needed = present[np.isin(rows.sources[present], rows.sources[needed])]
    return rows.with_members(np.union1d(drawn, needed))


def follow(
    rows: Rows,
    drawn: IntArray,
    labels: FloatArray,
    rounds: Rounds,
    score: Callable[[FeatureMatrix], FloatArray],
    scaler: TransformerMixin | None,
) -> FloatArray:
    """Return soft labels (n, m) of all rows, given those of the drawn rows (r, m).

    rounds : of the regression      score : its scores (q, m) of rows (q, d)
    scaler : of the rows before they are scored, None for none
    """
    everyone = np.empty(rows.prior.shape)
    everyone[drawn] = labels
    others = np.setdiff1d(np.arange(len(everyone)), drawn, assume_unique=True)
    for start in range(0, len(others), BLOCK):
        part = others[start : start + BLOCK]
        everyone[part] = softmax_inside(score(scaled(scaler, rows.X[part])), rounds.temperature, rows.prior[part])
    left = rows.take(others)
    masses = ClassMasses.of(left.imported, left.weights)
    everyone[others] = masses.pull(everyone[others], rounds.mass)
    sources = None if rounds.sources is None else left.set_masses
    if sources is not None:
        everyone[others] = sources.pull(everyone[others], rounds.set_mass)
    return everyone


@dataclass(eq=False, repr=False)
class PLKernelRidge(SoftLabelClassifier):
    """Kernel ridge regression on soft labels, with leave-one-out scores and class masses.

    Starting from soft labels Q = S/|S|, alternate: F, the leave-one-out scores of a kernel ridge regression on Q, in
    closed form; Q = softmax(F / temperature) inside the sets, its class sums pulled three times towards those of the
    sets as imported, M: Q_ic (M_c / sum_i Q_ic)^class_mass, rows scaled to 1. It ends when no row changes by more than
    0.01, or after max_iter rounds. New rows get the scores F(x) of the regression on the last Q.

    Alternating a kernel ridge regression and soft labels inside the sets follows SURE (Feng and An, AAAI 2019) and
    PL-AGGD (Wang, Li and Zhang, KDD 2019). New here: the scores are leave-one-out, so that the regression cannot
    confirm its own guess; the class masses keep a frequent distractor from taking all rows; and with the set masses,
    rows of one source inform each other (`plcore.labels.set_masses`): a caption's three names belong to its three
    faces. In each round, after the class masses, the sums of a source's soft labels are pulled to the values expected
    from its candidates and answers.

    Parameters
    ----------
    kernel : "rbf" exp(-|x - x'|^2 / 2 s^2), "laplace" exp(-|x - x'|_1 / s), s the mean distance of two training rows;
        "linear"; "auto" chooses between rbf and laplace. For sparse X "auto" is linear.
    alpha : ridge, in units in which the kernel of a row with itself is 1; "auto" chooses among 0.02, 0.1, 0.5 and 2.
    class_mass : power of the pull towards the class masses, 0 none, 1 all the way; "auto" is 0.5, or 0 or 1 if that
        is better by more than one standard error. Masses help with balanced classes, and harm with unbalanced classes
        and large sets. "auto" is chosen by candidate accuracy on three held-out folds, without a clean label.
    set_mass : power of the pull towards the set masses, 0 none, 1 all the way; "auto" is 1 if rows come from
        sources, or 0.5 or 0 if that is better by more than two standard errors. Sources are `groups` of `fit`; without
        these, sources are rows with the same set, if more than half of the neighbouring rows have the same one, beyond
        chance; else there are none. A number is used as given, with rows of the same set if there are no groups. It
        harms if sets were drawn for each row, or depend on its label.
    outside : whether to find rows whose truth is not a candidate (`plcore.kernel.doubtful`). None: every set
        is assumed to hold its truth. "auto": such rows also get soft labels outside their sets, if predictions for
        held-out rows then match their labels more often, by more than two standard errors, and predict their sets no
        worse by more than one, in accuracy and in log probability. Single candidates are doubted at the start if that
        passes the same test and the former does not, if it puts more predictions inside by more than one, or if blind
        checks found them wrong (`single_checks` of `fit`). A number in [0, 1] is used as given: how much single
        candidates are doubted at the start. Made for shortlists of models, which miss the truth of some rows; if sets
        depend on the label, a number may ruin the fit. "auto" for class_mass is then at least 0.5. Refused for more
        than 200,000 rows. Costs up to three times a fit.
    temperature : of the softmax of the rounds, in units of F, which is about 1 for a certain class. "auto" is 0.05, or
        0.15 if class_mass is "auto", too, and the masses can be trusted: rows come from no sources, some class is in so
        few sets that false candidates are not spread evenly over the classes, and labels stay as close to held-out
        predictions (`plcore.kernel.choice`).
    n_components : rows, or features of a linear kernel, up to which the kernel is exact. Beyond that, the kernel goes
        through this many points: centres of k-means for laplace, drawn rows for the others. Memory is n * n_components.
        From 1,000 rows on it uses 0.7 of this many, by normal equations; "auto" settings are then chosen with 200
        points and 5 rounds, and beyond 5,000 rows on a sample of 1,500. Up to 5,000 rows with sources, or whose "auto"
        temperature may be 0.15, keep all points and rounds. More than 200,000 rows are not all kept in memory: the
        regression learns from a sample of 50,000, and the soft labels of the others use its scores. `relabel`, `update`
        and `effect_scores` then refuse.
    max_iter : maximum number of rounds.
    scaling : "standard" z-scores the features (sparse ones are not shifted); None leaves them unchanged; "auto" is
        "standard" for dense X, None for sparse X, which is mostly text with meaningful scales.
    random_state : of folds and points. The default gives the same model for the same data.

    Attributes
    ----------
    classes_ (m,), n_features_in_, candidates_ bool (n, m)
    kernel_, alpha_, class_mass_, set_mass_, temperature_ : as chosen or given; set_mass_ is 0 if rows come from no
        sources.
    candidate_accuracy_ : share of predictions for held-out rows that are inside their sets: on the folds of the choice,
        for the settings chosen, hence a little high; by the leave-one-out scores if nothing was to be chosen.
    probability_temperature_ : temperature of `predict_proba`, at which leave-one-out scores make the sets most
        probable.
    label_distributions_ : (n, m) soft labels of the training rows, 0 outside their sets, except for rows in doubt:
        their argmax is then the label among all classes.
    transduction_ : (n,) the most likely candidate of each training row, ties to the first class.
    outside_ : (n,) how likely the truth of each training row is not a candidate, 0 for answered rows; None for
        outside=None. It is also estimated if the choice doubts no set.
    outside_start_ : how much single candidates were doubted at the start; None if no set is doubted.
    objective_ : largest change of a row in each round, which the rounds reduce; there is no function that they
        minimise. n_iter_; converged_ : whether the last change is below 0.01. If many sets are ambiguous, a few rows
        often still change after 25 rounds.
    rounds_ : all that the rounds use in addition to the candidates (`plcore.kernel.rounds.Rounds`).
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "kernel": [StrOptions({"auto", *KERNELS})],
        "alpha": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "class_mass": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "set_mass": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "outside": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "temperature": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "scaling": [StrOptions({"auto", "standard"}), None],
        "random_state": ["random_state"],
    }

    kernel: str = "auto"
    alpha: float | str = "auto"
    class_mass: float | str = "auto"
    set_mass: float | str = "auto"
    temperature: float | str = "auto"
    n_components: int = 1000
    max_iter: int = 25
    scaling: str | None = "auto"
    random_state: int | np.random.RandomState | None = 0
    outside: float | str | None = None

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        candidate_weights: MatrixLike | None = None,
        imported: LabelsLike | None = None,
        answered: ArrayLike | None = None,
        single_checks: tuple[int, int] | None = None,
        progress: RoundProgress | None = None,
    ) -> PLKernelRidge:
        """Fit on X (n, d), dense or CSR, and y: label vector (n,) or candidate matrix (n, m).

        sample_weight : (n,) s_i >= 0, s_i = 2 is the row twice
        groups : (n,) the source of each row, such as the photo or the recording, by name or number; None or NaN for a
            row that has none. Include all rows of a source: if some are left out, their candidates are expected in the
            remaining rows. Keep a held-out row in its source with sample_weight 0 and its candidates: it does not
            train, but a candidate may belong to it, and it gets soft labels. Its true label is not used, so
            measurements on it stay honest. Give a row without any part in this no source.
        candidate_weights : (n, m) prior weights of the candidates, a shortlist's scores or vote counts; rows are scaled
            to 1, None for even ones. The soft labels start from them, and have them as a factor in every round.
        imported : the candidates (n, m) before rows were answered; the class masses are theirs, by the same weights,
            because answered rows are not a fair sample of the classes. The same holds for the set masses. None: y.
        answered : bool (n,), rows that a person answered, even if the answer is their only candidate: these are never
            doubted. Rows whose candidates differ from the imported ones count as answered anyway
        single_checks : (wrong, checked) of rows with one candidate, drawn at random and checked by a person. With ten
            or more they decide outside="auto": if at least 0.2 are wrong, that share is how much such rows are doubted
            at first
        progress : called with (round, largest change) after every round of the choice and of the fit; an exception in
            it ends the fit
        Warns (UserWarning) if a class is in more than 0.97 of the sets. Raises CandidateError for candidates or their
        weights that break the convention, ValueError for wrong features, weights, groups or parameters.
        """
        X, candidates, classes, weights = check_training(self, X, y, sample_weight)
        given = check_candidate_weights(candidate_weights, candidates.shape, classes)
        prior = prior_labels(candidates, given)
        before = prior
        if imported is not None:
            before = imported_labels(imported, candidates.shape, classes, given)
        warn_about_frequent_classes(candidates, classes)
        checks, told = read_checks(single_checks), read_answered(answered, prior, before)
        rows = Rows(X, candidates, prior, before, weights, answered=told)
        rows = replace(rows, sources=self._find_sources(groups, rows))
        seed = draw_seed(self.random_state)
        drawn = draw(rows, seed)
        if drawn is not None and self.outside is not None:
            raise ValueError(
                f"outside={self.outside!r} needs all training rows, up to {MOST_RESIDENT:,}. Got {len(candidates):,}. "
                "Fix: fit fewer rows, or outside=None."
            )
        with one_thread():
            self._fit(rows if drawn is None else rows.take(drawn), classes, seed, checks, progress)
            if drawn is not None:
                labels = follow(rows, drawn, self.label_distributions_, self.rounds_, self._score_rows, self._scaler)
                self._keep(candidates, prior, labels)
        self._candidate_weights, self._sources = given, rows.sources
        return self

    def _find_sources(self, groups: ArrayLike | None, rows: Rows) -> IntArray | None:
        """Return (n,) the source of each row, None if set masses are off or no sources are found."""
        imported = rows.imported > 0
        if groups is not None:
            sources = read_sources(groups, len(imported))  # validate groups even if they are not used
            return None if self.set_mass == 0 else sources
        if self.set_mass == "auto":
            return sources_by_set(imported, rows.X, rows.weights)
        return same_sets(imported, rows.weights) if float(self.set_mass) > 0 else None

    def _fit(
        self, rows: Rows, classes: AnyArray, seed: int, checks: tuple[int, int] | None, progress: RoundProgress | None
    ) -> None:
        """Fit on validated rows."""
        scaler = fit_scaler(self.scaling, rows.X, rows.weights)
        rows = replace(rows, X=scaled(scaler, rows.X))
        chosen = choose(rows, self._grid(rows.X, checks), seed, progress)
        many = rows.are_many
        features = KernelFeatures(chosen.kernel, self.n_components, plain=many)
        Z = features.fit(rows.X, rows.weights, np.random.RandomState(seed))
        smoother: Smoother | FactoredSmoother
        if many:
            smoother = FactoredSmoother(Z, rows.weights, chosen.alpha, features.penalty)
            ridge = smoother.ridge()
        else:
            smoother = Smoother(Z, rows.weights)
            ridge = smoother.ridge(chosen.alpha)
        del Z
        masses = ClassMasses.of(rows.imported, rows.weights)
        sources = rows.set_masses if chosen.set_mass > 0 else None
        set_mass = 0.0 if sources is None else chosen.set_mass
        rounds = Rounds(ridge, masses, chosen.mass, chosen.temperature, sources, set_mass)
        self.outside_start_ = chosen.doubt
        settled = self._settle(rounds, rows.sets, progress)
        self._scaler, self._features, self._smoother = scaler, features, smoother
        self.kernel_, self.alpha_, self.class_mass_ = chosen.kernel, chosen.alpha, chosen.mass
        self.set_mass_, self.temperature_ = set_mass, chosen.temperature
        self.classes_ = classes
        self._take(rows.candidates, rows.prior, settled)
        self.candidate_accuracy_ = chosen.accuracy
        if np.isnan(chosen.accuracy):
            self.candidate_accuracy_ = left_out_accuracy(ridge, settled.labels, rows.candidates)
        self._calibrate(ridge, settled.labels, rows.candidates)

    def _settle(self, rounds: Rounds, sets: Sets, progress: RoundProgress | None) -> Settled:
        """Run the rounds to the end, with or without doubts; set `rounds_` and `outside_`."""
        self.outside_ = None
        if self.outside_start_ is None:
            settled = rounds.settle(sets.prior, self.max_iter, progress=progress)
            if self.outside is not None:
                scores = rounds.ridge.left_out_scores(settled.labels)
                found = estimate_outside(scores, sets.candidates, rounds.ridge.weights, sets.open)
                self.outside_ = found.outside
        else:
            rounds, settled, self.outside_ = settle_in_doubt(rounds, sets, self.outside_start_, self.max_iter, progress)
        self.rounds_ = rounds
        return settled

    def _calibrate(self, ridge: Ridge, labels: FloatArray, candidates: BoolArray) -> None:
        self.probability_temperature_ = probability_temperature(ridge, labels, candidates, self.temperature_)

    def _grid(self, X: Matrix, checks: tuple[int, int] | None) -> Grid:
        """Return the grid of the parameters left open, for rows like X."""
        kernels: tuple[str, ...] = (self.kernel,)
        if self.kernel == "auto":
            kernels = ("linear",) if is_sparse(X) else ("rbf", "laplace")
        alphas = ALPHAS if self.alpha == "auto" else (float(self.alpha),)
        mass = None if self.class_mass == "auto" else float(self.class_mass)
        set_mass = None if self.set_mass == "auto" else float(self.set_mass)
        doubts: tuple[float, ...] = ()
        if self.outside == "auto":
            doubts, doubt = starts_to_try(checks)
        else:
            doubt = None if self.outside is None else float(self.outside)
        temperature = None if self.temperature == "auto" else float(self.temperature)
        sizes = temperature, self.max_iter, self.n_components
        return Grid(kernels, alphas, mass, set_mass, *sizes, doubt, doubts)

    def _take(self, candidates: BoolArray, prior: FloatArray, settled: Settled) -> None:
        """Store these candidates, their soft labels, and the attributes that follow from them."""
        ridge = self.rounds_.ridge
        self._keep(candidates, prior, settled.labels)
        self.objective_ = np.array(settled.changes)
        self.n_iter_, self.converged_ = len(settled.changes), settled.converged
        self._outer, self._shift = self._smoother.weights_of(ridge, settled.labels)
        self._possible = np.asarray((prior[ridge.weights > 0] > 0).any(axis=0))

    def _keep(self, candidates: BoolArray, prior: FloatArray, labels: FloatArray) -> None:
        self.candidates_, self._prior, self.label_distributions_ = candidates, prior, labels
        self.transduction_ = self.classes_[np.where(candidates, labels, -1.0).argmax(axis=1)]

    def _check_resident(self) -> None:
        """Raise ValueError if the features of the training rows are not in memory."""
        check_is_fitted(self)
        if len(self.candidates_) > len(self.rounds_.ridge.rows):
            raise ValueError(
                f"The features of more than {MOST_RESIDENT:,} training rows are not kept, so what was learnt cannot be "
                f"changed row by row. Got {len(self.candidates_):,} rows. Fix: refit."
            )

    def relabel(
        self,
        y: LabelsLike,
        *,
        candidate_weights: MatrixLike | None = None,
        imported: LabelsLike | None = None,
        answered: ArrayLike | None = None,
        progress: RoundProgress | None = None,
    ) -> PLKernelRidge:
        """Fit again to other candidates (n, m) of the same rows, with the chosen kernel, ridge and masses.

        Gives bit for bit what `fit` gives with kernel=kernel_, alpha=alpha_, class_mass=class_mass_,
        set_mass=set_mass_, temperature=temperature_ and, if it is not None, outside=outside_start_ on the same rows,
        weights and sources, but only costs the rounds. y : candidate matrix; the other arguments and the errors are
        those of `fit`. Nothing changes when an error is raised.
        """
        self._check_resident()
        n = len(self.candidates_)
        _, candidates = check_update(np.arange(n), y, n, self.classes_)
        given = check_candidate_weights(candidate_weights, candidates.shape, self.classes_)
        prior = prior_labels(candidates, given)
        before = prior
        if imported is not None:
            before = imported_labels(imported, candidates.shape, self.classes_, given)
        warn_about_frequent_classes(candidates, self.classes_)
        told = read_answered(answered, prior, before)
        with one_thread():
            masses = ClassMasses.of(before, self.rounds_.ridge.weights)
            rounds = replace(self.rounds_, masses=masses, doubts=None)
            if self._sources is not None and self.set_mass_ > 0:
                weights = self.rounds_.ridge.weights
                rounds = replace(rounds, sources=SetMasses.among(self._sources, before, candidates, as_rows(weights)))
            sets = Sets(candidates, prior, before, told, self._sources)
            settled = self._settle(rounds, sets, progress)
            self._take(candidates, prior, settled)
            self._candidate_weights = given
            self.candidate_accuracy_ = left_out_accuracy(rounds.ridge, settled.labels, candidates)
            self._calibrate(rounds.ridge, settled.labels, candidates)
        return self

    def update(self, rows: ArrayLike, candidates: LabelsLike) -> IntArray:
        """Replace the candidates of some training rows, after answers or undo, and update the model by three warm
        rounds.

        Settings, points, class masses and the weights of rows and candidates stay those of the fit; set masses include
        the answers, and these rows are no longer doubted. The rounds continue from the last soft labels instead of
        starting fresh: nearly all predictions are the same. Costs some milliseconds per thousand rows.
        `candidate_accuracy_` and `probability_temperature_` stay, too.

        rows : (r,) distinct row numbers, or one      candidates : (r, m) as in `fit`, or (m,) for one row
        Returns the rows, ascending, whose soft labels changed by 0.01 or more. Nothing changes when an error is raised:
        ValueError for wrong rows, CandidateError for wrong candidates.
        """
        self._check_resident()
        chosen, new = check_update(rows, candidates, len(self.candidates_), self.classes_)
        left, prior, before = self.candidates_.copy(), self._prior.copy(), self.label_distributions_
        given = None if self._candidate_weights is None else self._candidate_weights[chosen]
        left[chosen], prior[chosen] = new, prior_labels(new, given)
        with one_thread():
            self.rounds_ = self.rounds_.answered(left, chosen)
            self._take(left, prior, self.rounds_.update(before, chosen, prior))
        if self.outside_ is not None:
            self.outside_ = self.outside_.copy()
            self.outside_[chosen] = 0.0
        return np.flatnonzero(np.abs(self.label_distributions_ - before).sum(axis=1) >= TOLERANCE)

    def weigh_scores(self, checks: tuple[MatrixLike, LabelsLike, MatrixLike, ArrayLike] | None = None) -> WeighedScores:
        """Choose how much the `candidate_weights` of the fit count for the labels of the training rows;
        return the rule and the labels.

        In the rounds, they are a factor next to a sharp softmax, which overrules scores that are nearly always right.
        This method chooses among the rounds, a pool whose temperature and power are fitted without true labels, and the
        scores alone (`plcore.kernel.file_scores`). Nothing of the fitted model changes.
        checks : (X (c, d), candidates (c, m), weights (c, m), true labels (c,)) of rows that did not train; ten or more
            choose the rule. None: the agreement of the scores with left-out predictions chooses it.
        Raises ValueError if the fit had no weights or did not store the features, CandidateError for wrong candidates
        or weights.
        """
        self._check_resident()
        if self._candidate_weights is None:
            raise ValueError(
                "There are no scores to weigh: the fit had no candidate_weights. Fix: pass them to fit or relabel."
            )
        told = None
        if checks is not None:
            X, y, weights, truth = checks
            inside = candidates_among(y, self.classes_)
            given = check_candidate_weights(weights, inside.shape, self.classes_)
            own = self._scores(X) / self.rounds_.temperature
            columns = pd.Index(self.classes_).get_indexer(pd.Index(np.asarray(truth)))
            told = own, prior_labels(inside, given), columns.astype(np.int64)
        with one_thread():
            rounds, labels = self.rounds_, self.label_distributions_
            even = prior_labels(self.candidates_)
            own = rounds.class_scores(labels, even)
            pool = ScorePool.fit(own, self._prior)
            if not pool.tells and pool.power < 1:
                # The scores are unrelated to the rows, so the rounds must not use them either.
                labels = rounds.settle(even, self.max_iter).labels
                own = rounds.class_scores(labels, even)
                return WeighedScores(ScoreRule.IGNORED, labels, pool, {})
            weighed = weigh(own, self._prior, pool, told)
        return replace(weighed, labels=labels) if weighed.rule is ScoreRule.ROUNDS else weighed

    def coordinates(self, X: Matrix) -> FloatArray:
        """Return the coordinates (q, r) of rows X (q, d) in the axes of the regression, like
        `rounds_.ridge.rows` for the training rows.

        `rounds_.ridge.scores(label_distributions_, ...)` of them are their current scores, even after `relabel` and
        `update`: so the kernel of rows that are scored repeatedly is computed only once.
        """
        check_is_fitted(self)
        Z = self._features.transform(self._read_rows(X))
        return np.asarray(self._smoother.turn(Z, self.rounds_.ridge.rows.dtype))

    def effect_scores(self) -> FloatArray:
        """Return (n,) how much an answer about each training row would move the predictions of uncertain
        rows.

        effect_i = u_i sum_j |H_ji| u_j, u = 1 - margin of `label_distributions_`, H the smoother: its column i is the
        effect on every row of a change of row i. 0 if one candidate is left. The sum runs over the 1,000 most uncertain
        rows.
        """
        self._check_resident()
        with one_thread():
            return effects(self.rounds_.ridge, 1.0 - margins(self.label_distributions_))

    def _score_rows(self, X: FeatureMatrix) -> FloatArray:
        return np.asarray(self._features.transform(X) @ self._outer + self._shift)

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        """Return softmax(F / probability_temperature_)."""
        even = np.broadcast_to(self._possible.astype(float), scores.shape)
        return softmax_inside(scores, self.probability_temperature_, even)
