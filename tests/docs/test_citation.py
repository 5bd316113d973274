"""CITATION.cff holds what the format asks for, and says what the package says of itself."""

from __future__ import annotations

import re
import tomllib

import yaml

import winnow_labels
from tests.conftest import ROOT

CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_it_has_what_version_1_2_0_of_the_format_requires() -> None:
    assert CITATION["cff-version"] == "1.2.0"
    assert all(CITATION[key] for key in ("message", "title", "authors"))
    assert CITATION["type"] in ("software", "dataset")
    for reference in CITATION["references"]:
        assert all(reference[key] for key in ("type", "title", "authors"))


def test_it_says_what_the_package_says() -> None:
    assert CITATION["version"] == winnow_labels.__version__
    assert CITATION["license"] == PROJECT["license"]
    assert CITATION["authors"] == PROJECT["authors"]
    assert CITATION["keywords"] == PROJECT["keywords"]
    assert CITATION["abstract"] == f"{PROJECT['description']}."


def test_nobody_invents_an_address() -> None:
    for name in ("CITATION.cff", "SECURITY.md"):
        assert not re.search(r"[\w.]+@[\w.]+", (ROOT / name).read_text())
