"""Compiled loop for exact possible labels (Eq. 5) and what an answer does to them. See `plcore.kernels.compiled`.

`plcore.kernels.placing` explains how a label is proved possible. The proving selection is stored: after most answers of
a voter the label still wins in it, or in the last one found, without another search. A voter here is an imprecise
neighbour with weight; labels are numbered 0, 1, ... among those seen.
"""

from __future__ import annotations

import numpy as np

from plcore.arrays.types import AnyArray, BoolArray, IntArray
from plcore.kernels.compiled import kernel
from plcore.kernels.placing import NO, UNDECIDED, YES, find_selection, spread_evenly


@kernel
def read_target(
    target: int,
    neighbors: AnyArray,
    weights: IntArray,
    masks: IntArray,
    n_classes: int,
    slot_of: IntArray,
    heavy: IntArray,
    n_options: IntArray,
    options: IntArray,
    has: BoolArray,
    base: IntArray,
    top: IntArray,
    name: IntArray,
) -> tuple[int, int]:
    """Read the voters of a target, heaviest first, and its labels with S^min (base) and S^max (top); returns how many
    of each."""
    n_voters, n_labels = 0, 0
    local = np.full(n_classes, -1, dtype=np.int64)
    for slot in range(neighbors.shape[1]):
        row, weight = neighbors[target, slot], weights[target, slot]
        count, last = 0, 0
        for label in range(n_classes):
            if (masks[row, label >> 6] >> (label & 63)) & 1:
                if local[label] < 0:
                    local[label] = n_labels
                    name[n_labels] = label
                    base[n_labels] = 0
                    top[n_labels] = 0
                    n_labels += 1
                last = local[label]
                top[last] += weight
                count += 1
        if count >= 2 and weight > 0:
            place = n_voters
            while place > 0 and heavy[place - 1] < weight:
                heavy[place], slot_of[place] = heavy[place - 1], slot_of[place - 1]
                place -= 1
            heavy[place], slot_of[place] = weight, slot
            n_voters += 1
        elif count == 1:
            base[last] += weight
    for voter in range(n_voters):
        row = neighbors[target, slot_of[voter]]
        n_options[voter] = 0
        for label in range(n_labels):
            inside = (masks[row, name[label] >> 6] >> (name[label] & 63)) & 1 != 0
            has[voter, label] = inside
            if inside:
                options[voter, n_options[voter]] = label
                n_options[voter] += 1
    return n_voters, n_labels


@kernel
def largest_other(goal: int, n_labels: int, load: IntArray) -> int:
    """Return the largest load of the labels other than the goal."""
    most = 0
    for label in range(n_labels):
        if label != goal:
            most = max(most, load[label])
    return most


@kernel
def still_wins(
    goal: int, voter: int, answer: int, n_labels: int, heavy: IntArray, at: IntArray, load: IntArray, most: int
) -> bool:
    """Whether `goal` still wins this selection when `voter` changes to `answer`: a proof without a new search.

    most : the largest of the other loads
    """
    weight, was = heavy[voter], at[voter]
    if was == answer:
        return True
    limit = load[goal]
    if was == goal:
        limit -= weight
    if load[answer] + weight > limit:
        return False
    if most <= limit:
        return True
    for label in range(n_labels):
        if label != goal and label != was and load[label] > limit:
            return False
    return was == goal or bool(load[was] - weight <= limit)


@kernel
def drops_at_once(
    goal: int, voter: int, n_labels: int, heavy: IntArray, has: BoolArray, base: IntArray, top: IntArray
) -> bool:
    """Whether an answer of `voter` removes `goal` from APL (Prop. 4), and so from PL."""
    weight, limit = heavy[voter], top[goal]
    if has[voter, goal]:
        limit -= weight
    for label in range(n_labels):
        # With an answer outside its candidates, the voter changes nothing, unless it leaves the goal.
        moves = has[voter, label] or has[voter, goal]
        if label != goal and moves and base[label] + (weight if has[voter, label] else 0) > limit:
            return True
    return False


@kernel
def search_effects(
    targets: IntArray,
    neighbors: AnyArray,
    weights: IntArray,
    masks: IntArray,
    n_classes: int,
    max_nodes: int,
    plain_search: bool,
    state: IntArray,
    sure: BoolArray,
    approximate: BoolArray,
    possible: BoolArray,
    unknown: BoolArray,
) -> int:
    """Find the exact possible labels of B targets, or, if state is given, the effects of answers on them.

    With state int64 (B,) and sure, approximate bool (B, K) as `find_effects` fills them: adds to `sure` the slots whose
    answer can change PL (Def. 3). With state empty: fills possible and unknown bool (B, m), unknown = undecided labels,
    which are in possible too. Returns how many searches stayed undecided.
    """
    width = neighbors.shape[1]
    slot_of, heavy = np.empty(width, dtype=np.int64), np.empty(width, dtype=np.int64)
    n_options, options = np.empty(width, dtype=np.int64), np.empty((width, n_classes), dtype=np.int64)
    has = np.empty((width, n_classes), dtype=np.bool_)
    base, top = np.empty(n_classes, dtype=np.int64), np.empty(n_classes, dtype=np.int64)
    name, free = np.empty(n_classes, dtype=np.int64), np.empty(width, dtype=np.int64)
    loads = np.empty((width + 1, n_classes), dtype=np.int64)
    alive = np.empty((width + 1, width), dtype=np.bool_)
    order, steps = np.empty((width + 1, n_classes), dtype=np.int64), np.empty((3, width + 1), dtype=np.int64)
    work = np.empty((4, n_classes), dtype=np.int64)
    # Two selections per label: the one that proved it possible, and the last one found since.
    proof = np.empty((2, n_classes, width), dtype=np.int64)
    proof_load = np.empty((2, n_classes, n_classes), dtype=np.int64)
    proved = np.empty((2, n_classes), dtype=np.bool_)
    most = np.empty((2, n_classes), dtype=np.int64)
    goals = np.empty(n_classes, dtype=np.int64)
    at, load = np.empty(width, dtype=np.int64), np.empty(n_classes, dtype=np.int64)
    effects = len(state) > 0
    undecided = 0
    for place in range(len(targets)):
        if effects:
            if state[place] & 4 == 0:  # |APL| = 1: settled whatever is answered
                continue
            if state[place] & 2 != 0:  # NL is not empty: APL = PL before and after (Prop. 2), so Prop. 4 decides
                for slot in range(width):
                    sure[place, slot] |= approximate[place, slot]
                continue
        n_voters, n_labels = read_target(
            targets[place], neighbors, weights, masks, n_classes, slot_of, heavy, n_options, options, has, base,
            top, name,
        )  # fmt: skip
        # 1) PL, with a selection that proves each of its labels.
        largest, second, floor = -1, -1, -1
        for label in range(n_labels):
            second = max(second, min(largest, top[label]))
            largest = max(largest, top[label])
            floor = max(floor, base[label])
        decided = False
        for label in range(n_labels):
            decided |= base[label] >= (second if top[label] == largest else largest)
        spread = spread_evenly(n_voters, n_labels, heavy, n_options, options, base, load)
        for label in range(n_labels):
            proved[0, label] = False
            proved[1, label] = False
            if top[label] < floor:
                continue
            if not plain_search and spread + (2 * heavy[0] if n_voters else 0) <= top[label]:
                # In the even selection with all its voters moved to it, the label still wins after any single answer.
                if not effects:
                    possible[place, name[label]] = True
                continue
            if decided and not effects:
                possible[place, name[label]] = True
                continue
            found = find_selection(
                label, -1, -1, n_voters, n_labels, heavy, n_options, options, has, base, top, max_nodes,
                plain_search, proof[0, label], proof_load[0, label], free, loads, alive, order, steps, work,
            )  # fmt: skip
            proved[0, label] = found == YES
            if found == UNDECIDED:
                undecided += 1
            if not effects:
                possible[place, name[label]] = found != NO
                unknown[place, name[label]] = found == UNDECIDED
        if not effects:
            continue
        # 2) Each voter whose answers are not known to change h or NL, against the labels of PL, the weakest first,
        # because they drop out first.
        n_goals = 0
        for goal in range(n_labels):
            if proved[0, goal]:
                most[0, goal] = largest_other(goal, n_labels, proof_load[0, goal])
                spot = n_goals
                while spot > 0 and top[goals[spot - 1]] > top[goal]:
                    goals[spot] = goals[spot - 1]
                    spot -= 1
                goals[spot] = goal
                n_goals += 1
        for voter in range(n_voters):
            slot, weight = slot_of[voter], heavy[voter]
            changes = sure[place, slot]
            for number in range(n_goals):
                if changes:
                    break
                changes = drops_at_once(goals[number], voter, n_labels, heavy, has, base, top)
            for number in range(n_goals):
                if changes:
                    break
                goal = goals[number]
                limit = top[goal] - (weight if has[voter, goal] else 0)
                if most[0, goal] + weight <= limit:
                    continue  # wherever it moves
                for option in range(n_options[voter]):
                    answer = options[voter, option]
                    if answer == goal or still_wins(
                        goal, voter, answer, n_labels, heavy, proof[0, goal], proof_load[0, goal], most[0, goal]
                    ):
                        continue
                    if proved[1, goal] and still_wins(
                        goal, voter, answer, n_labels, heavy, proof[1, goal], proof_load[1, goal], most[1, goal]
                    ):
                        continue
                    found = find_selection(
                        goal, voter, answer, n_voters, n_labels, heavy, n_options, options, has, base, top,
                        max_nodes, plain_search, at, load, free, loads, alive, order, steps, work,
                    )  # fmt: skip
                    if found == YES:
                        proved[1, goal] = True
                        # Not as slices: Numba would compile messages about their shapes, for seconds.
                        for i in range(n_voters):
                            proof[1, goal, i] = at[i]
                        for i in range(n_labels):
                            proof_load[1, goal, i] = load[i]
                        most[1, goal] = largest_other(goal, n_labels, load)
                    elif found == NO:
                        changes = True
                        break
                    else:
                        undecided += 1
            sure[place, slot] = changes
    return undecided
