"""Replays in blocks: those of `replay`, bit for bit, whoever makes them; how runs are joined."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plcore.blocks import BlockError, Blocks, Inline, make_runner
from plcore.evaluation import ReplayedRuns, replay, replay_in_blocks
from plcore.evaluation.replay import ReplayJob


def told(found: tuple[ReplayedRuns, ...]) -> list[tuple[str, list[int], list[list[float]]]]:
    return [(one.strategy, one.answers.tolist(), one.errors.tolist()) for one in found]


@pytest.mark.dask
def test_one_process_a_pool_and_a_cluster_find_the_same_bits(
    some_rows: Any, cluster: Any, tmp_path: Path
) -> None:
    found, kept = [], []
    for number, where in enumerate(("", "processes:2", cluster.scheduler_address)):
        folder = tmp_path / str(number)
        runner = make_runner(where, folder)
        found.append(told(replay_in_blocks(Blocks(runner, folder), *some_rows, runs=3)))
        runner.close()
        kept.append({path.name: path.read_bytes() for path in folder.glob("*")})
    assert found[0] == found[1] == found[2]
    assert kept[0] == kept[1] == kept[2]


def test_a_run_is_a_replay_on_rows_drawn_by_its_number(some_rows: Any, tmp_path: Path) -> None:
    X, candidates, truth = some_rows
    (found,) = replay_in_blocks(
        Blocks(Inline(), tmp_path), X, candidates, truth, ["random"], runs=2, budget=30, seed=4
    )
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


def test_runs_that_are_there_are_not_made_anew(
    some_rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[ReplayJob] = []

    def counted(job: ReplayJob) -> Any:
        made.append(job)
        return real(job)

    module = importlib.import_module("plcore.evaluation.replay")  # the name is that of a function, too
    real = module.replay_once
    monkeypatch.setattr(module, "replay_once", counted)
    blocks, seen = Blocks(Inline(), tmp_path), []
    first = told(
        replay_in_blocks(blocks, *some_rows, ["apl"], runs=2, progress=lambda *one: seen.append(one))
    )
    assert seen == [("runs", 0, 2), ("runs", 1, 2), ("runs", 2, 2)]
    again = told(replay_in_blocks(blocks, *some_rows, ["apl", "random"], runs=3))
    assert [(job.strategy, job.repetition) for job in made[2:]] == [
        ("random", 0),
        ("random", 1),
        ("apl", 2),
        ("random", 2),
    ]
    assert again[0][2][:2] == first[0][2]


def test_a_run_with_nothing_left_to_ask_ends_the_curve(some_rows: Any, tmp_path: Path) -> None:
    X, candidates, truth = some_rows
    few = candidates.copy()
    few[20:] = np.eye(4, dtype=bool)[truth[20:]]  # 20 rows are left, of which some are held out
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


def test_a_run_that_cannot_be_made_is_named(some_rows: Any, tmp_path: Path) -> None:
    with pytest.raises(BlockError, match="Run 1 by moves cannot be done: "):
        replay_in_blocks(Blocks(Inline(), tmp_path), *some_rows, ["moves"])
