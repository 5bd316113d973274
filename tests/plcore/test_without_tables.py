"""The library without its extras: all learners work, and what needs an extra says which."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import ROOT

WITHOUT = """
import importlib, pkgutil, sys

sys.modules["arff"] = None  # as if it were not installed
import plcore

exec("from plcore import *", of_a_part := {})
assert "PLSVC" in of_a_part
assert "LabelTable" not in of_a_part, "part of the extra is as good as none of it"
for name in [name for name in sys.modules if name.partition(".")[0] == "plcore"]:
    del sys.modules[name]
for name in ("arff", "PIL", "pyarrow", "python_calamine", "soundfile", "onnxruntime", "tokenizers", "distributed"):
    sys.modules[name] = None

import plcore

everything = {}
exec("from plcore import *", everything)
assert set(plcore.__all__) <= set(everything)
failed = {}
for name in [*plcore.__all__, *plcore._OF_TABLES]:
    try:
        getattr(plcore, name)
    except ModuleNotFoundError as error:
        failed[name] = str(error)
print(*sorted(failed))
print(*set(failed.values()), sep="|")
for module in pkgutil.walk_packages(plcore.__path__, "plcore.", onerror=lambda name: None):
    if not module.name.startswith("plcore.tables"):
        importlib.import_module(module.name)
try:
    import plcore.tables
except ModuleNotFoundError as error:
    print(error)
"""


def test_only_table_functions_need_extra() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    names, of_names, of_the_package = done.stdout.splitlines()
    assert names == "FeatureTransformer LabelTable Problem Roles TableError read_cells suggest_roles"
    assert of_names == of_the_package
    assert of_names == (
        "plcore.tables needs arff, PIL, pyarrow, python_calamine, soundfile, which cannot be imported. "
        "Fix: pip install 'plcore[tables]'."
    )
