"""Whether it is for want of room on the disk that something could not be done."""

from __future__ import annotations

import errno


def no_room(error: BaseException) -> bool:
    """Whether the system says that a disk, or somebody's share of it, is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
