"""The tests that `make check` runs for a change."""

from __future__ import annotations

from tests.changed import ESTIMATORS, SPINE, choose_tests
from tests.conftest import ROOT


def test_every_file_of_spine_exists() -> None:
    assert [path for path in SPINE if not (ROOT / path).is_file()] == []


def test_no_change_runs_spine_only() -> None:
    assert choose_tests([]) == sorted(SPINE)
    assert choose_tests(["README.md"]) == sorted(SPINE)


def test_changed_module_runs_its_package_and_importers() -> None:
    chosen = choose_tests(["plcore/margin/plsvm.py"])
    assert {*SPINE, "tests/plcore/margin/test_estimators.py", "tests/plcore/margin/test_grids.py"} <= set(chosen)
    assert "tests/plcore/evaluation/test_learners.py" in chosen, "its learners come through the face of margin"
    assert not [path for path in chosen if path.startswith(("tests/web/", "tests/browser/"))]


def test_changed_estimators_are_checked_and_no_others() -> None:
    *chosen, option = choose_tests(["plcore/neighbors/classifier.py"])
    assert ESTIMATORS in chosen
    assert "PLKNeighborsClassifier" in option
    assert "PLSVC" not in option
    assert "PLSVC" in choose_tests(["plcore/kernels/scores.py"])[-1], "it takes the kernel from the face"
    assert not any(word.startswith("--") for word in choose_tests(["plcore/__init__.py"])), "all are checked"
    assert ESTIMATORS not in choose_tests(["workflow/seat.py"])


def test_changed_test_and_changed_helper_run() -> None:
    assert "tests/plcore/test_library_page.py" in choose_tests(["tests/plcore/test_library_page.py"])
    assert "tests/workflow/test_seat.py" in choose_tests(["tests/workflow/world.py"])


def test_shared_file_runs_all_tests() -> None:
    assert choose_tests(["requirements.txt", "README.md"]) == ["tests"]
