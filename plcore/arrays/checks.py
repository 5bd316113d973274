"""Checks of parameters, which need no NumPy. An error names the parameter, what is allowed, and the value given."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from numbers import Integral, Real
from typing import TypeGuard


def check_choice(name: str, value: object, allowed: Sequence[str]) -> None:
    """Raise ValueError unless value is one of the allowed strings."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}. Got {value!r}.")


def check_names(what: str, given: Iterable[str], known: Collection[str]) -> None:
    """Raise ValueError unless all given names are known. what : a singular noun for the message, such as
    "setting"."""
    if unknown := sorted(set(given) - set(known)):
        raise ValueError(f"There is no {what} {unknown[0]!r}; there are {', '.join(known)}.")


def check_int(name: str, value: object, least: int) -> None:
    """Raise ValueError unless value is an int of at least `least`. A bool is refused."""
    if not is_whole(value) or int(value) < least:
        raise ValueError(f"{name} must be an int of at least {least}. Got {value!r}.")


def check_share(name: str, value: object) -> None:
    """Raise ValueError unless value is a number in [0, 1)."""
    if not is_real(value) or not 0 <= float(value) < 1:
        raise ValueError(f"{name} must be a number in [0, 1). Got {value!r}.")


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether value is a Python or NumPy int, but not a bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: object) -> TypeGuard[float]:
    """Return whether value is a Python or NumPy number, but not a bool."""
    return isinstance(value, Real) and not isinstance(value, bool)
