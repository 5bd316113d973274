"""Griffe's extension for the API reference: a line of a docstring that names several parameters becomes one for each.

Otherwise each of them would be shown with the default of the first.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_SEVERAL = re.compile(r"^( *)(\w+(?:, \w+)+)( : .+\n(?:\1 +.+\n)*)", flags=re.M)


class OneEach(Extension):  # type: ignore[misc] # griffe is in the environment of `make docs` only
    """Split such lines before the docstring is parsed."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = split(obj.docstring.value)


def split(docstring: str) -> str:
    """Return the docstring with one entry for each parameter."""
    return _SEVERAL.sub(lambda line: "".join(f"{line[1]}{name}{line[3]}" for name in line[2].split(", ")), docstring)
