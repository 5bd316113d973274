"""Compiled transportation problem: every row gets one of its classes, every class as many rows as it has room for.

Shortest augmenting paths between classes (Ahuja, Magnanti and Orlin 1993, section 9.7): a class with too many rows
passes one on, through other classes, to one with too few. Prices of the classes keep the cost of all steps at 0 or
more, so that Dijkstra's algorithm finds the paths; it reads only the rows of the classes on the way and their lists.
Starting from the prices and places of an earlier problem with other costs leaves little to do.
"""

from __future__ import annotations

import numpy as np

from plcore.arrays.types import AnyArray, FloatArray, IntArray
from plcore.kernels.compiled import kernel

SAME = 1e-12  # relative difference of two costs that counts as rounding


@kernel
def first_places(
    starts: IntArray, members: IntArray, costs: FloatArray, outside: float, prices: FloatArray, at: IntArray
) -> None:
    """at[i] = the place of row i with the least costs - prices, or -1 for outside; on ties, the previous place."""
    m = len(prices) - 1
    for i in range(len(at)):
        best, least = -1, outside - prices[m]
        for place in range(starts[i], starts[i + 1]):
            value = costs[place] - prices[members[place]]
            if value < least:
                best, least = place, value
        now = outside - prices[m] if at[i] < 0 else costs[at[i]] - prices[members[at[i]]]
        if not now <= least + SAME * (1.0 + abs(least)):
            at[i] = best


@kernel
def move_row(i: int, old: int, new: int, first: IntArray, following: IntArray, preceding: IntArray) -> None:
    """Move row i from the list of node `old` (-1: from none) to the front of the list of node `new`."""
    if old >= 0:
        if preceding[i] >= 0:
            following[preceding[i]] = following[i]
        else:
            first[old] = following[i]
        if following[i] >= 0:
            preceding[following[i]] = preceding[i]
    preceding[i] = -1
    following[i] = first[new]
    if first[new] >= 0:
        preceding[first[new]] = i
    first[new] = i


@kernel
def place_rows(
    starts: IntArray,
    members: IntArray,
    costs: FloatArray,
    outside: float,
    room: AnyArray,
    prices: FloatArray,
    at: IntArray,
    labels: IntArray,
) -> None:
    """Find the labels (n,) that give class p to exactly room[p] rows at the least total cost.

    starts, members, costs : row i costs costs[p] with class members[p], starts[i] <= p < starts[i + 1]
    outside : cost of any other class, inf for "never", which the lists must then allow
    prices (m + 1,), at (n,) : 0 and -1, or as the last call left them; the place of each row, -1 for outside
    """
    n, m = len(at), len(room)
    prices[m] = prices[0]
    for p in range(m):
        prices[m] = max(prices[m], prices[p])
    first_places(starts, members, costs, outside, prices, at)
    # The rows of each class as lists; node m has the rows with none of their own classes.
    first = np.full(m + 1, -1, dtype=np.int64)
    following = np.full(n, -1, dtype=np.int64)
    preceding = np.full(n, -1, dtype=np.int64)
    excess = np.zeros(m + 1, dtype=np.int64)
    given = np.zeros(m, dtype=np.int64)  # rows of node m that each class takes
    for p in range(m):
        excess[p] = -room[p]
    for i in range(n):
        node = members[at[i]] if at[i] >= 0 else m
        move_row(i, -1, node, first, following, preceding)
        excess[node] += 1
    distance = np.full(m + 1, np.inf)
    parent = np.full(m + 1, -1, dtype=np.int64)
    mover = np.full(m + 1, -1, dtype=np.int64)
    via = np.full(m + 1, -1, dtype=np.int64)
    done = np.zeros(m + 1, dtype=np.bool_)
    front = np.empty(m + 1, dtype=np.int64)  # found: open nodes come first
    source = 0
    while True:
        while source <= m and excess[source] <= 0:
            source += 1
        if source > m:
            break
        front[0], found, waiting = source, 1, 1
        distance[source] = 0.0
        target = -1
        while waiting > 0:
            nearest = 0
            for spot in range(1, waiting):
                if distance[front[spot]] < distance[front[nearest]]:
                    nearest = spot
            node = front[nearest]
            waiting -= 1
            front[nearest], front[waiting] = front[waiting], node
            done[node] = True
            if excess[node] < 0:
                target = node
                break
            i = first[node]
            while i >= 0:
                own = distance[node] - (costs[at[i]] if node < m else outside) + prices[node]
                for place in range(starts[i], starts[i + 1] + 1):
                    inside = place < starts[i + 1]
                    if not inside and outside == np.inf:
                        continue
                    q = members[place] if inside else m
                    reached = own + (costs[place] if inside else outside) - prices[q]
                    if not done[q] and reached < distance[q]:
                        if distance[q] == np.inf:
                            front[found] = front[waiting]
                            front[waiting] = q
                            found += 1
                            waiting += 1
                        distance[q] = max(reached, distance[node])
                        parent[q], mover[q], via[q] = node, i, place if inside else -1
                i = following[i]
            # Rows of node m go to any class at no cost; a class that has some may return them.
            if node == m or given[node] > 0:
                for q in range(0 if node == m else m, m if node == m else m + 1):
                    reached = distance[node] + prices[node] - prices[q]
                    if not done[q] and reached < distance[q]:
                        if distance[q] == np.inf:
                            front[found] = front[waiting]
                            front[waiting] = q
                            found += 1
                            waiting += 1
                        distance[q] = max(reached, distance[node])
                        parent[q], mover[q] = node, -1
        for spot in range(found):
            node = front[spot]
            prices[node] += min(0.0, distance[node] - distance[target])
        q = target
        while q != source:
            p, i = parent[q], mover[q]
            if i >= 0:
                move_row(i, p, q, first, following, preceding)
                at[i] = via[q]
            elif p == m:
                given[q] += 1
            else:
                given[p] -= 1
            q = p
        excess[source] -= 1
        excess[target] += 1
        for spot in range(found):
            distance[front[spot]], done[front[spot]] = np.inf, False
    q = 0
    for i in range(n):
        labels[i] = members[at[i]] if at[i] >= 0 else -1
        if at[i] < 0:
            while given[q] == 0:
                q += 1
            given[q] -= 1
            labels[i] = q
