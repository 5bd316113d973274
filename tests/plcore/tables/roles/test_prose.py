"""Realistic columns: commas in sentences, names and addresses separate no labels, but commas in lists do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product

import pandas as pd
import pytest

from plcore import Roles, suggest_roles
from plcore.tables.roles.sample import is_written


def pairs(names: Sequence[str], mark: str) -> list[str]:
    """Every name alone, and every two of them in both orders."""
    return [*names, *(f"{one}{mark}{two}" for one in names for two in names if one != two)]


WRITTEN: dict[str, list[str]] = {
    "captions, each of several photos": 3
    * [
        "A dog, asleep on a sofa",
        "Two children, a kite and a lot of wind",
        "The old harbour, seen from the hill",
        "A dog, wide awake",
        "Rain, again",
    ],
    "comments, each read by two people": 2
    * [
        "Thanks, that helped",
        "Thanks, works now",
        "Well, I had hoped for more",
        "No, not for me",
        "Thanks, but it came late",
        "Good, cheap, quick",
        "Well, it is what it is",
    ],
    "answers to a survey": ["yes, always", "no, never", "yes, at times", "maybe", "yes, always", "no, never"] * 4,
    "comments of which most say nothing": ["none, thanks"] * 30
    + [f"{first}, but {second}" for first in ("good", "fine", "nice", "dear") for second in ("late", "loud", "small")],
    "addresses of one town": [
        f"{number} {street}, Springfield, IL"
        for number in (3, 12, 40)
        for street in ("Main Street", "Oak Avenue", "Hill Road")
    ],
    "addresses with flats": [
        f"{'Flat 2, ' if number % 2 else ''}{number} {street}, Leeds, {code}"
        for number, street, code in [
            (1, "High Street", "LS1"),
            (2, "High Street", "LS1"),
            (5, "Mill Lane", "LS2"),
            (6, "Mill Lane", "LS2"),
            (9, "Park Row", "LS1"),
            (14, "Park Row", "LS1"),
        ]
    ],
    "names, surname first": [
        f"{surname}, {name}"
        for surname in ("Smith", "Miller", "Jones", "Young", "Hill")
        for name in ("Anna", "John", "Mary", "Peter")
    ],
    "authors who come again": ["Smith, John", "Doe, Jane", "Smith, John", "Roe, Jim", "Doe, Jane", "Roe, Jim"],
    "towns with their states": ["Akron, Ohio", "Dayton, Ohio", "Austin, Texas", "Dallas, Texas"] * 3,
    "days": [f"{day}, {date} {month}" for day in ("Monday", "Friday") for date in (3, 14) for month in ("May", "June")]
    * 2,
    "names of classes that hold a comma": [
        "Agriculture, forestry and fishing",
        "Mining",
        "Arts, entertainment and recreation",
        "Education",
        "Transport",
    ]
    * 6,
    "sentences parted by a semicolon": 2
    * [
        "It rained; we stayed in",
        "It rained; we went out all the same",
        "The bus was late; we walked",
        "It rained; the match was called off",
    ],
    "sentences of a few words that come again, in any order": pairs(
        ("it is as good as new", "it was not at all dear", "I would buy it once more"), ", "
    )
    * 2,
}

BIRDS = ("Great tit", "Blue tit", "Coal tit", "Eurasian nuthatch")


LISTED: dict[str, tuple[list[str], str, str]] = {
    "names with spaces": (pairs(BIRDS, ", "), ",", "list"),
    "sorted, the first of them most often": (
        ["cat, dog", "cat, fox", "dog, fox", "cat", "fox", "dog", "cat, dog"],
        ",",
        "list",
    ),
    "with a space, two cells that differ": (["wren, robin", "robin"] * 2, ",", "list"),
    "without a space, few rows": (["cat,dog", "cat,dog", "dog,fox", "fox,cat"], ",", "list"),
    "without a space, always the same two": (["cat,dog", "fox,owl", "cat,dog", "fox,owl"], ",", "list"),
    "a semicolon": (pairs(("rock", "jazz", "folk"), "; "), ";", "list"),
    "a bar, few rows": (["wren|robin", "robin", "wren|robin", "robin"], "|", "list"),
    "a bar with spaces, names with commas": (
        ["Smith, John | Doe, Jane", "Doe, Jane", "Smith, John", "Doe, Jane | Smith, John"],
        "|",
        "list",
    ),
    "three to a row, of thirty, some rare": (
        [", ".join(f"species {(7 * row + 11 * k * k + row * k) % 30}" for k in range(3)) for row in range(40)],
        ",",
        "list",
    ),
    "numbers behind the names": ([f"film: 0.{k}, education: 0.{9 - k}" for k in range(1, 9)], ",", "weighted"),
    "JSON": ([json.dumps([one, two]) for one in BIRDS for two in BIRDS if one < two], "|", "json"),
    "Python's own": (["['rock', 'jazz']", "['jazz']", "['rock']"], "|", "json"),
    "words that people write between": (pairs(("wren", "robin"), " or ") * 2, " or ", "list"),
    "findings": (
        ["No finding", "Effusion, Oedema", "Oedema", "Effusion", "Mass, Effusion", "Mass", "Oedema, Mass"] * 2,
        ",",
        "list",
    ),
}


def guess(**columns: Sequence[str]) -> Roles:
    return suggest_roles(pd.DataFrame(columns, dtype=str))


@pytest.mark.parametrize("what", WRITTEN)
def test_ordinary_text_is_not_read_as_candidates(what: str) -> None:
    cells = WRITTEN[what]
    assert guess(about=cells, w=[f"{k}.5" for k in range(len(cells))]).candidates is None


@pytest.mark.parametrize("what", LISTED)
def test_lists_are_read_as_candidates(what: str) -> None:
    cells, separator, form = LISTED[what]
    roles = guess(seen=cells, w=[f"{k}.5" for k in range(len(cells))])
    assert (roles.candidates, roles.separator, roles.form) == ("seen", separator, form)


def test_list_is_chosen_over_prose(subtests: pytest.Subtests) -> None:
    for written, listed in product(WRITTEN, LISTED):
        with subtests.test(written=written, listed=listed):
            size = max(len(WRITTEN[written]), len(LISTED[listed][0]))
            about, seen = ((cells * size)[:size] for cells in (WRITTEN[written], LISTED[listed][0]))
            assert guess(about=about, seen=seen).candidates == "seen"


def test_column_named_like_text_is_not_split_at_commas() -> None:
    cells = pairs(("rock", "jazz", "folk"), ", ")
    assert guess(caption=cells).candidates is None
    assert guess(genre=cells).candidates == "genre"
    assert guess(caption=pairs(("rock", "jazz", "folk"), "|")).candidates == "caption"


def test_true_labels_show_whether_parts_are_labels() -> None:
    cells = ["cat, dog", "fox, owl"] * 4
    assert guess(seen=cells).candidates is None
    assert guess(seen=cells, label=["cat", "fox", "dog", "owl"] * 2).candidates == "seen"
    assert guess(seen=cells, label=["7", "8"] * 4).candidates is None
    industries = ["Arts, leisure", "Mining", "Education"] * 4
    assert guess(category=industries).candidates is None, "nor do its own cells"


def test_separators_of_programs_have_no_space_after_them() -> None:
    assert is_written(["Smith, John", "Doe, Jane"], ",")
    assert not is_written(["Smith,John", "Doe,Jane"], ",")
