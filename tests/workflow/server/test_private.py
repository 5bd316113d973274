"""What of the data folder other users of the machine can read: nothing, or it is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from workflow.server.home import keep_private


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_rights_of_others_are_taken_and_own_ones_kept(tmp_path: Path) -> None:
    folder, file = tmp_path / "home", tmp_path / "database"
    folder.mkdir()
    file.touch()
    folder.chmod(0o755)
    file.chmod(0o664)
    keep_private(folder, file, tmp_path / "missing")
    assert (mode(folder), mode(file)) == (0o700, 0o600)


@pytest.mark.parametrize("which", ["sticky", "home"])
def test_a_folder_that_others_need_is_named_and_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, which: str
) -> None:
    tmp_path.chmod(0o1777 if which == "sticky" else 0o755)
    monkeypatch.setattr(Path, "home", lambda: tmp_path if which == "home" else tmp_path / "me")
    before = mode(tmp_path)
    keep_private(tmp_path)
    assert mode(tmp_path) == before
    assert f"may read {tmp_path}" in caplog.text
    assert "Fix: " in caplog.text


def test_who_has_no_home_has_data_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user that is a number alone, as containers have them, without HOME."""

    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    tmp_path.chmod(0o755)
    monkeypatch.setattr(Path, "home", unknown)
    keep_private(tmp_path)
    assert mode(tmp_path) == 0o700


def test_what_cannot_be_changed_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_path: Path, _mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    tmp_path.chmod(0o755)
    monkeypatch.setattr(Path, "chmod", refuse)
    keep_private(tmp_path)
    assert "Operation not permitted" in caplog.text
