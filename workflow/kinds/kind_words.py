"""How pages speak of a kind of project."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KindWords:
    """How pages speak of projects of a kind.

    title : the kind itself      classes : the word for its classes, in the plural
    finished : the sentence where nothing is open any more
    """

    title: str
    classes: str
    finished: str
