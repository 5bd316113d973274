"""The seed of a fit: fixed by an int, the next one of a RandomState."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from plcore.arrays.types import draw_seed
from tests.conftest import ROOT


def test_int_random_state_gives_the_same_seed_every_time():
    assert draw_seed(3) == draw_seed(np.int64(3)) == np.random.RandomState(3).randint(2**31 - 1)
    assert draw_seed(3) != draw_seed(4)


def test_random_state_advances_and_none_draws_a_random_seed():
    random, other = np.random.RandomState(3), np.random.RandomState(3)
    assert [draw_seed(random), draw_seed(random)] == other.randint(2**31 - 1, size=2).tolist()
    assert len({draw_seed(None) for _ in range(4)}) > 1


# One BLAS thread while any thread is inside the block. Run in its own process, because the limit is per process.


PROGRAM = """
import threading
import numpy, scipy.linalg  # their BLAS is there before it is limited
from threadpoolctl import threadpool_info, threadpool_limits
from plcore.arrays.threads import one_thread, one_thread_for_good

def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

threadpool_limits(2, user_api="blas")
assert blas_threads() == {2}
entered, leave, seen = threading.Event(), threading.Event(), []

def alongside():
    with one_thread():
        entered.set()
        leave.wait(60)
        seen.append(blas_threads())

other = threading.Thread(target=alongside)
with one_thread():
    other.start()
    assert entered.wait(60)
    leave.set()
    other.join()
    assert seen == [{1}]
    assert blas_threads() == {1}, "the main thread is still inside"
assert blas_threads() == {2}
for event in (entered, leave):
    event.clear()
other = threading.Thread(target=alongside)
with one_thread():
    other.start()
    assert entered.wait(60)
assert blas_threads() == {1}, "the other thread is still inside"
leave.set()
other.join()
threadpool_limits(2, user_api="blas")
one_thread_for_good()
with one_thread():
    assert blas_threads() == {1}
assert blas_threads() == {1}
"""


def test_thread_limit_lasts_from_first_to_last_thread() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
