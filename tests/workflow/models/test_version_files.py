"""Files of model versions: written whole, read again, and cleaned away when they are of no use."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from plcore import LearnerSettings
from plcore.loop import Entry
from plcore.loop.one_label import OneLabelPool, Trainer, Version
from tests.plcore.loop.fake_table import blobs
from tests.workflow.world import full_disk
from workflow.models import versions as version_files
from workflow.models.versions import clean, read_effects, read_footing, write_version


@pytest.fixture(scope="module")
def versions() -> list[Version]:
    """Four of one project; between the second and the third a row became a bad item."""
    table, y = blobs(n=60, truth="none")
    pool = OneLabelPool(table, LearnerSettings(model="kernelridge"))
    trainer = Trainer(pool)
    rows = [int(row) for row in pool.train if pool.is_open(row)]
    made = [trainer.train()]
    for seq, kind in enumerate(("is", "bad", "is"), 1):
        row = rows[seq]
        pool.apply(Entry(seq, kind, row, "ann", (pool.classes[y[row]],) if kind == "is" else ()))
        made.append(trainer.train())
    return made


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith("rounds-")}


def test_what_is_written_is_read_again(tmp_path: Path, versions: list[Version]) -> None:
    path = tmp_path / "models" / "0.npy"
    version = versions[0]
    assert version.footing is not None
    write_version(path, version)
    np.testing.assert_array_equal(np.load(path), version.scores)
    effects = read_effects(path)
    assert effects is not None
    np.testing.assert_array_equal(effects, version.footing.effects)
    read = read_footing(path, None)
    assert read is not None
    name, footing = read
    assert (path.parent / name).exists()
    np.testing.assert_array_equal(footing.labels, version.footing.labels)
    np.testing.assert_array_equal(footing.candidates, version.footing.candidates)
    np.testing.assert_array_equal(footing.rounds.ridge.rows, version.footing.rounds.ridge.rows)


def test_what_all_versions_share_is_written_and_read_once(tmp_path: Path, versions: list[Version]) -> None:
    for version in versions[:2]:
        write_version(tmp_path / f"{version.number}.npy", version)
    assert len(list(tmp_path.glob("rounds-*.npz"))) == 1
    known = read_footing(tmp_path / "0.npy", None)
    assert known is not None
    again = read_footing(tmp_path / "1.npy", known)
    assert again is not None
    assert again[1].rounds is known[1].rounds
    write_version(tmp_path / "2.npy", versions[2])
    other = read_footing(tmp_path / "2.npy", known)
    assert other is not None
    assert other[0] != known[0]
    assert other[1].rounds is not known[1].rounds
    assert len(list(tmp_path.glob("rounds-*.npz"))) == 2


def test_old_and_later_versions_are_cleaned_away_with_their_state(
    tmp_path: Path, versions: list[Version]
) -> None:
    for version in versions:
        write_version(tmp_path / f"{version.number}.npy", version)
    clean(tmp_path / "3.npy")
    assert names(tmp_path) == {"2.npy", "2.npz", "3.npy", "3.npz"}
    assert read_footing(tmp_path / "3.npy", None) is not None
    clean(tmp_path / "2.npy")  # of a database that was put back
    assert names(tmp_path) == {"2.npy", "2.npz"}


def test_what_the_newest_version_shares_stays_where_a_clock_was_put_back(
    tmp_path: Path, versions: list[Version]
) -> None:
    for version in versions:
        write_version(tmp_path / f"{version.number}.npy", version)
        for path in tmp_path.glob("rounds-*.npz"):  # each was written when the clock showed less
            if path.stat().st_mtime > 1e9:
                os.utime(path, (1e9 - version.number, 1e9 - version.number))
    for name in "ab":
        (tmp_path / f"rounds-{name}.npz").touch()  # of versions that are gone
    clean(tmp_path / "3.npy")
    assert read_footing(tmp_path / "3.npy", None) is not None
    assert not {path.name for path in tmp_path.iterdir()} & {"rounds-a.npz", "rounds-b.npz"}


def test_a_state_that_cannot_be_read_keeps_no_version_from_being_cleaned_away(
    tmp_path: Path, versions: list[Version]
) -> None:
    for version in versions:
        write_version(tmp_path / f"{version.number}.npy", version)
    for damaged in (b"", b"PK", b"other"):
        (tmp_path / "2.npz").write_bytes(damaged)
        clean(tmp_path / "3.npy")
        assert read_footing(tmp_path / "3.npy", None) is not None


def test_a_state_too_large_is_left_out_but_for_the_effects(
    tmp_path: Path, versions: list[Version], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(version_files, "MOST_BYTES", 1000)
    write_version(tmp_path / "0.npy", versions[0])
    assert read_footing(tmp_path / "0.npy", None) is None
    assert read_effects(tmp_path / "0.npy") is not None
    assert not list(tmp_path.glob("rounds-*"))


def test_a_model_without_first_updates_has_its_scores_alone(tmp_path: Path, versions: list[Version]) -> None:
    plain = Version(versions[0].scores, versions[0].point, converged=True)
    write_version(tmp_path / "0.npy", plain)
    assert names(tmp_path) == {"0.npy"}
    assert read_effects(tmp_path / "0.npy") is None
    assert read_footing(tmp_path / "0.npy", None) is None


def test_every_file_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, versions: list[Version], monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: dict[int, set[str]] = {}
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced[os.fstat(descriptor).st_ino] = names(tmp_path)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    write_version(tmp_path / "7.npy", versions[0])
    assert names(tmp_path)
    for path in tmp_path.iterdir():
        assert path.name not in synced[path.stat().st_ino]


def test_a_full_disk_leaves_nothing_under_a_name(tmp_path: Path, versions: list[Version]) -> None:
    with full_disk(), pytest.raises(OSError, match="too large"):
        write_version(tmp_path / "0.npy", versions[0])
    assert names(tmp_path) == set()
    (tmp_path / "killed.part").touch()
    write_version(tmp_path / "0.npy", versions[0])
    assert names(tmp_path) == {"0.npy", "0.npz"}
