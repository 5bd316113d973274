"""Every example of the gallery stands alone, and prints what the page says."""

from __future__ import annotations

import ast
import contextlib
import io
import re

import pytest

from tests.conftest import ROOT
from tests.docs.pages import blocks

EXAMPLES = blocks(ROOT / "docs" / "gallery.md", "python")
SAID = re.compile(r"^ *print\(.*\)  # (.+)$", flags=re.M)
NEAR = 0.021
"""Shares may differ by as much between machines: their libraries add numbers up in other orders."""


def as_value(word: str) -> object:
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError):
        return word


def values(text: str) -> list[object]:
    return [as_value(word) for word in re.findall(r"[^\s\[\],]+", text)]


def test_there_are_ten() -> None:
    assert len(EXAMPLES) == 10


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_prints_what_stands_beside_it(number: int) -> None:
    code, written = EXAMPLES[number], io.StringIO()
    with contextlib.redirect_stdout(written):
        exec(compile(code, f"gallery.md, example {number + 1}", "exec"), {"__name__": "__main__"})  # noqa: S102
    said, printed = values(" ".join(SAID.findall(code))), values(written.getvalue())
    assert said
    assert len(said) == len(printed)
    for expected, found in zip(said, printed, strict=True):
        if isinstance(expected, float):
            assert found == pytest.approx(expected, abs=NEAR)
        else:
            assert found == expected


def test_figures_have_the_names_in_whose_order_they_come() -> None:
    """f1_scores gives macro, then micro: the other way round one is taken for the other, unseen."""
    assert [line for code in EXAMPLES for line in code.splitlines() if "= f1_scores(" in line] == [
        "macro, micro = f1_scores(Y[400:], model.predict(X[400:]))"
    ]
