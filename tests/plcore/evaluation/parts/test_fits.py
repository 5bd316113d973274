"""Comparisons in blocks equal those of one process bit for bit, whichever process makes the fits, in any order."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from plcore import PLKNeighborsClassifier
from plcore.blocks import BlockError, Blocks, Inline, RunnerError, parts
from plcore.evaluation import compare_learners, comparison, replay_in_blocks
from plcore.evaluation.learners import LEARNER_ENTRIES
from plcore.evaluation.trials import Fit
from tests.plcore.evaluation.told import Told

pytestmark = pytest.mark.slow

NAMES = ["plknn", "kernelridge", "clpl"]


def compared(rows: Any, blocks: Blocks | None, names: Any = NAMES, **options: Any) -> pd.DataFrame:
    X, candidates, y = rows
    return compare_learners(X, candidates, names, 3, y, 0, blocks=blocks, **options)


def assert_same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    """Equal except for the time taken."""
    pd.testing.assert_frame_equal(one.drop(columns="seconds"), other.drop(columns="seconds"), check_exact=True)


@pytest.mark.proof
@pytest.mark.dask
def test_comparison_is_identical_in_one_process_a_pool_and_a_cluster(some_rows: Any, each_runner: list[Blocks]) -> None:
    here = compared(some_rows, None)
    assert here["kappa"].notna().all()
    kept = []
    for blocks in each_runner:
        assert_same(here, compared(some_rows, blocks))
        kept.append({path.name for path in blocks.folder.glob("*")})
    assert kept[0] == kept[1] == kept[2]


def test_sparse_features_and_weights_reach_the_fits(some_rows: Any, tmp_path: Path) -> None:
    X, candidates, y = some_rows
    weights = candidates * np.random.default_rng(0).random(candidates.shape) ** 4 + 1e-3 * candidates
    fixed = {"plknn": {"n_neighbors": 2}, "kernelridge": {"alpha": 0.1, "class_mass": 0.5}}
    told = {"candidate_weights": weights, "weighted": ["plknn"], "own_parameters": fixed}
    for form in (np.asarray, sparse.csr_matrix):
        rows = form(X), candidates, y
        there = compared(rows, Blocks(Inline(), tmp_path), ["kernelridge", "plknn"], **told)
        assert_same(compared(rows, None, ["kernelridge", "plknn"], **told), there)
    assert not there["kappa"].equals(compared(rows, None, ["kernelridge", "plknn"])["kappa"])


@pytest.mark.parametrize("name", ["plknn", "plsvc", "kernelridge"])
def test_keep_scales_reaches_the_fits_of_every_runner(some_rows: Any, tmp_path: Path, name: str) -> None:
    X, candidates, y = some_rows
    noise = 1000 * np.random.default_rng(1).normal(size=(len(X), 1))
    rows = np.hstack([X, noise]), candidates, y
    kept = compared(rows, None, [name], keep_scales=True)
    assert kept["accuracy"][0] < compared(rows, None, [name])["accuracy"][0] - 0.05
    assert_same(kept, compared(rows, Blocks(Inline(), tmp_path), [name], keep_scales=True))


class Shuffled(Inline):
    """Runs jobs in shuffled order."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._random = random.Random(seed)

    def map(
        self, function: Callable[..., Any], jobs: Iterable[Any], meanwhile: Any = None
    ) -> Iterator[tuple[Any, Any]]:
        drawn = list(jobs)
        self._random.shuffle(drawn)
        return super().map(function, drawn, meanwhile)


@pytest.mark.parametrize("seed", range(3))
def test_order_of_fits_changes_nothing(
    some_rows: Any, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if learners fail or warn: the message is that of the first fold."""
    X, candidates, y = some_rows
    rows = np.column_stack([y, (y + 1) % 4, X]), candidates, y
    for name, learner in {"warns": Told(0, warning="odd"), "fails": FailsOn()}.items():
        settings = ({}, {"column": 1}) if name == "warns" else ({},)
        entry = replace(LEARNER_ENTRIES["plknn"], name=name, estimator=learner, settings=settings)
        monkeypatch.setitem(LEARNER_ENTRIES, name, entry)
    names = ["plknn", "fails", "warns"]
    here = compared(rows, None, names)
    assert here["note"].str.startswith("this part").tolist() == [False, True, False]
    assert_same(here, compared(rows, Blocks(Shuffled(seed), tmp_path), names))


class FailsOn(PLKNeighborsClassifier):  # type: ignore[misc]
    """Fails with a message that identifies the fold."""

    def fit(self, X: Any, y: Any) -> Any:
        raise ValueError(f"this part sums to {float(np.sum(X)):.6f}")


def test_restart_makes_only_the_missing_fits(some_rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted(asked: comparison.AskedFit) -> Fit:
        made.append(str(asked))
        return real(asked)

    real = comparison.make_fit
    monkeypatch.setattr(comparison, "make_fit", counted)
    blocks = Blocks(Inline(), tmp_path)
    seen: list[tuple[int, int, str]] = []

    def stop(*step: Any) -> None:
        seen.append(step)
        if step[0] == 4:
            raise KeyError("stop")

    with pytest.raises(KeyError):
        compared(some_rows, blocks, ["plknn", "kernelridge"], progress=stop)
    assert seen == [(done, 6, "plknn" if done < 3 else "kernelridge") for done in range(5)]
    assert made[0] == "The fit of plknn on fold 1 of 3"
    there = compared(some_rows, blocks, ["plknn", "kernelridge"])
    assert len(made) == 6
    assert_same(compared(some_rows, None, ["plknn", "kernelridge"]), there)
    compared(some_rows, blocks, ["plknn", "clpl"])
    assert len(made) == 6 + 9, "what another comparison has left is taken, too"
    assert made[-1] == "The fit of clpl with C=1000.0 on fold 3 of 3"


def test_changed_code_makes_all_fits_again(some_rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = Blocks(Inline(), tmp_path)
    compared(some_rows, blocks, ["plknn"])
    before = len(list(tmp_path.glob("*")))
    monkeypatch.setattr(parts, "code_and_versions", lambda: {"plcore": "later"})
    compared(some_rows, blocks, ["plknn"])
    assert len(list(tmp_path.glob("*"))) == before + 3


class Later(Inline):
    """A worker with other code that was not checked at the start."""

    def map(self, *told: Any) -> Iterator[tuple[Any, Any]]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parts, "code_and_versions", lambda: {"plcore": "later"})
            yield from super().map(*told)


def test_results_of_a_later_worker_with_other_code_are_discarded(some_rows: Any, tmp_path: Path) -> None:
    with pytest.raises(BlockError, match=r"a worker has other versions than the caller: later, there \w{12} 3\."):
        compared(some_rows, Blocks(Later(), tmp_path), ["plknn"])
    kept = len(list(tmp_path.glob("*")))
    compared(some_rows, Blocks(Inline(), tmp_path), ["plknn"])
    assert len(list(tmp_path.glob("*"))) == kept + 3
    X, candidates, truth = some_rows
    with pytest.raises(BlockError, match=r"Run 1 by random cannot be done: .* a worker has other versions"):
        replay_in_blocks(Blocks(Later(), tmp_path), X, candidates, truth, ["random"])


class Unseen(Inline):
    """A runner on another machine: parts become visible here only after a while, as over NFS."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._aside = folder / "aside"
        self._aside.mkdir()

    def map(self, *told: Any) -> Iterator[tuple[Any, Any]]:
        for asked, fit in super().map(*told):
            asked.job.path.rename(self._aside / asked.job.part)
            yield asked, fit

    def see(self, _seconds: float) -> None:
        for path in self._aside.iterdir():
            path.rename(self._aside.parent / path.name)


def test_late_part_is_waited_for_and_missing_part_is_not_charged_to_the_budget(
    some_rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unseen = Unseen(tmp_path)
    monkeypatch.setattr(comparison, "sleep", lambda _seconds: None)
    with pytest.raises(RunnerError, match=r"The fit of plknn on fold 1 of 3 was made, but its part .* not seen here"):
        compared(some_rows, Blocks(unseen, tmp_path), ["plknn"], budget=1000.0)
    monkeypatch.setattr(comparison, "sleep", unseen.see)
    there = compared(some_rows, Blocks(unseen, tmp_path), ["plknn"], budget=1000.0)
    assert_same(compared(some_rows, None, ["plknn"], budget=1000.0), there)


def test_no_fit_begins_after_the_budget(some_rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[float | None] = []

    def slow(asked: comparison.AskedFit) -> Fit:
        left.append(asked.seconds)
        if asked.seconds == 1.0:
            return Fit(None, 1.0)  # it would have taken two
        return replace(real(asked), seconds=2.0)

    real, read = comparison.make_fit, comparison.read_fit
    monkeypatch.setattr(comparison, "make_fit", slow)
    monkeypatch.setattr(comparison, "read_fit", lambda job: replace(read(job), seconds=2.0))
    table = compared(some_rows, Blocks(Inline(), tmp_path), ["plknn", "clpl"], budget=11.0)
    assert left == [11.0, 9.0, 7.0, 5.0, 3.0, 1.0]
    assert table["kappa"].notna().tolist() == [True, False]
    assert table["seconds"].tolist() == [6.0, 5.0]
    assert table["note"].tolist() == ["", "left out: the time budget of 11 s was used up"]


def test_unnamed_learners_cannot_be_made_by_workers(some_rows: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"learners that the library has by name, not of own\. Fix: leave"):
        compared(some_rows, Blocks(Inline(), tmp_path), {"own": PLKNeighborsClassifier()})


def test_failed_fit_is_named(some_rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(_: comparison.AskedFit) -> Fit:
        raise OSError("no room")

    monkeypatch.setattr(comparison, "make_fit", lost)
    with pytest.raises(BlockError, match="The fit of plknn on fold 1 of 3 cannot be done: OSError: no room"):
        compared(some_rows, Blocks(Inline(), tmp_path), ["plknn"])
