"""First effect scores of more rows than a process can hold, and the queue they make: from neighbours in parts.

The scores are the same integers that `plcore.query.EffectRanker` with rule "apl" sums over the same neighbours, in
another order. All rows with at least two candidates are targets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plcore.arrays.candidate_sets import FEW_CELLS, FEW_CLASSES, CandidateSets
from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.blocks.parts import BlockJob, BlockProgress, WrittenPart, map_part, run_parts, write_names
from plcore.blocks.runner import Runner
from plcore.kernels.scores import SHARE_UNIT
from plcore.neighbors.graph import neighbor_weights
from plcore.neighbors.near import Kept
from plcore.neighbors.search.parts import NeighborParts
from plcore.neighbors.search.parts.exact import within
from plcore.query.effects import Rule, add_all_scores, lanes_for
from plcore.query.possible import MAX_NODES

RULE, DECISION = "apl", "set"


@dataclass(frozen=True)
class Shares(BlockJob):
    """Contribution of one part of neighbours to scores: (row, shares) int64 (2, p), by row.

    candidates : the part with the candidates of all rows, packed, uint8 (n, bytes)
    """

    found: str
    number: int
    candidates: str
    n_classes: int
    weights: str

    def __str__(self) -> str:
        return f"Scoring by the neighbours of part {self.number:,}"


@dataclass(frozen=True)
class FirstOfRange(BlockJob):
    """The best `most` rows among first..end - 1 with at least two candidates: (row, score) int64 (2, t), best first."""

    shares: str
    candidates: str
    first: int
    end: int
    most: int

    def __str__(self) -> str:
        return f"Ordering the rows {self.first:,} to {self.end - 1:,}"


def kept_of(packed: AnyArray, n_classes: int) -> Kept:
    """Return the candidates in the form for the compiled loops, from uint8 (n, bytes): bit l % 8 of byte l // 8 is
    label l."""
    n, width = packed.shape
    if n_classes <= FEW_CLASSES:
        word = np.zeros((n, 8), dtype=np.uint8)
        word[:, :width] = packed
        return word.view("<i8").astype(np.int64)
    step = max(1, FEW_CELLS // n_classes)
    parts = []
    for begin in range(0, n, step):
        bits = np.unpackbits(packed[begin : begin + step], axis=1, count=n_classes, bitorder="little")
        rows, labels = np.nonzero(bits)
        parts.append((rows + begin, labels))
    rows, labels = (np.concatenate(some) for some in zip(*parts, strict=True))
    return CandidateSets.of_pairs(n, n_classes, rows, labels)


def ambiguous_of(packed: AnyArray) -> BoolArray:
    """Return (n,) the rows with at least two candidates."""
    return np.asarray(np.bitwise_count(packed).sum(axis=1) >= 2)


def add_up(job: Shares) -> WrittenPart:
    found = job.read(job.found)
    own = found["row"].astype(np.int64)
    distances = np.hstack([np.zeros((len(own), 1)), np.sqrt(found["squared"])])
    neighbors = np.hstack([own[:, None], found["neighbors"]])
    rows, places = np.unique(neighbors, return_inverse=True)
    graph = places.reshape(neighbors.shape).astype(np.int32)
    weights = neighbor_weights(distances, job.weights)
    packed = job.read(job.candidates)[rows]
    rule = Rule(
        graph, weights, kept_of(packed, job.n_classes), job.n_classes, RULE, DECISION, MAX_NODES, lanes_for(weights)
    )
    targets = np.flatnonzero(ambiguous_of(packed)[graph[:, 0]])
    shares, _ = add_all_scores(rule, targets, np.zeros(graph.shape, dtype=bool), 1)
    some = shares != 0
    return job.write(np.stack([rows[some], shares[some]]))


def order_range(job: FirstOfRange) -> WrittenPart:
    scores = np.zeros(job.end - job.first, dtype=np.int64)
    for part in job.read_each(job.shares):
        rows, shares = within(part, job.first, job.end)
        scores[rows - job.first] += shares  # each row occurs once in a part
    ambiguous = np.flatnonzero(ambiguous_of(job.read(job.candidates)[job.first : job.end]))
    best = ambiguous[np.lexsort((ambiguous, -scores[ambiguous]))[: job.most]]
    return job.write(np.stack([best + job.first, scores[best]]))


def first_ranking(
    runner: Runner,
    found: NeighborParts,
    candidates: str,
    n_classes: int,
    most: int,
    weights: str = "linear",
    progress: BlockProgress | None = None,
) -> tuple[IntArray, FloatArray]:
    """Return the `most` best rows to ask about first, and their scores; ties by row number.

    candidates : as for `Shares`      weights : as for `EffectRanker`
    Raises BlockError, RunnerError.
    """
    folder = found.folder
    adding = [Shares(folder, name, number, candidates, n_classes, weights) for number, name in enumerate(found.names)]
    shares = write_names(folder, run_parts(runner, add_up, adding, "effect scores", progress))
    jobs = [
        FirstOfRange(folder, shares, candidates, first, min(first + found.block, found.n_rows), most)
        for first in range(0, found.n_rows, found.block)
    ]
    ordered = run_parts(runner, order_range, jobs, "queue", progress)
    rows, scores = np.concatenate([map_part(folder / name) for name in ordered], axis=1)
    best = np.lexsort((rows, -scores))[:most]
    return rows[best], scores[best] / float(SHARE_UNIT)
