"""What the Map page says of each kind of project."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MapWords:
    """labels : the column of a row's labels      nothing : said where it has none      about : what the states mean"""

    labels: str
    nothing: str
    about: str
