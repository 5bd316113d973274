"""Compiled loops: why they are fast, the rules they follow, and the decorator that marks them.

A ranking of a million rows is ten million (target, neighbour) pairs with ten labels each. This is how it takes a
fraction of a second:

* Label sets are bit masks, int64 words of 64 labels: a neighbour's whole answer set is one load.
* Effects (`.effects`) are computed for 64 targets side by side. Every quantity is an array of 64
  numbers, every step a loop over them without branches, so that the compiler emits vector instructions; all of it stays
  in the first-level cache. If weight sums are below 2**29 the numbers are int32, sixteen in one AVX-512 register.
* Nothing of size n x n or T x K x m is ever allocated; a target's neighbours are read once, in order.
* After an answer an inverted index (row -> its places among the neighbours) leads to the few targets
  concerned; scores change by integer differences and the next question comes from blocked maxima.
* Exact possible labels (`.possible`) try, from cheap to expensive, a greedy placement, two maximum flows
  that sandwich the problem, and only then a search.

Rules:

* A kernel takes arrays, fills arrays, knows no objects and checks nothing: its callers do.
* Integers only, so that sums do not depend on order or on the number of threads. Kernels release the GIL.
* One argument type for each parameter (C-contiguous arrays), so that each kernel is compiled once, also where another
  kernel calls it with a number written there; `plcore.compile_kernels` compiles all of them, and the machine code is
  kept on disk.
* A server does not compile: another process does, and a thread that calls the kernel waits (`wait_for_code`).
* Numba keeps machine code until the file of the kernel changes, though it contains the kernels called from other
  files; here it is kept until any file of kernels changes, wherever in the package it is. A constant that a kernel
  uses is in such a file too.
* Every kernel has a plain twin in the tests (`tests/plcore/query/enumeration.py` and next to its tests) that must agree
  to the last bit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from numba import njit
from numba.core.runtime.nrt import rtsys
from numba.core.types import unliteral

F = TypeVar("F", bound=Callable[..., object])


class Compiler(Protocol):
    """A decorator that compiles a function with the same arguments and results."""

    def __call__(self, function: F, /) -> F: ...


CONSTANTS = "arrays"
"""The folder whose constants kernels may use."""

_COMPILES = re.compile(rb"^\s*@kernel\b|\bnjit\b", re.MULTILINE)
"""Contents of a source file of kernels."""


def _package() -> Path:
    """Return the folder of the whole package; this file may be in a part of it."""
    folder = Path(__file__).parent
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder


def kernel_files() -> dict[Path, bytes]:
    """Return {path: source} of all files that machine code can come from, always in the same order: those with compiled
    functions, and those whose constants are compiled into them."""
    read = ((path, path.read_bytes()) for path in sorted(_package().rglob("*.py")))  # never all at once
    return {path: source for path, source in read if _COMPILES.search(source) or path.parent.name == CONSTANTS}


SOURCES = sha256(b"".join(kernel_files().values())).hexdigest()
"""Hash of all files of kernels."""


_kernels: list[Any] = []
"""Of the modules loaded so far."""
_wait: Callable[[], bool] | None = None


def wait_for_code(wait: Callable[[], bool] | None) -> None:
    """From now on wait where a kernel has no machine code on disk: compiling it here would hold the interpreter.

    wait : called again and again, in any thread; returns True after a moment, False once no other process will make
        it. None: compile here, as at first
    """
    global _wait
    _wait = wait


def code_is_kept() -> bool:
    """Return whether there is a folder for the machine code of all kernels, where other processes find it."""
    return all(one._cache.cache_path is not None for one in _all_kernels())


def code_is_there() -> bool:
    """Return whether all kernels have machine code for this processor on disk, without loading it."""
    return code_is_kept() and all(
        any(key[1] == one.targetctx.codegen().magic_tuple() for key in one._cache._cache_file._load_index())
        for one in _all_kernels()
    )


def _all_kernels() -> list[Any]:
    for path in Path(__file__).parent.glob("[!_]*.py"):
        import_module(f"{__package__}.{path.stem}")
    return [one for one in _kernels if one.py_func.__module__.startswith(f"{__package__}.")]


def kernel(function: F) -> F:
    """Compile at the first call, cache the machine code on disk, release the GIL, divide without checks."""
    try:
        compiled: Any = njit(nogil=True, cache=True, error_model="numpy")(function)
    except RuntimeError:  # no folder for a cache: compile again in every process
        _kernels.append(plain := njit(nogil=True, error_model="numpy")(function))
        return cast(F, plain)
    _kernels.append(compiled)
    # Numba's own stamp covers only the one file.
    cache = compiled._cache
    file = cache._cache_file
    file._source_stamp = SOURCES, file._source_stamp

    def load_or_wait(signature: object, target: object) -> object:
        # Not Numba's own, which loads all that it compiles with: 11 MB and a fifth of a second in each process.
        rtsys.initialize(target)
        while True:
            with cache._guard_against_spurious_io_errors():
                if (found := cache._load_overload(signature, target)) is not None:
                    return found
            if _wait is None or not _wait():
                return None

    cache.load_overload = load_or_wait
    # A literal that another kernel passes, as in `find(0)`, has a type of its own in Numba, which would compile again.
    resolve = compiled.get_call_template
    compiled.get_call_template = lambda args, named: resolve(
        tuple(map(unliteral, args)), dict(zip(named, map(unliteral, named.values()), strict=True))
    )
    return cast(F, compiled)
