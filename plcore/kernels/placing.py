"""Compiled search for a selection in which a given label wins. See `plcore.kernels.compiled`.

Deciding whether a label can win is a packing problem, NP-hard if weights differ, yet small: K neighbours, a few
candidates each. A label l is possible if and only if it wins some selection in which *every* voter that may choose l
does: moving such a voter to l raises l and lowers another load. What remains is to place the other voters so that no
load exceeds S = S^max(l). The steps, in this order, each exact if it gives an answer:

1. a fixed load above S: no;
2. greedy: the heaviest voter first, on its least loaded label: yes, if it fits;
3. maximum flow with every voter as heavy as the heaviest: yes, if it fits; as light as the lightest: no, if it
   does not. With equal weights (the case of the paper) the two are one, and this decides;
4. depth-first search with a node budget.

A voter here is an imprecise neighbour with weight; labels are numbered 0, 1, ... among those seen.
"""

from __future__ import annotations

from plcore.arrays.types import BoolArray, IntArray
from plcore.kernels.compiled import kernel

# Compiled maximum flow: whether every voter finds a label with room. See `plcore.kernels.placing`.


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
    """Whether all free voters find a label with at most room[label] of them each; fills `at` if they do.

    Maximum flow by augmenting paths: each voter in turn takes a label, moving others on if it is full.
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


YES, NO, UNDECIDED = 1, 0, -1


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
    """Return the largest load if each voter, heaviest first, takes its least loaded label."""
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

    loads int64 (K + 1, labels) and alive bool (K + 1, K) hold one state per depth, steps int64 (3, K + 1) the voter,
    the number of labels to try and the next one to try. Fills `at` if it succeeds.
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
            # 1) A label that could carry all its voters at once takes them: that costs no other label. Repeat.
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
                # 3) The heaviest voter, on the least demanded label first. Labels with the same load and the same
                # voters have the same outcome, so one of them is enough.
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
    """Return YES with a selection `at`, and its loads, in which `goal` wins; or NO, or UNDECIDED.

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
