"""A copy of everything that cannot be made again is a home of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workflow.world import answer_next, exported
from workflow.home import Home, open_home
from workflow.outgoing import backup
from workflow.settings import Settings


def test_a_backup_is_a_home_of_its_own(home: Home, owner: int, project: int, tmp_path: Path) -> None:
    saved = answer_next(home, owner, project)
    backup.backup(home, tmp_path / "copy")
    answer_next(home, owner, project)
    copy = open_home(Settings.from_environment({"WINNOW_HOME": str(tmp_path / "copy")}))
    try:
        frame = exported(copy, owner, project).set_index("id")
        assert (frame.winnow_source == "oracle").sum() == 1
        assert frame.winnow_label[saved.row_id] == saved.labels[0]
    finally:
        copy.close()
    with pytest.raises(backup.BackupError, match="not empty"):
        backup.backup(home, tmp_path / "copy")
