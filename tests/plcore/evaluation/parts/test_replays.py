"""Replays in blocks equal `replay` bit for bit, whichever process makes them; how runs are joined."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from plcore.blocks import BlockError, BlockJob, Blocks, Inline
from plcore.evaluation import ReplayedRuns, replay, replay_in_blocks, replays
from plcore.evaluation.comparison import keep_array, keep_features, kept_features
from plcore.evaluation.replays import ReplayJob


def told(found: tuple[ReplayedRuns, ...]) -> list[tuple[str, list[int], list[list[float]]]]:
    return [(one.strategy, one.answers.tolist(), one.errors.tolist()) for one in found]


@pytest.mark.dask
def test_replays_are_identical_in_one_process_a_pool_and_a_cluster(some_rows: Any, each_runner: list[Blocks]) -> None:
    found, kept = [], []
    for blocks in each_runner:
        found.append(told(replay_in_blocks(blocks, *some_rows, runs=3)))
        kept.append({path.name: path.read_bytes() for path in blocks.folder.glob("*")})
    assert found[0] == found[1] == found[2]
    assert kept[0] == kept[1] == kept[2]


def test_run_is_a_replay_on_rows_drawn_by_its_number(some_rows: Any, tmp_path: Path) -> None:
    X, candidates, truth = some_rows
    (found,) = replay_in_blocks(Blocks(Inline(), tmp_path), X, candidates, truth, ["random"], runs=2, budget=30, seed=4)
    assert found.answers.tolist() == list(range(0, 31, 3))
    assert found.errors.shape == (2, 11)
    assert not np.array_equal(*found.errors)
    drawn = np.random.default_rng([4, 1]).permutation(90)
    test, train = np.sort(drawn[:27]), np.sort(drawn[27:])
    own = replay(
        X[train],
        candidates[train],
        truth[train],
        X[test],
        truth[test],
        strategy="random",
        budget=30,
        every=3,
        random_state=int(np.random.default_rng([4, 1, 1]).integers(2**31)),
    )
    assert found.errors[1].tolist() == own.errors.tolist()


def test_strategies_are_measured_on_the_same_rows(some_rows: Any, tmp_path: Path) -> None:
    """Before the first answer there is no difference between them."""
    one, other = replay_in_blocks(Blocks(Inline(), tmp_path), *some_rows, ["apl", "random"], runs=3)
    assert one.errors[:, 0].tolist() == other.errors[:, 0].tolist()
    assert one.answers[-1] == 6, "a tenth of the 63 rows that can be asked about"


def test_existing_runs_are_not_rebuilt(some_rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[ReplayJob] = []

    def counted(job: ReplayJob) -> Any:
        made.append(job)
        return real(job)

    real = replays.replay_once
    monkeypatch.setattr(replays, "replay_once", counted)
    blocks, seen = Blocks(Inline(), tmp_path), []
    first = told(replay_in_blocks(blocks, *some_rows, ["apl"], runs=2, progress=lambda *one: seen.append(one)))
    assert seen == [("runs", 0, 2), ("runs", 1, 2), ("runs", 2, 2)]
    again = told(replay_in_blocks(blocks, *some_rows, ["apl", "random"], runs=3))
    assert [(job.strategy, job.repetition) for job in made[2:]] == [
        ("random", 0),
        ("random", 1),
        ("apl", 2),
        ("random", 2),
    ]
    assert again[0][2][:2] == first[0][2]


def test_curve_ends_when_a_run_has_nothing_left_to_ask(some_rows: Any, tmp_path: Path) -> None:
    X, candidates, truth = some_rows
    few = candidates.copy()
    few[20:] = np.eye(4, dtype=bool)[truth[20:]]  # 20 ambiguous rows are left, some of them held out
    (found,) = replay_in_blocks(Blocks(Inline(), tmp_path), X, few, truth, ["apl"], runs=4, budget=40)
    assert 0 < found.answers[-1] < 20
    assert (np.diff(found.answers) > 0).all()
    assert found.errors.shape == (4, len(found.answers))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"strategies": ["best"]}, "There is no strategy 'best'; there are "),
        ({"learner": "best"}, "There is no learner 'best'"),
        ({"runs": 0}, "runs must be an int of at least 1"),
        ({"budget": 64}, "from 1 to the 63 rows"),
        ({"budget": 1.5}, r"Got 1\.5 and 90 rows"),
        ({"budget": 0.0}, "budget must be"),
    ],
)
def test_wrong_arguments_are_refused(some_rows: Any, tmp_path: Path, options: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replay_in_blocks(Blocks(Inline(), tmp_path), *some_rows, **options)
    assert not list(tmp_path.iterdir())


def test_too_few_rows_are_refused(some_rows: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="rows at least 20"):
        replay_in_blocks(Blocks(Inline(), tmp_path), *(one[:19] for one in some_rows), budget=3)


def test_failed_run_is_named(some_rows: Any, tmp_path: Path) -> None:
    with pytest.raises(BlockError, match="Run 1 by moves cannot be done: "):
        replay_in_blocks(Blocks(Inline(), tmp_path), *some_rows, ["moves"])


# Rows as part files: read as they were written, under the name of their content.


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
def test_array_round_trips(tmp_path: Path, order: str, dtype: type) -> None:
    array = np.asarray(np.random.default_rng(0).normal(size=(7, 3)) > 0, dtype=dtype, order=order)  # type: ignore[call-overload]
    found = BlockJob(tmp_path).read(keep_array(tmp_path, array))
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype
    assert found.flags.f_contiguous == array.flags.f_contiguous, "sums go the way that rows lie"


def test_equal_arrays_share_a_name_and_are_written_once(tmp_path: Path) -> None:
    array = np.arange(12.0).reshape(4, 3)
    name = keep_array(tmp_path, array)
    written = (tmp_path / name).stat().st_mtime_ns
    assert keep_array(tmp_path, np.ascontiguousarray(array[::-1])[::-1]) == name
    assert (tmp_path / name).stat().st_mtime_ns == written
    others = [array + 1, array.astype(np.float32), array.reshape(3, 4), np.asfortranarray(array), array[:2]]
    assert len({name, *(keep_array(tmp_path, other) for other in others)}) == 6


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_features_stay_dense_or_sparse(tmp_path: Path, form: object) -> None:
    X = form(np.random.default_rng(0).poisson(0.4, size=(9, 5)).astype(float))  # type: ignore[operator]
    found = kept_features(BlockJob(tmp_path), keep_features(tmp_path, X))
    assert type(found) is type(X)
    assert found.shape == X.shape
    assert abs(found - X).sum() == 0
    assert abs(found[np.array([3, 1])] - X[np.array([3, 1])]).sum() == 0


def test_other_sparse_forms_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"X must be dense or CSR .* Got coo_array\."):
        keep_features(tmp_path, sparse.coo_array(np.eye(3)))
