"""Why the compiled loops are fast, the rules they keep, and the decorator that marks them.

A ranking of a million rows is ten million (target, neighbour) pairs with ten labels each. What makes that a
fraction of a second:

* Label sets are bit masks, int64 words of 64 labels: a neighbour's whole answer set is one load.
* Effects (`_kernels_effects`) are computed for 64 targets side by side. Every quantity is an array of 64
  numbers in a row, every step a loop over them without branches, so that the compiler turns it into vector
  instructions; all of it stays in the first-level cache. Where weight sums are below 2**29 the numbers are
  int32, sixteen in one AVX-512 register.
* Nothing of size n x n or T x K x m is ever made; a target's neighbours are read once, in order.
* After an answer an inverted index (row -> its places among the neighbours) leads to the few targets
  concerned; scores change by integer differences and the next question comes from blocked maxima.
* Exact possible labels (`_kernels_possible`) try, from cheap to dear, a greedy placement, two maximum flows
  that sandwich the problem, and only then a search.

Rules:

* A kernel takes arrays, fills arrays, knows no objects and checks nothing; its callers have checked.
* Integers only, so that sums do not depend on order or on the number of threads. Kernels release the GIL.
* One argument type for each parameter (C-contiguous arrays), so that each kernel is compiled once;
  `plcore.compile_kernels` compiles all of them, and the machine code is kept on disk.
* No kernel calls one of another module: Numba notices a change of a source file only for the kernels in it.
* Every kernel has a plain twin in `tests/plcore/plain_query.py` that must agree to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile at the first call, keep the machine code on disk, release the GIL, divide without checks."""
    return cast(F, njit(nogil=True, cache=True, error_model="numpy")(function))
