"""Lists and objects of labels as cells write them: JSON, Python, NumPy, and lists that people number."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import TypeGuard

import numpy as np

from plcore.tables.text.csv import storable

_NUMPY_WORDS = re.compile(r"""\[\s*(?:'[^']*'|"[^"]*")(?:\s+(?:'[^']*'|"[^"]*"))*\s*\]""")
_NUMPY_WORD = re.compile(r"""'([^']*)'|"([^"]*)\"""")
_MOST = 100_000  # characters of a cell: a longer one is no list of labels
_NAME_KEYS, _WEIGHT_KEYS = (
    ("label", "name", "class", "value"),
    ("score", "p", "probability", "confidence", "weight"),
)
Pairs = list[tuple[str, float | None]]


def read_cell(cell: str) -> Pairs | None:
    """The labels of a cell, each with its weight or None; None where the cell is something else."""
    if not cell:
        return []
    # numpy's arrays before Python's literals, which would join 'wren' 'robin' to one word
    for read in (_json_once, _numpy_words, _literal_once):
        try:
            value = _value(read, cell)
        except _KeyTwiceError:
            return None
        if value is not None:
            return _pairs(value)
    return None


def _value(read: Callable[[str], object], cell: str) -> object:
    """What a reader makes of a cell; None where it cannot, or where it is neither list nor object."""
    if len(cell) > _MOST or cell[0] not in "[{(":
        return None
    try:
        value = read(cell)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, (list, tuple, set, dict)) else None


class _KeyTwiceError(Exception):
    """An object has this key twice: which of its values is meant nobody can tell."""


def _json_once(cell: str) -> object:
    return json.loads(cell, object_pairs_hook=_object)


def _object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    _refuse_twice([name for name, _ in pairs])
    return dict(pairs)


def _literal_once(cell: str) -> object:
    tree = ast.parse(cell.strip(), mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            _refuse_twice([key.value for key in node.keys if isinstance(key, ast.Constant)])
    return ast.literal_eval(tree)


def _refuse_twice(names: Sequence[object]) -> None:
    if len(set(names)) < len(names):
        raise _KeyTwiceError(next(name for place, name in enumerate(names) if name in names[:place]))


def key_twice(cell: str) -> object:
    """The key that an object of this cell has twice; None where there is none."""
    for read in (_json_once, _literal_once):
        try:
            _value(read, cell)
        except _KeyTwiceError as error:
            return error.args[0]
    return None


def labels_of_cell(cell: str) -> list[str]:
    """The labels of a JSON or Python list or object; none where it is something else."""
    return [name for name, _ in read_cell(cell) or ()]


def is_list_of_labels(cell: str) -> bool:
    """Whether a cell, not empty, is a list or an object of labels in JSON or Python."""
    return bool(labels_of_cell(cell))


def _numpy_words(cell: str) -> list[str] | None:
    """`['wren' 'robin']`, as numpy prints an array."""
    if not _NUMPY_WORDS.fullmatch(cell):
        return None
    return [one or other for one, other in _NUMPY_WORD.findall(cell)]


def _pairs(value: object) -> Pairs | None:
    """Labels and weights of a list of names, {name: weight}, [[name, weight]] or [{"label": name, "score": weight}]."""
    pairs: Sequence[tuple[object, object] | None]
    if isinstance(value, Mapping):
        lists = [
            next((value[key] for key in keys if key in value), None) for keys in (("labels",), ("scores",))
        ]
        if isinstance(lists[0], list) and isinstance(lists[1], list) and len(lists[0]) == len(lists[1]):
            pairs = list(zip(*lists, strict=True))
        else:
            pairs = list(value.items())
            if all(weight is None or _is_number(weight) for weight in value.values()):
                # Arrow and pandas write null where a row lacks a key.
                pairs = [(name, weight) for name, weight in value.items() if weight is not None]
    elif isinstance(value, set):
        pairs = [(name, None) for name in sorted(value, key=str)]
    else:
        pairs = [_pair(one) for one in value] if isinstance(value, Iterable) else []
    found: Pairs = []
    for pair in pairs:
        if pair is None:
            return None
        name, weight = _name(pair[0]), pair[1]
        if name is None or not (weight is None or _is_number(weight)):
            return None
        found.append((name, None if weight is None else float(weight)))
    return found


def _pair(one: object) -> tuple[object, object] | None:
    if isinstance(one, Mapping):
        names = [key for key in _NAME_KEYS if key in one]
        weights = [key for key in _WEIGHT_KEYS if key in one]
        return (one[names[0]], one[weights[0]] if weights else None) if names else None
    if isinstance(one, (list, tuple)):
        return (one[0], one[1]) if len(one) == 2 and _is_number(one[1]) else None
    return one, None


def _name(value: object) -> str | None:
    """A label of JSON as text; None where it is no label."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and not np.isfinite(value):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str):
        return value if storable(value) and "\0" not in value else None
    try:
        return str(value) if isinstance(value, (int, float)) else "" if value is None else None
    except ValueError:  # an integer of thousands of digits
        return None


def _is_number(value: object) -> TypeGuard[float]:
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return bool(np.isfinite(float(value)))
    except OverflowError:  # an integer of hundreds of digits
        return False
