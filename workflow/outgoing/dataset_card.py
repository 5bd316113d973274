"""What goes with labels that are given away: a dataset card, README.md, and Croissant's metadata.json."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workflow.outgoing.card_facts import CardFacts, read_facts
from workflow.outgoing.card_text import CardDetails, write_card
from workflow.outgoing.croissant import describe_file, write_croissant

if TYPE_CHECKING:
    from pathlib import Path

    from workflow.seat import Seat

__all__ = ["CardDetails", "CardFacts", "card_facts", "croissant", "dataset_card"]


TOOL = "Winnow"


def card_facts(seat: Seat, given: CardDetails | None = None) -> CardFacts:
    """What is known of the project's labels now.

    Raises
    ------
    NotAllowed
        The person is not an owner.
    NotFound
    """
    with seat.learner(owner=True) as opened:
        return read_facts(opened, named=given is not None and given.named)


def dataset_card(
    seat: Seat, given: CardDetails | None = None, files: Sequence[Path] = (), tool: str = TOOL
) -> str:
    """README.md with the front matter of Hugging Face and the sections of a datasheet.

    given : what only people know      files : that it is to lie beside; their SHA-256 are named
    tool : Winnow, with its version where the caller knows it
    Raises as `card_facts`, and OSError.
    """
    found = {one.name: one.sha256 for one in map(describe_file, files)}
    return write_card(card_facts(seat, given), given or CardDetails(), found, tool)


def croissant(
    seat: Seat, given: CardDetails | None = None, files: Sequence[Path] = (), tool: str = TOOL
) -> str:
    """metadata.json in the format Croissant, with a record set for each file of CSV or Parquet.

    given, files, tool : as for `dataset_card`. Raises as `dataset_card`.
    """
    return write_croissant(
        card_facts(seat, given), given or CardDetails(), list(map(describe_file, files)), tool
    )
