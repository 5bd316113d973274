"""The JavaScript modules of the pages, as the server gives them out: at addresses that name what is in them.

Pages take the addresses from here, the server's route the contents, so that the two agree.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PATH = "/scripts"
"""Where the server gives them out."""
_IMPORTED = re.compile(rb'^import\b[^;"]*"(\.[^"]+)";', re.MULTILINE)


@dataclass(frozen=True)
class Scripts:
    """All modules below one folder, by their path in it.

    version : a hash of all of them. They import one another by relative paths, so it stands before the path of each;
        a browser may keep what it got under such an address for ever
    """

    version: str
    contents: Mapping[str, bytes]

    def address(self, name: str) -> str:
        """The address of a module, from that of a page. name : such as "card/card.js"

        Raises
        ------
        KeyError
            There is no such module.
        """
        if name not in self.contents:
            raise KeyError(f"There is no JavaScript module {name!r}; there are {', '.join(self.contents)}.")
        return f"{PATH.lstrip('/')}/{self.version}/{name}"

    def with_imports(self, name: str) -> list[str]:
        """A module and all that it and those import, by their paths, itself first."""
        left, found = [name], dict.fromkeys([name])
        while left:
            importer = left.pop()
            for path in _IMPORTED.findall(self.contents[importer]):
                one = posixpath.normpath(posixpath.join(posixpath.dirname(importer), path.decode()))
                if one not in found:
                    found[one] = None
                    left.append(one)
        return list(found)


@cache
def scripts_in(folder: Path) -> Scripts:
    """The modules below this folder, read once: a server that runs gives out what it started with."""
    contents = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.js"))
    }
    digest = hashlib.sha256()
    for name, content in contents.items():
        digest.update(f"{name} {len(content)} ".encode() + content)
    return Scripts(digest.hexdigest()[:16], contents)
