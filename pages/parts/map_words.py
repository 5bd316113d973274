"""What the Map page says of each kind of project, and of where the rows lie."""

from __future__ import annotations

from dataclasses import dataclass

from pages.parts.frame import escape
from pages.parts.words import percent
from workflow.instance_map import InstanceMap


@dataclass(frozen=True)
class MapWords:
    """labels : the column of a row's labels      nothing : said where it has none      about : what the states mean"""

    labels: str
    nothing: str
    about: str


def placed(shown: InstanceMap) -> str:
    """How the rows were placed: the end of a sentence about it. Markdown."""
    if shown.laid_out:
        return ", whichever way that is (t-SNE)."
    held = percent(shown.explained)
    axes = f": the first two principal components of the features, which hold {held} of their variance."
    if shown.layout_fault:
        return f"{axes} They could not be laid out better: {escape(shown.layout_fault)}"
    if shown.coming:
        return (
            f"{axes} A layout that keeps more neighbours together is being made, and takes this one's place."
        )
    return axes
