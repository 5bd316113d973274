"""Griffe's extension for the API reference: a line of a docstring that names several parameters becomes one for each,
and their text goes below their name.

Otherwise each of them would be shown with the default of the first, and with its text as its type.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_SEVERAL = re.compile(r"^( *)(\w+(?:, \w+)+)( : .+\n(?:\1 +.+\n)*)", flags=re.M)
_SECTION = re.compile(r"^(?:Parameters|Attributes)\n-+\n(?:.+\n?)+", flags=re.M)
_TEXT = re.compile(r"^(\w+) : ", flags=re.M)


class OneEach(Extension):  # type: ignore[misc] # griffe is in the environment of `make docs` only
    """Split such lines before the docstring is parsed."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = _SECTION.sub(lambda one: below(one[0]), split(obj.docstring.value))
        obj.labels.discard("dataclass")  # of an estimator: nothing that its users need to know


def split(docstring: str) -> str:
    """Return the docstring with one entry for each parameter."""
    return _SEVERAL.sub(lambda line: "".join(f"{line[1]}{name}{line[3]}" for name in line[2].split(", ")), docstring)


def below(section: str) -> str:
    """Return the section with each parameter's text below its name: its type is that of the signature."""
    return _TEXT.sub(r"\1\n    ", section)
