"""The stored settings of a project's question page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from plcore.arrays import forbidden_in_text

ORDERS = ("probability", "fixed")
FORMS = ("which", "cheapest")
PROMISES = (0.9, 0.95, 0.99)
"""The allowed promises of a shortlist: how often it contains the true label."""
GUIDELINES_LENGTH = 20_000
DESCRIPTION_LENGTH = 200
GROUP_LENGTH = 200
MOST_GROUPED = 20_000
"""Maximum number of classes in all groups together: every question searches them."""
MOST_FURTHER = 5
"""Maximum number of further projects that ask about the same row."""
MOST_QUALIFYING = 50
"""Maximum number of rows of a qualification."""

Groups = Mapping[str, tuple[str, ...]]
"""Names of groups of classes, each with its classes."""


class RoomError(ValueError):
    """A setting of the question page has a value that is not allowed."""


@dataclass(frozen=True)
class QualificationRule:
    """Qualification settings. rows : known rows, 1 to 50      share : of them that must be right, (0, 1]

    Raises RoomError.
    """

    rows: int
    share: float

    def __post_init__(self) -> None:
        if type(self.rows) is not int or not 1 <= self.rows <= MOST_QUALIFYING:
            raise RoomError(f"A qualification asks 1 to {MOST_QUALIFYING} rows. Got {self.rows!r}.")
        if type(self.share) not in (int, float) or not 0 < self.share <= 1:
            raise RoomError(f"The share that must be right is above 0 and at most 1. Got {self.share!r}.")


@dataclass(frozen=True)
class RoomSettings:
    """Plain JSON values. Raises RoomError naming the setting that is wrong.

    guidelines : the owner's Markdown, shown without HTML; at most 20,000 characters
    order : of the candidates on the screen, "probability" (the model's, highest first) or "fixed" (class order)
    descriptions : {label: one line about it}, each at most 200 characters
    groups : {name of at most 200 characters: its classes}, 20,000 classes in all; a class may be in several
    qualification : rows that annotators answer before they start, or None
    forms : form of the questions, "which" (of these?) or "cheapest", which includes yes-or-no questions
    drawn_forms : whether a few questions have a random form, so that the cost of each form can be measured
    shortlist : how often the choices shown first must contain the true label, one of PROMISES; None: no shortlist
    further : numbers of the projects that ask about the same row after an answer here, in order; at most 5
    """

    guidelines: str = ""
    order: str = "probability"
    descriptions: dict[str, str] = field(default_factory=dict)
    groups: Groups = field(default_factory=dict)
    qualification: QualificationRule | None = None
    forms: str = "which"
    drawn_forms: bool = True
    shortlist: float | None = None
    further: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        _check_text("guidelines", self.guidelines, GUIDELINES_LENGTH)
        if self.order not in ORDERS:
            raise RoomError(f"order must be one of {', '.join(ORDERS)}. Got {self.order!r}.")
        if self.forms not in FORMS:
            raise RoomError(f"forms must be one of {', '.join(FORMS)}. Got {self.forms!r}.")
        if type(self.drawn_forms) is not bool:
            raise RoomError(f"drawn_forms must be True or False. Got {self.drawn_forms!r}.")
        if not isinstance(self.descriptions, dict):
            raise RoomError(f"descriptions must be a dict of label and text. Got {self.descriptions!r}.")
        for label, text in self.descriptions.items():
            if not isinstance(label, str):
                raise RoomError(f"descriptions: a label must be a str. Got {label!r}.")
            _check_text(f"the description of {label!r}", text, DESCRIPTION_LENGTH)
            if "\n" in text or "\r" in text:
                raise RoomError(f"the description of {label!r} must be one line. Fix: join its lines.")
        _check_groups(self.groups)
        if self.shortlist is not None and self.shortlist not in PROMISES:
            allowed = ", ".join(map(str, PROMISES))
            raise RoomError(f"shortlist must be None or one of {allowed}. Got {self.shortlist!r}.")
        _check_further(self.further)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> RoomSettings:
        """Read the output of `to_json`; missing settings get their defaults. Raises RoomError."""
        unknown = sorted(set(stored) - {one.name for one in fields(cls)})
        if unknown:
            known = ", ".join(one.name for one in fields(cls))
            raise RoomError(f"the room has no setting {unknown[0]!r}; it has {known}.")
        groups = stored.get("groups", {})
        if isinstance(groups, dict):  # JSON has lists
            groups = {name: tuple(one) if isinstance(one, list) else one for name, one in groups.items()}
        further = stored.get("further", ())
        further = tuple(further) if isinstance(further, list) else further
        rule = stored.get("qualification")
        rule = QualificationRule(**rule) if isinstance(rule, dict) else rule
        return cls(**{**stored, "groups": groups, "qualification": rule, "further": further})

    def to_json(self) -> dict[str, object]:
        said = asdict(self)
        if not self.further:  # earlier versions do not know it
            del said["further"]
        return said


def miss_of(promise: float) -> float:
    """Return the share of shortlists that may lack the true label under a promise: 0.05 for 0.95, without rounding
    errors."""
    return round(1 - promise, 9)


def _check_further(further: object) -> None:
    if not isinstance(further, tuple) or not all(type(one) is int for one in further):
        raise RoomError(f"further must be a list of the numbers of projects. Got {further!r}.")
    if len(set(further)) != len(further) or len(further) > MOST_FURTHER:
        raise RoomError(f"further has at most {MOST_FURTHER} projects, each once. Got {list(further)}.")


def _check_groups(groups: object) -> None:
    if not isinstance(groups, dict):
        raise RoomError(f"groups must be a dict of names and classes. Got {groups!r}.")
    for name, classes in groups.items():
        _check_text(f"the name of a group, {name!r},", name, GROUP_LENGTH)
        if not name.strip():
            raise RoomError("a group has no name. Fix: give it one.")
        if not isinstance(classes, tuple) or not all(isinstance(one, str) for one in classes):
            raise RoomError(f"the group {name!r} must hold names of classes. Got {classes!r}.")
        if not classes or len(set(classes)) != len(classes):
            raise RoomError(f"the group {name!r} must hold one class or more, each once. Got {list(classes)}.")
    if (total := sum(map(len, groups.values()))) > MOST_GROUPED:
        raise RoomError(
            f"groups may have {MOST_GROUPED:,} classes in all; they have {total:,}. Fix: leave a level out."
        )


def _check_text(name: str, text: object, longest: int) -> None:
    if not isinstance(text, str):
        raise RoomError(f"{name} must be text. Got {text!r}.")
    if len(text) > longest:
        raise RoomError(f"{name} may have at most {longest:,} characters; it has {len(text):,}. Fix: shorten it.")
    if (found := forbidden_in_text(text)) is not None:
        raise RoomError(f"{name} cannot be stored with {found}. Fix: remove it.")
