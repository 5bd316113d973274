"""The JavaScript modules of the pages, as the server gives them out: one file, at an address that names what is in it.

Pages take the address from here, the server's route the content, so that the two agree.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workflow.common.joined import joined

PATH = "/scripts"
"""Where the server gives it out."""

# Two lines: a single one that holds a slash Streamlit takes for the path of a file.
_START = """const {{ default: modules }} = await import(new URL({address}, document.baseURI));
export default modules[{name}].default;
"""


@dataclass(frozen=True)
class Scripts:
    """All modules below one folder.

    contents : {path in the folder: text of the module}      joined : all of them as one
    version : a hash of that, which is its address: a browser may keep for ever what it got there
    """

    contents: Mapping[str, str]
    joined: bytes
    version: str

    @property
    def address(self) -> str:
        """Where they are, from the address of a page."""
        return f"{PATH.lstrip('/')}/{self.version}.js"

    def start(self, name: str) -> str:
        """The text of a module whose default export is that of one of these. name : such as "one_label/card.js"

        Raises
        ------
        KeyError
            There is no such module.
        """
        if name not in self.contents:
            raise KeyError(f"There is no JavaScript module {name!r}; there are {', '.join(self.contents)}.")
        return _START.format(address=json.dumps(self.address), name=json.dumps(name))


@cache
def scripts_in(folder: Path) -> Scripts:
    """The modules below this folder, read once: a server that runs gives out what it started with."""
    contents = {
        path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in sorted(folder.rglob("*.js"))
    }
    content = joined(contents).encode()
    return Scripts(contents, content, hashlib.sha256(content).hexdigest()[:16])
