"""One BLAS thread for the solvers.

Their matrix products are a megabyte at a time, thousands in a row. Handing each to a pool of threads costs more than
it saves, and on a busy machine, where the threads wait for one another, made fits 20 times slower.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """BLAS uses one thread inside of this context, in the whole process."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit
