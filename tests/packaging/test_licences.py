"""Every package shipped with Winnow has a licence that was reviewed (docs/decisions/0013)."""

from __future__ import annotations

import re
from importlib import metadata

import pytest

from tests.conftest import ROOT

DECISION = (ROOT / "docs" / "decisions" / "0013-wheel-and-licence.md").read_text()
PINNED = re.findall(r"^([\w.-]+)==", (ROOT / "requirements.txt").read_text(), flags=re.M)
PERMISSIVE = re.compile(r"(MIT|BSD|[0-3]-Clause BSD|0BSD|Apache|PSF|Zlib|CC0|LLVM-exception)\b.*", flags=re.I)
LOOKED_AT = {
    "psycopg": "LGPL-3.0-only",
    "psycopg-binary": "LGPL-3.0-only",
    "certifi": "Mozilla Public License 2.0",
    "tqdm": "MPL-2.0",
}
"""Licences that are not permissive; the decision says why they are acceptable."""


def terms(package: str) -> list[str]:
    """The licences an installed package names: its SPDX expression, else its classifiers, else its free text."""
    said = metadata.metadata(package)
    classified = [
        line.rpartition(" :: ")[2] for line in said.get_all("Classifier", []) if line.startswith("License ::")
    ]
    words = said.get("License-Expression") or " AND ".join(classified) or said.get("License") or ""
    return re.split(r" (?:AND|OR|WITH) ", words)


def test_package_licence_is_permissive_or_reviewed(subtests: pytest.Subtests) -> None:
    for package in PINNED:
        with subtests.test(package):
            if package in LOOKED_AT:
                assert any(LOOKED_AT[package] in term for term in terms(package))
                (row,) = [line for line in DECISION.splitlines() if line.startswith("|") and f"`{package}`" in line]
                assert LOOKED_AT[package] in row
            else:
                assert all(PERMISSIVE.fullmatch(term) for term in terms(package)), terms(package)
