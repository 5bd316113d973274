"""Compiled search for exact possible labels (Eq. 5) and what an answer does to them. See `plcore._kernels`.

Deciding whether a label can win is a packing problem, NP-hard when weights differ, yet small: K neighbours, a
few candidates each. A label l is possible if and only if it wins some selection in which *every* voter that
may choose l does: moving such a voter to l raises l and lowers another load. What remains is to place the
other voters so that no load exceeds S = S^max(l). In this order, each exact where it answers:

1. a fixed load above S: no;
2. greedy: the heaviest voter first, on its least loaded label: yes, if it fits;
3. maximum flow with every voter as heavy as the heaviest: yes, if it fits; as light as the lightest: no, if it
   does not. With equal weights (the case of the paper) the two are one, and this decides;
4. depth-first search with a node budget.

A voter here is an imprecise neighbour with weight; labels are numbered 0, 1, ... among those seen.
"""

from __future__ import annotations

import numpy as np

from plcore._kernels import kernel
from plcore._types import AnyArray, BoolArray, IntArray

YES, NO, UNDECIDED = 1, 0, -1


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
    """Voters of a target, heaviest first, and its labels with S^min (base) and S^max (top); returns how many."""
    n_voters, n_labels = 0, 0
    local = np.full(n_classes, -1, dtype=np.int64)
    for slot in range(neighbors.shape[1]):
        row, weight = neighbors[target, slot], weights[target, slot]
        count = 0
        for label in range(n_classes):
            if (masks[row, label >> 6] >> (label & 63)) & 1:
                if local[label] < 0:
                    local[label] = n_labels
                    name[n_labels] = label
                    base[n_labels] = 0
                    top[n_labels] = 0
                    n_labels += 1
                top[local[label]] += weight
                count += 1
        if count >= 2 and weight > 0:
            place = n_voters
            while place > 0 and heavy[place - 1] < weight:
                heavy[place], slot_of[place] = heavy[place - 1], slot_of[place - 1]
                place -= 1
            heavy[place], slot_of[place] = weight, slot
            n_voters += 1
        elif count == 1:
            for label in range(n_classes):
                if (masks[row, label >> 6] >> (label & 63)) & 1:
                    base[local[label]] += weight
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
def spread_evenly(
    n_voters: int,
    n_labels: int,
    heavy: IntArray,
    n_options: IntArray,
    options: IntArray,
    base: IntArray,
    load: IntArray,
) -> int:
    """The largest load when each voter, heaviest first, takes its least loaded label."""
    most = 0
    for label in range(n_labels):
        load[label] = base[label]
        most = max(most, base[label])
    for voter in range(n_voters):
        least = options[voter, 0]
        for option in range(1, n_options[voter]):
            if load[options[voter, option]] < load[least]:
                least = options[voter, option]
        load[least] += heavy[voter]
        most = max(most, load[least])
    return most


@kernel
def flow_fits(
    n_free: int,
    free: IntArray,
    n_labels: int,
    n_options: IntArray,
    options: IntArray,
    room: IntArray,
    at: IntArray,
    wanted_by: IntArray,
    queue: IntArray,
) -> bool:
    """Whether all free voters find a label with at most room[label] of them each; fills `at` when they do.

    Maximum flow by augmenting paths: each voter in turn takes a label, moving others on where it is full.
    """
    for number in range(n_free):
        at[free[number]] = -1
    for number in range(n_free):
        newcomer = free[number]
        wanted_by[:n_labels] = -1
        end = 0
        for option in range(n_options[newcomer]):
            label = options[newcomer, option]
            wanted_by[label] = newcomer
            queue[end] = label
            end += 1
        placed, begin = False, 0
        while begin < end and not placed:
            label = queue[begin]
            begin += 1
            if room[label] > 0:
                room[label] -= 1
                while True:  # along the path: each voter takes the label it wants and frees its own
                    voter = wanted_by[label]
                    freed = at[voter]
                    at[voter] = label
                    if voter == newcomer:
                        break
                    label = freed
                placed = True
            else:
                for other in range(number):
                    voter = free[other]
                    if at[voter] != label:
                        continue
                    for option in range(n_options[voter]):
                        wish = options[voter, option]
                        if wanted_by[wish] < 0:
                            wanted_by[wish] = voter
                            queue[end] = wish
                            end += 1
        if not placed:
            return False
    return True


@kernel
def search(
    limit: int,
    n_free: int,
    free: IntArray,
    n_labels: int,
    heavy: IntArray,
    n_options: IntArray,
    options: IntArray,
    has: BoolArray,
    at: IntArray,
    loads: IntArray,
    alive: BoolArray,
    order: IntArray,
    steps: IntArray,
    demand: IntArray,
    max_nodes: int,
) -> int:
    """Depth first: place the free voters (heaviest first) so that no load exceeds the limit.

    loads int64 (K + 1, labels) and alive bool (K + 1, K) hold one state for each depth, steps int64 (3, K + 1) the
    voter, the number of labels to try and the next one to try. Fills `at` when it succeeds.
    """
    depth, entering, nodes = 0, True, 0
    for number in range(n_free):
        alive[0, number] = True
    while depth >= 0:
        load = loads[depth]
        if entering:
            entering = False
            steps[1, depth] = 0
            steps[2, depth] = 0
            # 1) A label that could carry all its voters at once takes them: nobody loses by that. Repeat.
            helped, left = True, 0
            while helped:
                helped, left = False, 0
                demand[:n_labels] = 0
                for number in range(n_free):
                    if alive[depth, number]:
                        voter = free[number]
                        left += heavy[voter]
                        for option in range(n_options[voter]):
                            demand[options[voter, option]] += heavy[voter]
                for label in range(n_labels):
                    if demand[label] > 0 and load[label] + demand[label] <= limit:
                        for number in range(n_free):
                            if alive[depth, number] and has[free[number], label]:
                                alive[depth, number] = False
                                at[free[number]] = label
                        helped = True
                        break  # the demands have changed
            if left == 0:
                return YES
            # 2) Capacity: the room left on all labels still wanted must hold all the voters left.
            room = 0
            for label in range(n_labels):
                if demand[label] > 0:
                    room += limit - load[label]
            if room >= left:
                # 3) The heaviest voter, on the least demanded label first; labels with the same load and the
                # same voters have the same outcome, so one of them is enough.
                first = 0
                while not alive[depth, first]:
                    first += 1
                voter, count = free[first], 0
                for option in range(n_options[voter]):
                    label = options[voter, option]
                    if load[label] + heavy[voter] > limit:
                        continue
                    new = True
                    for other in range(count):
                        twin = order[depth, other]
                        if load[twin] == load[label]:
                            same = True
                            for number in range(first + 1, n_free):
                                if alive[depth, number]:
                                    same &= has[free[number], twin] == has[free[number], label]
                            new &= not same
                    if new:
                        place = count
                        while place > 0 and (
                            load[order[depth, place - 1]] + demand[order[depth, place - 1]]
                            > load[label] + demand[label]
                        ):
                            order[depth, place] = order[depth, place - 1]
                            place -= 1
                        order[depth, place] = label
                        count += 1
                steps[0, depth] = first
                steps[1, depth] = count
        if steps[2, depth] < steps[1, depth]:
            nodes += 1
            if nodes > max_nodes:
                return UNDECIDED
            label = order[depth, steps[2, depth]]
            steps[2, depth] += 1
            first = steps[0, depth]
            at[free[first]] = label
            for other in range(n_labels):
                loads[depth + 1, other] = load[other]
            loads[depth + 1, label] += heavy[free[first]]
            for number in range(n_free):
                alive[depth + 1, number] = alive[depth, number] and number != first
            depth += 1
            entering = True
        else:
            depth -= 1
    return NO


@kernel
def find_selection(
    goal: int,
    pinned: int,
    answer: int,
    n_voters: int,
    n_labels: int,
    heavy: IntArray,
    n_options: IntArray,
    options: IntArray,
    has: BoolArray,
    base: IntArray,
    top: IntArray,
    max_nodes: int,
    plain_search: bool,
    at: IntArray,
    load: IntArray,
    free: IntArray,
    loads: IntArray,
    alive: BoolArray,
    order: IntArray,
    steps: IntArray,
    work: IntArray,
) -> int:
    """YES and a selection `at` with its loads in which `goal` wins, or NO, or UNDECIDED.

    pinned : a voter that has answered `answer`, not the goal; -1 for none.
    plain_search : skip steps 2 and 3 (the tests compare the two ways).
    """
    limit = top[goal]
    if pinned >= 0 and has[pinned, goal]:
        limit -= heavy[pinned]
    start = loads[0]
    for label in range(n_labels):
        start[label] = base[label]
    if pinned >= 0:
        start[answer] += heavy[pinned]
        at[pinned] = answer
    start[goal] = limit
    for label in range(n_labels):
        if start[label] > limit:
            return NO
    n_free = 0
    for voter in range(n_voters):
        if voter == pinned:
            continue
        if has[voter, goal]:
            at[voter] = goal
        else:
            free[n_free] = voter
            n_free += 1
    found = UNDECIDED
    if not plain_search:
        # 2) Greedy.
        for label in range(n_labels):
            load[label] = start[label]
        fits = True
        for number in range(n_free):
            voter = free[number]
            least = options[voter, 0]
            for option in range(1, n_options[voter]):
                if load[options[voter, option]] < load[least]:
                    least = options[voter, option]
            at[voter] = least
            load[least] += heavy[voter]
            if load[least] > limit:
                fits = False
                break
        if fits:
            return YES
        # 3) Two flows; free voters come heaviest first.
        heaviest, lightest = heavy[free[0]], heavy[free[n_free - 1]]
        room, wanted_by, queue = work[0], work[1], work[2]
        for label in range(n_labels):
            room[label] = (limit - start[label]) // heaviest
        if flow_fits(n_free, free, n_labels, n_options, options, room, at, wanted_by, queue):
            found = YES
        elif heaviest == lightest:
            return NO
        else:
            for label in range(n_labels):
                room[label] = (limit - start[label]) // lightest
            if not flow_fits(n_free, free, n_labels, n_options, options, room, at, wanted_by, queue):
                return NO
    # 4) Search.
    if found != YES:
        found = search(
            limit, n_free, free, n_labels, heavy, n_options, options, has, at, loads, alive, order, steps,
            work[3], max_nodes,
        )  # fmt: skip
    if found == YES:
        for label in range(n_labels):
            load[label] = base[label]
        load[goal] = limit
        for voter in range(n_voters):
            if at[voter] != goal:
                load[at[voter]] += heavy[voter]
    return found


@kernel
def largest_other(goal: int, n_labels: int, load: IntArray) -> int:
    """The largest load but that of the goal."""
    most = 0
    for label in range(n_labels):
        if label != goal:
            most = max(most, load[label])
    return most


@kernel
def still_wins(
    goal: int,
    voter: int,
    answer: int,
    n_labels: int,
    heavy: IntArray,
    at: IntArray,
    load: IntArray,
    most: int,
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
    """Whether an answer of `voter` takes `goal` out of APL (Prop. 4), and with it out of PL."""
    weight, limit = heavy[voter], top[goal]
    if has[voter, goal]:
        limit -= weight
    for label in range(n_labels):
        # Outside its answers the voter leaves everything as it is, unless it leaves the goal.
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
    """Exact possible labels of B targets, or, where state is given, the effects of answers on them.

    With state int64 (B,) and sure, approximate bool (B, K) as `find_effects` fills them: completes `sure` by
    the slots whose answer can change PL (Def. 3). With state empty: fills possible and unknown bool (B, m),
    unknown = undecided labels, which stand in possible too. Returns how many searches stayed undecided.
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
    # Two selections for each label: the one that proved it possible, and the last one found since.
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
            if (
                state[place] & 2 != 0
            ):  # NL is not empty: APL = PL before and after (Prop. 2), so Prop. 4 decides
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
                # In the even selection, with its voters moved to it, it wins even after any one answer.
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
        # 2) Each voter whose answers are not known to change h or NL, against the labels of PL, the weakest
        # first: they are the first to go.
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
                    continue  # wherever it goes
                for option in range(n_options[voter]):
                    answer = options[voter, option]
                    if answer == goal or still_wins(
                        goal,
                        voter,
                        answer,
                        n_labels,
                        heavy,
                        proof[0, goal],
                        proof_load[0, goal],
                        most[0, goal],
                    ):
                        continue
                    if proved[1, goal] and still_wins(
                        goal,
                        voter,
                        answer,
                        n_labels,
                        heavy,
                        proof[1, goal],
                        proof_load[1, goal],
                        most[1, goal],
                    ):
                        continue
                    found = find_selection(
                        goal, voter, answer, n_voters, n_labels, heavy, n_options, options, has, base, top,
                        max_nodes, plain_search, at, load, free, loads, alive, order, steps, work,
                    )  # fmt: skip
                    if found == YES:
                        proved[1, goal] = True
                        proof[1, goal, :n_voters] = at[:n_voters]
                        proof_load[1, goal, :n_labels] = load[:n_labels]
                        most[1, goal] = largest_other(goal, n_labels, load)
                    elif found == NO:
                        changes = True
                        break
                    else:
                        undecided += 1
            sure[place, slot] = changes
    return undecided
