"""One row as a person sees it: its image, its text, and its features as they stood in the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plcore import LabelTable


@dataclass(frozen=True)
class RowView:
    """`image` and `audio` are addresses a browser can show; `features` are (column, original cell text) pairs in
    file order.
    """

    row: int
    row_id: str
    image: str | None
    text: str | None
    features: tuple[tuple[str, str], ...]
    audio: str | None = None


def row_view(table: LabelTable, row: int) -> RowView:
    """The row's cells, never those that would give the answer away: neither truth nor candidates."""
    roles = table.roles
    cells = table.cells.iloc[row]
    shown = (*roles.numbers, *roles.categories)
    return RowView(
        row=row,
        row_id=str(table.ids[row]),
        image=(cells[roles.image].strip() or None) if roles.image else None,
        text=(cells[roles.text].strip() or None) if roles.text else None,
        features=tuple((name, cells[name]) for name in shown),
    )
