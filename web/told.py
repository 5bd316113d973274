"""Which of Streamlit's files a sign-in was told of: `/media/NAME` is for those alone whose page has named it."""

from __future__ import annotations

import re
from collections import OrderedDict

PATH = "/media/"
MOST = 20_000
"""Names that are remembered; those told longest ago go first."""

_BEGINNING = PATH.encode()
_HASH = "[0-9a-f]{32}"  # of what is in the file; the ending follows, and in a message whatever comes next
_TOLD = re.compile(f"{PATH}({_HASH})".encode())
_ASKED = re.compile(rf"{PATH}({_HASH})(\.\w+)?")


class NamedFiles:
    """What pages have been told, by the number of their sign-in."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._told: OrderedDict[tuple[int, str], None] = OrderedDict()

    def note(self, sign_in_id: int, frame: bytes) -> None:
        """A page of this sign-in is sent these bytes."""
        if _BEGINNING not in frame:
            return
        for found in _TOLD.findall(frame):
            key = sign_in_id, found.decode()
            self._told[key] = None
            self._told.move_to_end(key)
        while len(self._told) > self._most:
            self._told.popitem(last=False)

    def knows(self, sign_in_id: int, path: str) -> bool:
        """Whether a page of this sign-in was told of the file at this path."""
        asked = _ASKED.fullmatch(path)
        return asked is not None and (sign_in_id, asked[1]) in self._told
