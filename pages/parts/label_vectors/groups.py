"""Groups of labels on the settings page."""

from __future__ import annotations

from pages.parts.frame import ProjectPage


def groups_part(page: ProjectPage) -> None:
    """Nothing: several labels of a row may be right, so that "one of these" is no answer."""
