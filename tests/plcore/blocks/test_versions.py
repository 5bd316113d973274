"""What a process computes with, and that one of other code is refused."""

from __future__ import annotations

import pytest

from plcore.blocks import parts
from plcore.blocks.parts import check_code, code_and_versions, code_here


def test_code_and_versions_name_what_results_depend_on() -> None:
    mine = code_and_versions()
    assert {"plcore", "Python", "numpy", "numba", "scikit-learn"} <= set(mine)
    assert mine == code_and_versions()


def test_who_computes_with_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = code_here()
    check_code(mine)
    monkeypatch.setattr(parts, "_sources", lambda: "later")
    assert code_here() != mine
    with pytest.raises(
        RuntimeError, match=r"other versions than whoever asked: later 3\..*, there \w{12} 3\."
    ):
        check_code(mine)
