"""Labels held to the class masses: more rounds of a margin learner, in which no class may take rows that its share of
the candidate sets does not give it.

Without it a class that is in many sets wins most of them, and the next convex step confirms that. M3PL has hard
capacities against it; this is the soft form that `plcore.kernel.PLKernelRidge` has.
"""

from __future__ import annotations

import numpy as np

from plcore.common.types import RoundProgress
from plcore.kernels import softmax_rows
from plcore.labels.masses import ClassMasses
from plcore.labels.weights import prior_labels
from plcore.margin.base import PreparedFit
from plcore.margin.majorise import ConvexStep, Solution

ROUNDS = 4  # of labels and convex steps; more change little


def balance(
    training: PreparedFit,
    solution: Solution,
    scale: float,
    power: float,
    tol: float,
    progress: RoundProgress | None = None,
) -> Solution:
    """ROUNDS times: y_i = arg max over the candidates of soft labels pulled towards the class masses, then the convex
    problem of these labels, in which y_i must beat every other class; from the W of `solution`.

    Soft labels are q_i exp(s_i) inside the sets, a margin of 1 being odds of e; q are the prior weights.
    scale : what the losses are multiplied with      power : of the pull (`ClassMasses.pull`), above 0
    tol : relative duality gap of each convex problem
    `objective` goes on with F under the labels of each round: it may rise, for the labels are not those that lower it.
    """
    problem = training.problem(scale, all_others=True)
    prior = prior_labels(training.candidates) if training.prior is None else training.prior
    masses = ClassMasses.of(prior, training.weights)
    with np.errstate(divide="ignore"):
        favours = np.log(prior)
    W, objective, n_iter, converged = solution.W, list(solution.objective), solution.n_iter, False
    step = ConvexStep(problem, problem.labels(W))
    for number in range(ROUNDS):
        soft = masses.pull(softmax_rows(training.Z @ W.T + favours, training.candidates), power)
        moved = step.relabel(np.where(training.candidates, soft, -1.0).argmax(axis=1))
        if number and not moved:
            converged = True
            break
        W = step.solve(W, tol)
        n_iter += 1
        objective.append(problem.hard(W, step.labels)[0])
        if progress is not None:
            progress(n_iter, objective[-1])
    return Solution(W, objective, n_iter, converged)
