"""What counts as want of room on the disk."""

from __future__ import annotations

import errno
import os

import pytest

from plcore.arrays.array_files import no_room


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_and_a_share_that_is_used_up_are(number: int) -> None:
    assert no_room(OSError(number, os.strerror(number)))


@pytest.mark.parametrize("error", [OSError(errno.EACCES, "no"), OSError("no"), ValueError(errno.ENOSPC)])
def test_other_faults_are_none(error: Exception) -> None:
    assert not no_room(error)
