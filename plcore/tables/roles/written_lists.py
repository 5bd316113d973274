"""Parse lists and objects of labels in cells: JSON, Python, NumPy, and lists written by people."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, TypeGuard

import numpy as np

from plcore.tables.text.csv import storable

_STRING = r"""(?:'[^']*'|"[^"]*")"""
_NUMPY_WORDS = re.compile(rf"\[\s*{_STRING}(?:\s+{_STRING})*\s*\]")
_QUOTED_WORDS = re.compile(rf"{_STRING}(?:\s*[,;|]\s*{_STRING})*")
_WORD_IN_QUOTES = re.compile(r"""'([^']*)'|"([^"]*)\"""")
_MOST = 100_000  # maximum characters of a cell that lists labels
_MOST_WRITTEN = 2_000  # maximum characters of a list written by a person
_LONGEST = 40  # maximum characters of a label in an unquoted list: longer text is a sentence
_CALL = re.compile(
    r"(?:\w+\.)*(?:frozenset|set|list|tuple|array|tensor|Index|Counter|OrderedDict|deque|dict_keys|dict_values)\("
)
_CUT_CALL = re.compile(r"[\[({]{0,3}(?:[^\W\d]\w*\.)*[^\W\d]\w*\([^()]*")  # list("wren", split at a comma
_KEYWORD = re.compile(r"\s*\w+=[\w.'\"]+\s*")
_NUMPY_VALUE = re.compile(rf"\b(?:np|numpy)\.(?:(?:float|int|uint)\d*\(([^()'\"]*)\)|str_\(({_STRING})\))", re.ASCII)
_ENUM = re.compile(rf"<\w+(?:\.\w+)+:\s*({_STRING}|-?\d+)>")
_R_CALL = re.compile(r"(?:c|list)\((.*)\)", re.DOTALL)
_R_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?"
_R_NAMED = re.compile(rf"(?P<name>{_STRING}|`[^`]*`|[^\W\d][\w.]*)\s*=\s*(?P<weight>{_R_NUMBER})L?", re.ASCII)
_R_EMPTY = {"character(0)", "c()", "list()", "factor(0)"}
_FIRST = "<#'\"[{(-*•–"  # first characters of lists, other than digits
_TAGS = re.compile(r"(?:<[^<>\s/]{1,40}>)+")
_ELEMENTS = re.compile(r"(?:\s*<(label|class|tag|name|category|candidate|option|item|li)>[^<>]{1,40}</\1>)+", re.I)
_ELEMENT = re.compile(r"<\w+>([^<>]+)</")
_LIST_OF_HTML = re.compile(r"<(ul|ol)>(.*)</\1>", re.DOTALL | re.I)
_HASHTAGS = re.compile(r"#[\w-]{1,40}(?:[\s,]+#[\w-]{1,40})*")
_BARE = re.compile(r"[\[{(]([^\[\](){}'\":]+)[\]})]")
_BULLET = re.compile(r"(?:[-*•–]|\(?(\d{1,2})[.)])\s+(\S.*)")
_NUMBERED = re.compile(r"(?:^|\s)\(?(\d{1,2})[.)]\s+")
_NAME_KEYS, _WEIGHT_KEYS = (
    (
        "label", "name", "class", "category", "intent", "species", "candidate", "option", "answer", "value",
        "displayname", "description", "tag",
    ),
    (
        "score", "p", "probability", "prob", "confidence", "conf", "certainty", "likelihood", "weight",
        "confidencescore", "combinedscore",
    ),
)  # fmt: skip
"""Key names in lower case, without spaces and punctuation, for `confidenceScore` and other keys of cloud services."""
SMALL_IS_NEAR = re.compile(
    r"(?:\w+_)?(?:dist|distances?|nll|neg(?:ative)?_?log_?(?:prob|likelihood)(?:s|abilit(?:y|ies))?|loss(?:es)?|costs?"
    r"|energ(?:y|ies)|perplexit(?:y|ies)|ppl|ranks?|rankings?|positions?|errors?|rmse|e_?values?|p_?values?)(?:_\w+)?"
)
"""Names, as `key_of` writes them, of numbers of which the smallest stands for the likeliest label."""
_LOG_KEYS = ("logprob", "logprobability", "logp", "loglikelihood")
_WRITTEN_NUMBER = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(%?)", re.ASCII)
_THOUGHT = re.compile(
    r"why|reason\w*|rationale|explanation|evidence|justification|comment|notes?|quote|source|model|id"
)
"""Fields of an object next to its label."""
Pairs = list[tuple[str, float | None]]


def read_cell(cell: str) -> Pairs | None:
    """Return the labels of a cell, each with its weight or None; None if the cell is something else."""
    if not cell:
        return []
    if cell.startswith(('"[', '"{')) and cell.endswith('"') and isinstance(inner := _once(cell), str):
        cell = inner.strip()  # JSON in JSON
    # NumPy arrays before Python literals, which would join 'wren' 'robin' into one word.
    for read in (_json_once, _numpy_words, _literal_once, _printed):
        try:
            value = _value(read, cell)
        except _KeyTwiceError:
            return None
        if value is not None:
            return _pairs(value)
    names = None if len(cell) > _MOST_WRITTEN else _written_out(cell)
    return None if names is None else [(name, None) for name in names]


def _once(cell: str) -> object:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return None


def _printed(cell: str) -> object:
    """Parse printed objects other than lists: `frozenset({'a'})`, `[np.str_('a')]`, `[<Label.A: 'a'>]`, `c("a")`."""
    if "(" not in cell and "<" not in cell:
        return None
    if (found := _of_r(cell)) is not None:
        return found
    inner = _unwrapped(cell)
    plain = _ENUM.sub(r"\1", _NUMPY_VALUE.sub(lambda found: found[1] or found[2], inner))
    if plain == cell:
        return None
    return _numpy_words(plain) or _literal_once(plain)


def is_r_list(cell: str) -> bool:
    """Whether a cell is a vector or list of labels as R prints it: `c("a", "b")`, `c(a = 0.5)`, `character(0)`."""
    return cell in _R_EMPTY or (_R_CALL.fullmatch(cell) is not None and read_cell(cell) is not None)


def _of_r(cell: str) -> list[str] | dict[str, float] | None:
    call = None if cell in _R_EMPTY else _R_CALL.fullmatch(cell)
    if call is None:
        return [] if cell in _R_EMPTY else None
    inner = call[1].strip()
    if _QUOTED_WORDS.fullmatch(inner):
        return [one or other for one, other in _WORD_IN_QUOTES.findall(inner)]
    named = [_R_NAMED.fullmatch(part.strip()) for part in inner.split(",")]
    pairs = [(part["name"].strip("'\"`"), float(part["weight"])) for part in named if part is not None]
    _refuse_twice([name for name, _ in pairs])
    return dict(pairs) if len(pairs) == len(named) else None


def _unwrapped(cell: str) -> str:
    """Return the literal inside a Python constructor call; the cell itself if it is something else.

    Examples: `{'a'}` of `frozenset({'a'})`, `['a']` of `array(['a'], dtype=object)`. A single pattern for the whole
    cell would backtrack to every bracket at each space after it.
    """
    call = _CALL.match(cell)
    if call is None or not cell.endswith(")"):
        return cell
    start, end = call.end(), len(cell) - 1
    while (comma := cell.rfind(",", start, end)) >= 0 and _KEYWORD.fullmatch(cell, comma + 1, end):
        end = comma
    inner = cell[start:end].strip()
    return inner if len(inner) > 1 and inner[0] in "[{(" and inner[-1] in "]})" else cell


def _written_out(cell: str) -> list[str] | None:
    """Return the labels of a list written by a person: in brackets or quotes, as tags, numbered or one per line."""
    if cell[0] not in _FIRST and not (cell[0].isdigit() and _NUMBERED.match(cell)):
        return None
    if _TAGS.fullmatch(cell):
        return cell[1:-1].split("><")
    elements = html[2].strip() if (html := _LIST_OF_HTML.fullmatch(cell)) else cell
    if _ELEMENTS.fullmatch(elements):
        return _ELEMENT.findall(elements)
    if _HASHTAGS.fullmatch(cell):
        return [part.lstrip("#") for part in re.split(r"[\s,]+", cell)]
    if cell[0] in "'\"" and _QUOTED_WORDS.fullmatch(cell):
        return _short([one or other for one, other in _WORD_IN_QUOTES.findall(cell)])
    if (bare := _BARE.fullmatch(cell)) is not None:
        names = [part.strip() for part in bare[1].split(",")]
        return _short(names) if all(any(map(str.isalpha, name)) for name in names) else None
    lines = [_BULLET.fullmatch(line.strip()) for line in cell.splitlines() if line.strip()]
    found = [line for line in lines if line is not None]
    if len(found) == len(lines) > 1 or (found and len(lines) == 1 and not _NUMBERED.findall(found[0][2])):
        numbers = [line[1] for line in found]
        return _short([line[2].strip() for line in found]) if _count_up(numbers) else None
    if _NUMBERED.match(cell) and _count_up(_NUMBERED.findall(cell)):
        return _short([part.strip(" ,;") for part in _NUMBERED.split(cell)[2::2]])
    return None


def _count_up(numbers: Sequence[str | None]) -> bool:
    """Whether these are 1, 2, 3 and so on, or all missing."""
    return not any(numbers) or list(numbers) == [str(place) for place in range(1, len(numbers) + 1)]


def _short(names: list[str]) -> list[str] | None:
    return names if all(0 < len(name) <= _LONGEST for name in names) else None


def _value(read: Callable[[str], object], cell: str) -> object:
    """Apply a reader to a cell; None if it fails, or if the result is neither a list nor an object."""
    if len(cell) > _MOST or (cell[0] not in "[{(" and read is not _printed):
        return None
    try:
        value = read(cell)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, (list, tuple, set, dict)) else None


class _KeyTwiceError(Exception):
    """An object has this key twice, so its value is ambiguous."""


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
        elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):  # pandas writes nan and np.nan for missing values
            node.elts = [
                ast.Constant(None) if getattr(one, "id", getattr(one, "attr", None)) == "nan" else one
                for one in node.elts
            ]
    return ast.literal_eval(tree)


def _refuse_twice(names: Sequence[object]) -> None:
    if len(set(names)) < len(names):
        raise _KeyTwiceError(next(name for place, name in enumerate(names) if name in names[:place]))


def plain_list(cell: str) -> list[Any] | None:
    """Return the list in a cell, as JSON or as Python writes it; None for other text."""
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return found if isinstance(found, list) else None
    return None


def key_twice(cell: str) -> object:
    """Return a duplicate key in an object of this cell; None if there is none."""
    for read in (_json_once, _literal_once):
        try:
            _value(read, cell)
        except _KeyTwiceError as error:
            return error.args[0]
    return None


def labels_of_cell(cell: str) -> list[str]:
    """Return the labels of a list or object; an empty list if the cell is something else."""
    return [name for name, _ in read_cell(cell) or ()]


def is_code(cell: str) -> bool:
    """Whether a cell is a list or object of labels as programs write it, in JSON or Python."""
    return bool(cell) and len(cell) <= _MOST and _written_out(cell) is None and is_list_of_labels(cell)


def looks_like_json(name: str) -> bool:
    """Whether a class name looks like JSON or Python code of a list or object, or a piece of it."""
    if name.startswith(("[{", '{"', '["', "{'", "['")) or name.endswith(('"}', '"]', "}]", "'}", "']")):
        return True
    if _CUT_CALL.fullmatch(name):
        return True
    if name[:1] not in "[{(":
        return False
    try:
        return isinstance(json.loads(name), (list, dict))
    except (ValueError, RecursionError):
        return is_code(name)


def is_list_of_labels(cell: str) -> bool:
    """Whether a cell is a list or object of labels, and not empty."""
    return bool(labels_of_cell(cell))


def _numpy_words(cell: str) -> list[str] | None:
    """Parse `['wren' 'robin']`, as NumPy prints an array."""
    if not _NUMPY_WORDS.fullmatch(cell):
        return None
    return [one or other for one, other in _WORD_IN_QUOTES.findall(cell)]


def _pairs(value: object) -> Pairs | None:
    """Return the labels and weights of a list of names, {name: weight}, [[name, weight]] or [{"label": name, "score":
    weight}], or of a list with one such list of objects; None if it is something else."""
    pairs: Sequence[tuple[object, object] | None]
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        (value,) = value if value[0] and all(isinstance(one, Mapping) for one in value[0]) else (value,)
    if isinstance(value, Mapping):
        lists = [next((value[key] for key in keys if key in value), None) for keys in (("labels",), ("scores",))]
        if isinstance(lists[0], list) and isinstance(lists[1], list) and len(lists[0]) == len(lists[1]):
            pairs = list(zip(*lists, strict=True))
        else:
            pairs = list(value.items())
            if all(weight is None or _is_number(weight) for weight in value.values()):
                # Arrow and pandas write null for a key that a row lacks.
                pairs = [(name, weight) for name, weight in value.items() if weight is not None]
    elif isinstance(value, set):
        names = [_name(one) for one in value]  # as text before sorting, because str of a huge integer raises
        pairs = [(name, None) for name in sorted(names, key=lambda name: name or "")]
    else:
        if isinstance(value, list) and all(isinstance(one, list) and len(one) == 2 for one in value):
            given = [one for one in value if one[1] is not None]  # maps of Arrow: null as for an object's key
            value = given if any(_is_number(one[1]) for one in given) else value
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


RANKS = {"very high": 4.0, "high": 3.0, "medium": 2.0, "moderate": 2.0, "low": 1.0, "very low": 0.5}
"""Weights of confidence words: ranks, not probabilities."""


def rank_of(value: object) -> float | None:
    """Return the rank of a confidence word; None for anything else."""
    return RANKS.get(value.strip().lower()) if isinstance(value, str) else None


def _number_in(text: str) -> float | str:
    """Return the number, or the share of a percentage, that a text holds; the text itself if it is something else."""
    found = _WRITTEN_NUMBER.fullmatch(text.strip())
    return text if found is None else float(found[1]) / (100 if found[2] else 1)


def beside_labels(cell: str) -> list[dict[str, object]]:
    """Return the fields of each object in a list of labels that are neither its label nor its weight nor a text about
    it; an empty list if the cell is something else."""
    objects = [one for one in plain_list(cell) or () if isinstance(one, Mapping)]
    return [
        {str(key): said for key, said in one.items() if key not in _used_keys(one) and not _THOUGHT.fullmatch(str(key))}
        for one in objects
    ]


def _used_keys(one: Mapping[object, object]) -> set[object]:
    """Return the keys of an object's label and weight."""
    keys = {re.sub(r"[\W_]", "", str(key)).lower(): key for key in reversed(one)}
    first = next((keys[name] for name in _NAME_KEYS if name in keys), None)
    return {first, *(keys[name] for name in (*_WEIGHT_KEYS, *_LOG_KEYS) if name in keys)}


def _pair(one: object) -> tuple[object, object] | None:
    if isinstance(one, Mapping):
        keys = {re.sub(r"[\W_]", "", str(key)).lower(): key for key in reversed(one)}
        names = [keys[name] for name in _NAME_KEYS if name in keys]
        weights = [keys[name] for name in _WEIGHT_KEYS if name in keys]
        if not weights and "votes" in keys and _is_number(one[keys["votes"]]):
            weights = [keys["votes"]]
        logs = [
            keys[name] for name in _LOG_KEYS if name in keys and _is_number(one[keys[name]]) and one[keys[name]] <= 0
        ]
        if weights and not names:  # no matter what the label's key is
            texts = [key for key, value in one.items() if isinstance(value, str) and key not in weights]
            texts = [key for key in texts if not _THOUGHT.fullmatch(str(key))]
            names = texts if len(texts) == 1 else []
        shares = [
            value
            for key, value in one.items()
            if isinstance(value, float) and 0 <= value <= 1 and not SMALL_IS_NEAR.fullmatch(str(key).lower())
        ]
        weight = one[weights[0]] if weights else shares[0] if len(shares) == 1 else None
        if weight is None and logs:
            weight = math.exp(one[logs[0]])
        if isinstance(weight, str):
            rank = rank_of(weight)
            weight = _number_in(weight) if rank is None else rank
        return (one[names[0]], weight) if names else None
    if isinstance(one, (list, tuple)):
        return (one[0], one[1]) if len(one) == 2 and _is_number(one[1]) else None
    return one, None


def _name(value: object) -> str | None:
    """Return a JSON label as text; None if it is not a label."""
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
