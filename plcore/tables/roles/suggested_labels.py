"""Guess the form of the candidates: a list, a weighted list, JSON, pairs of label and score, or a column per label."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from plcore.tables.candidates import NOT_ASKED, ROUNDED, YES, rows_of_logarithms
from plcore.tables.roles.cells import is_weighted, without_weight
from plcore.tables.roles.facts import no_list
from plcore.tables.roles.roles import Roles, label_in_name
from plcore.tables.roles.sample import (
    DEFAULT_SEPARATOR,
    MARKS,
    TEXT_NAMES,
    WORD,
    ColumnSample,
    is_written,
    key_of,
    mean_of,
    numbered_alike,
    parts_of,
    sample_columns,
)
from plcore.tables.roles.written_lists import is_code, is_list_of_labels, labels_of_cell

CANDIDATE_NAMES = {
    "candidates", "candidate", "candidate_labels", "candidate_set", "labels", "label_set",
    "partial_labels", "partial_label", "possible_labels", "options", "choices",
}  # fmt: skip
_SAYS_LABELS = re.compile(
    r"(?:^|_)(?:labels?|class(?:es)?|candidates?|guess(?:es|ed)?|options?|choices?|predictions?|preds?|possible|suggest\w*"
    r"|shortlist|species|categor(?:y|ies)|tags?|answers?|intents?|topics?|diagnos[ei]s)(?:_|$)"
)
"""Words in a column name that mark its lists as labels, if several columns hold lists."""


def is_label_key(key: str) -> bool:
    """Whether a column with this key is called like one of labels."""
    return key in CANDIDATE_NAMES or _SAYS_LABELS.search(key) is not None


_CODED = re.compile(
    r"(?:\w+_)?(?:diagnos[ie]s|dx|icd\w*|conditions?|findings?|procedures?|codes?|symptoms?|comorbidit(?:y|ies))(?:_\w+)?"
)
"""Columns with long label names, as in a classification of diseases."""
_ANSWERS = re.compile(
    r"(?:\w+_)?(?:label|class|answer|vote|annotation|rating|choice|response|judge?ment|category|decision|code)_?\d+"
)
_SAYS_WHO = re.compile(r'\{\s*"[^"]*"\s*:\s*\[')
_DECIMAL = re.compile(r"[+-]?\d*\.\d+(?:e-?\d+)?", re.ASCII | re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+\s*%?", re.ASCII)
_PERCENT = re.compile(r"\d+(?:[.,]\d+)?\s*%", re.ASCII)
_FRACTION = re.compile(r"[:=：(（]\s*[01]?[.,]\d+\s*[)）]?$", re.ASCII)
_TIME = re.compile(r"([01]?\d|2[0-3]):[0-5]\d", re.ASCII)
_CANDIDATE = "candidate|kandidat|kandidaat|kandydat|candidat|candidato|vorschlag|кандидат|候选|候補|후보"
_LABEL_WORD = rf"label|class|{_CANDIDATE}|pred|prediction|predicted|choice|top|species|name|guess|category|answer"
_SCORE_WORD = (
    "score|prob|probability|proba|p|conf|confidence|weight|certainty|pct|percent|percentage|share|likelihood"
    "|wahrscheinlichkeit|konfidenz|anteil|confianza|puntuación|probabilidad|confiance|probabilité|confiança|probabilidade"
    "|confidenza|punteggio|probabilità|waarschijnlijkheid|вероятность|置信度|概率|分数|確信度|スコア|확률"
    "|gewicht|punktzahl|poids|peso|puntaje|pontuação|вес|权重|重み|가중치"
)
_VALUE = "value|wert|valeur|valor|valore|waarde"
"""Words for a score only next to columns of candidates: elsewhere, name_1 and value_1 may be a property of the item."""
_RANKED_LABEL = re.compile(rf"(?:\w+_)?(?:{_LABEL_WORD})_?(?P<place>\d+)(?:_(?:label|class|name))?")
_RANKED_SCORE = re.compile(
    rf"(?:\w+_)?(?:{_SCORE_WORD})_?(?P<place>\d+)|(?:\w+_)?(?:{_LABEL_WORD})_?(?P<after>\d+)_(?:{_SCORE_WORD})"
)
_SOME_ROWS = 1_000
"""Rows in which the labels of several columns are compared, or counted."""
_YES = frozenset(YES.to_pylist())
_RANKED = re.compile(rf"(?:top|choice|guess|{_CANDIDATE}|cand|pred|prediction|alternative|option)_?(\d+)")
_RANKED_VALUE = re.compile(rf"{_RANKED_SCORE.pattern}|(?:{_VALUE})_?(?P<value>\d+)")
_PLACES = {"first": "1", "best": "1", "primary": "1", "second": "2", "runner_up": "2", "secondary": "2", "third": "3"}
_PLACES |= {"tertiary": "3", "fourth": "4", "fifth": "5", "a": "1", "b": "2", "c": "3", "d": "4"}
_PLACES |= {"1st": "1", "2nd": "2", "3rd": "3", "4th": "4", "5th": "5"}
_PLACED = re.compile(
    rf"(?P<place>{'|'.join(_PLACES)})(?:_(?P<what>{_LABEL_WORD}|{_SCORE_WORD}))?"
    rf"|(?P<first>{_LABEL_WORD}|{_SCORE_WORD})_(?P<last>{'|'.join(_PLACES)})"
)
_SCORE_PREFIX = re.compile(
    r"(?:p|(?:class_|label_|predicted_)?prob(?:s|a|as|ability|abilities)?|scores?|conf|confidences?|pred_prob(?:a|s|as)?"
    r"|log_?p(?:rob(?:s|a)?)?|%|pct|percent|prozent)"
    r"[_ .:(\[-](?:\(?\w{1,20}=)?",  # KNIME writes P (class=wren)
    re.I,
)
_LAST_WORD = re.compile(r"[_ .:(\[-]([^_ .:(\[-]+?)[)\]]?$")  # linear: starts at the last separator
_FIRST_WORD = re.compile(r"([^_ .:(\[-]+)[_ .:(\[-](.+)", re.DOTALL)
_SAYS_HOW_MUCH = re.compile(
    r"prob\w*|p|scores?|conf|confidences?|certainty|weights?|pct|percent|%|logits?|logprobs?|ranks?|votes?|counts?|n|num|freq",
    re.IGNORECASE,
)
_NO_CLASS = re.compile(
    r"total|sum|threshold|cut_?off|entropy|margin|max|mean|avg|average|std|sd|variance|diff(?:erence)?|delta|gap|rank|ratio"
    r"|argmax|top_?1|scores?|pred(?:iction)?|predicted(?:_\w+)?|(?:true|gold|given)_(?:label|class)|ground_truth"
    r"|words|tokens|char(?:acter)?s|letters|sentences|lines"
)
"""Ends of names of columns that tell about all scores of a row."""
PERCENT_NAME = re.compile(r"%|(?:^|[_ (-])(?:pct|percent|prozent|pourcent|porcentaje)(?:[_ )-]|$)", re.IGNORECASE)
_BOUND = re.compile(r"_(?:lower|upper|low|high|min|max|std|sd|se|var|ci_\w+)$")
_COUNT_PREFIX = re.compile(r"(?:(?:label_?)?(?:votes?|counts?|counter))[_ .:-]", re.I)
_PROSE = 6
"""Mean number of words per cell, from which it is not a label."""
MASS = 0.95
"""Default share of a row's probability that its candidates hold."""


@dataclass(frozen=True)
class ListGuess:
    """The column that lists the candidates, their separator, and the form of its cells."""

    column: ColumnSample
    separator: str
    form: str

    @property
    def lists_several(self) -> bool:
        """Whether any cell of the sample lists more than one label."""
        return any(len(self.listed(cell)) > 1 for cell in self.column.cells)

    def listed(self, cell: str) -> list[str]:
        """Return what a cell lists, in its order."""
        return listed_in(cell, self.form, self.separator)

    @property
    def labels(self) -> set[str]:
        """Return the labels in the cells of the sample."""
        if self.form == "json":
            return {name for cell in self.column.cells for name in labels_of_cell(cell)}
        pieces = self.column.pieces(self.separator)
        return {without_weight(piece, loose=True) for piece in pieces} if self.form == "weighted" else set(pieces)


def guess_list(columns: Sequence[ColumnSample], truths: Sequence[ColumnSample] = ()) -> ListGuess | None:
    """Return the column that lists the candidates: by name, else by cells (`wren|robin`, `wren:0.6|robin:0.3` or JSON);
    if it lists class numbers, the column that lists their names in the same order, if there is one.

    truths : columns that may hold true labels; a cell of theirs is a label in other columns, too
    """
    found = _guess_list(columns, truths)
    if found is None or not all(map(str.isdecimal, found.labels)):
        return found
    others = (guess_form(one) for one in columns if one is not found.column and not one.is_numbers)
    return next((one for one in others if _are_names(found, one)), found)


def _are_names(numbers: ListGuess, other: ListGuess) -> bool:
    """Whether the cells of `other` list a name for each class number, the same one everywhere."""
    if len(numbers.column.cells) != len(other.column.cells):
        return False
    cells = zip(numbers.column.cells, other.column.cells, strict=True)
    both = [(numbers.listed(mine), other.listed(yours)) for mine, yours in cells]
    if any(len(ours) != len(theirs) for ours, theirs in both):
        return False
    pairs = {pair for ours, theirs in both for pair in zip(ours, theirs, strict=True)}
    return len(pairs) == len(numbers.labels) == len(other.labels) and not any(map(str.isdecimal, other.labels))


def listed_in(cell: str, form: str, separator: str) -> list[str]:
    """Return what a cell lists, in its order, with weights if the form has them. form, separator : as in `Roles`"""
    return labels_of_cell(cell) if form == "json" else parts_of(cell, separator)


def _guess_list(columns: Sequence[ColumnSample], truths: Sequence[ColumnSample]) -> ListGuess | None:
    named = [one for one in columns if one.key in CANDIDATE_NAMES and (one.is_marks or not one.is_bits)]
    guesses = [guess_form(one) for one in named]
    if guesses:  # the first with several labels in a cell: others hold counts or the right label
        first = next((one for one in guesses if one.lists_several), guesses[0])
        answers = _answers_to(first, columns) if len(set(first.column.cells)) == 1 else None
        return first if answers is None else answers
    columns = [column for column in columns if not no_list(column.key)]
    lists = [column for column in columns if _holds_lists(column)]
    found = _telling([column for column in lists if _come_again(column)])
    # Numbered lists may be notes; lists written by programs are mostly labels.
    found = found or _telling([one for one in lists if mean_of(map(is_code, one.cells)) >= 0.5])
    if found is not None:
        return ListGuess(found, DEFAULT_SEPARATOR, "json")
    best, best_separator, most = None, DEFAULT_SEPARATOR, (False, False, 0.0)
    for column in columns:
        separator = column.separator()
        pieces = column.pieces(separator) if separator is not None else []
        if separator is None or not pieces:
            continue
        share = sum(separator in cell for cell in column.cells) / len(column.cells)
        weighted = _has_weights(column, separator)
        names = [without_weight(piece, loose=True) for piece in pieces] if weighted else pieces
        # Labels are short and repeat; parts of prose and decimal commas do not. Names of diagnoses are long.
        are_codes = _CODED.fullmatch(column.key) is not None and 4 * len(set(names)) <= len(names)
        longest = 60 if _SAYS_LABELS.search(column.key) else 30
        labels_like = len(set(names)) <= len(names) / 2 and (are_codes or mean_of(map(len, pieces)) <= longest)
        if separator in MARKS and not (weighted or are_codes):
            known = {cell for one in truths if one is not column for cell in one.cells}
            among = 0 < len(known) <= 2 * len(known & set(names))
            labels_like &= among or not (column.key in TEXT_NAMES or is_written(column.cells, separator))
        words = mean_of(_DECIMAL.fullmatch(name) is not None for name in names) < 0.5
        rank = (words, _SAYS_LABELS.search(column.key) is not None, share)
        if labels_like and share >= 0.1 and rank > most and column.share(_DECIMAL_COMMA) < 0.5:
            best, best_separator, most = column, separator, rank
    return None if best is None else guess_form(best, best_separator)


def _answers_to(options: ListGuess, columns: Sequence[ColumnSample]) -> ListGuess | None:
    """Return the column whose cells list some of the same options in every row, as votes do; None if there is none."""
    others = (guess_form(one) for one in columns if one is not options.column and not one.is_numbers and one.cells)
    return next((one for one in others if one.lists_several and one.labels <= options.labels), None)


def _telling(columns: Sequence[ColumnSample]) -> ColumnSample | None:
    """Return the first column whose name suggests labels, else the first, of those with several labels if there are
    such; None if there are no columns."""
    several = [one for one in columns if len({name for cell in one.cells for name in labels_of_cell(cell)}) > 1]
    several = [one for one in several if any(len(labels_of_cell(cell)) > 1 for cell in one.cells)] or several
    columns = [one for one in several if len(set(one.cells)) > 1] or several or columns
    told = (column for column in columns if _SAYS_LABELS.search(column.key))
    return next(told, columns[0] if columns else None)


def _holds_lists(column: ColumnSample) -> bool:
    """Whether it holds lists of labels, not sequences with repeated names or one number per class."""
    if column.is_numbers or mean_of(map(is_list_of_labels, column.cells)) < 0.5:
        return False
    lists = [labels_of_cell(cell) for cell in column.cells]
    names = [name for one in lists for name in one]
    return (
        mean_of(len(set(one)) < len(one) for one in lists) < 0.3
        and mean_of(_DECIMAL.fullmatch(name) is not None for name in names) < 0.1
    )


def _come_again(column: ColumnSample) -> bool:
    names = [name for cell in column.cells for name in labels_of_cell(cell)]
    return len(set(names)) <= len(names) / 2


def answers_of(people: list[ColumnSample], columns: Sequence[ColumnSample]) -> list[ColumnSample]:
    """Return the answers of people who are named in numbered columns: label_1 and label_2 of annotator_1 and
    annotator_2; the columns themselves if these hold the answers."""
    named = {cell for one in people for cell in one.cells}
    for family in numbered_alike([one for one in columns if one not in people]):
        found = list(family.values())
        says = all(_ANSWERS.fullmatch(one.key) for one in found) and {one.key[-1] for one in people} == {
            one.key[-1] for one in found
        }
        if says and len(found) == len(people) and named.isdisjoint(cell for one in found for cell in one.cells):
            return found
    return people


def guess_voters(columns: Sequence[ColumnSample], listed: ListGuess) -> list[ColumnSample]:
    """Return the column that names the voters of each listed label, as earlier readings wrote it, or []."""
    named = [column for column in columns if column.key == "sources" and column is not listed.column]
    return [one for one in named if mean_of(_SAYS_WHO.match(cell) is not None for cell in one.cells) == 1][:1]


def guess_form(column: ColumnSample, separator: str | None = None) -> ListGuess:
    """Guess the form of a column that lists candidates. separator : None to guess it, too"""
    if mean_of(map(is_list_of_labels, column.cells)) >= 0.5:
        return ListGuess(column, DEFAULT_SEPARATOR, "json")
    separator = separator or column.separator() or DEFAULT_SEPARATOR
    return ListGuess(column, separator, "weighted" if _has_weights(column, separator) else "list")


def _has_weights(column: ColumnSample, separator: str) -> bool:
    """Whether its lists are labels with a number each. Times (12:30) are not; nor are codes (ICD10:250), whose name
    occurs twice in a cell, unless most numbers are fractions."""
    pieces = column.pieces(separator)
    if not is_weighted(pieces) or mean_of(_TIME.fullmatch(piece) is not None for piece in pieces) >= 0.5:
        return False
    if mean_of(_FRACTION.search(piece) is not None for piece in pieces) >= 0.5:
        return True
    lists = [[without_weight(piece, loose=True) for piece in parts_of(cell, separator)] for cell in column.cells]
    return mean_of(len(set(names)) < len(names) for names in lists) < 0.05


@dataclass(frozen=True)
class PairsGuess:
    """Columns with a candidate each, best first, and the columns of their scores, equally many or none."""

    choices: tuple[ColumnSample, ...]
    scores: tuple[ColumnSample, ...]


def guess_pairs(columns: Sequence[ColumnSample]) -> PairsGuess | None:
    """Return columns such as `label1, score1, label2, score2`; None if there are fewer than two pairs."""
    labels: dict[int, ColumnSample] = {}
    scores: dict[int, ColumnSample] = {}
    named = any(_RANKED.fullmatch(column.key) for column in columns)
    for column in columns:
        key = _by_number(column.key)
        numbers = column.is_numbers or column.share(_PERCENT) >= 0.5
        if numbers and (match := (_RANKED_VALUE if named else _RANKED_SCORE).fullmatch(key)):
            scores.setdefault(int(next(filter(None, match.groups()))), column)
        elif match := _RANKED_LABEL.fullmatch(key):
            labels.setdefault(int(match["place"]), column)
    if 1 not in labels and min(labels, default=0) == 2:  # prediction, prediction_score, top2, top2_score
        _add_first(columns, labels, scores)
    if len(scores) > 1 and not labels.keys() & scores.keys():  # soc2010_1, score_1, soc2010_2, score_2
        labels = next((one for one in numbered_alike(columns) if one.keys() == scores.keys()), {})
    places = sorted(labels.keys() & scores.keys())
    if len(places) < 2 or labels.keys() != scores.keys():
        return None
    found = tuple(labels[place] for place in places)
    return None if _may_be_votes(found) else PairsGuess(found, tuple(scores[place] for place in places))


def _by_number(key: str) -> str:
    """Return a key with its place as a number: `label_1` for `first_label`, `best` or `label_a`."""
    if (match := _PLACED.fullmatch(key)) is None:
        return key
    place, what = match["place"] or match["last"], match["what"] or match["first"] or "label"
    return f"{what}_{_PLACES[place]}"


def _may_be_votes(columns: Sequence[ColumnSample]) -> bool:
    """Whether columns without numbers in their names, such as label_a and label_b, ever name the same label in a row:
    then they are votes of people, not candidates."""
    if all(one.key == _by_number(one.key) for one in columns):
        return False
    rows = zip(*(one.whole.slice(0, _SOME_ROWS).to_pylist() for one in columns), strict=True)
    named = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    return any(len(set(row)) < len(row) for row in named)


def guess_ranked(columns: Sequence[ColumnSample]) -> PairsGuess | None:
    """Return columns such as `top1, top2, top3` without scores; None if there are fewer than two, or a gap."""
    words = [(one, _by_number(one.key)) for one in columns if not one.is_numbers]
    found = {int(match[1]): one for one, key in words if (match := _RANKED.fullmatch(key))}
    places = sorted(found)
    if len(places) < 2 or places[0] > 1 or places != list(range(places[0], places[-1] + 1)):
        return None
    ranked = tuple(found[place] for place in places)
    return None if _may_be_votes(ranked) else PairsGuess(ranked, ())


def _add_first(
    columns: Sequence[ColumnSample], labels: dict[int, ColumnSample], scores: dict[int, ColumnSample]
) -> None:
    """Add the label and the score without a number, as the best candidate often has none."""
    named = {column.key: column for column in columns}
    for key, column in named.items():
        score = re.compile(rf"(?:{re.escape(key)}_)?(?:{_SCORE_WORD})")
        found = [one for name, one in named.items() if score.fullmatch(name) and one.is_numbers]
        if re.fullmatch(rf"(?:\w+_)?(?:{_LABEL_WORD})", key) and not column.is_numbers and len(found) == 1:
            labels[1], scores[1] = column, found[0]
            return


@dataclass(frozen=True)
class ScoresGuess:
    """One number column per label, the text around the labels in their names (`Roles.score_prefix`), and the cut."""

    columns: tuple[ColumnSample, ...]
    prefix: str
    cut: str
    cut_at: float


def guess_scores(columns: Sequence[ColumnSample], known: frozenset[str]) -> ScoresGuess | None:
    """Return columns such as `p_wren, p_robin` or `votes_wren, votes_robin`, or probability columns named like `known`;
    None if each of these labels has a column of 0 and 1 with holes, too: these are the labels.

    known : labels in a column of true labels
    """
    found = _guess_scores(columns, known)
    if found is None:
        return None
    bits = {one.name.strip(): one for one in columns if one.is_bits}
    own = [bits.get(label_in_name(one.name, found.prefix)) for one in found.columns]
    return None if all(own) and any(one is not None and one.has_holes for one in own) else found


def _guess_scores(columns: Sequence[ColumnSample], known: frozenset[str]) -> ScoresGuess | None:
    numbers = [column for column in columns if column.is_numbers or column.share(_PERCENT) >= 0.5]

    def may_be(found: Sequence[ColumnSample], prefix: str) -> bool:
        """Whether most known true labels, if any, are among the names of these columns."""
        names = {label_in_name(column.name, prefix) for column in found}
        return not known or len(known & names) >= len(known) / 2

    for pattern, is_kind in ((_SCORE_PREFIX, _are_shares), (_COUNT_PREFIX, _are_counts)):
        by_prefix: dict[str, list[ColumnSample]] = {}
        for column in numbers:
            if match := pattern.match(column.name.strip()):
                by_prefix.setdefault(match[0], []).append(column)
        for prefix, every in by_prefix.items():
            found = _of_classes(every, prefix)
            if len(found) < 2 or all(column.is_bits for column in found):
                continue
            if is_kind(found) and may_be(found, prefix) and "value" not in {c.key.rpartition("_")[2] for c in found}:
                cut = ("mass", MASS) if is_kind is _are_shares else ("all", 0.0)
                return ScoresGuess(tuple(found), prefix, *cut)
    named = [column for column in numbers if column.name.strip() in known]
    if len(named) >= 2 and len(named) >= len(known) / 2 and _are_shares(named) and not all(c.is_bits for c in named):
        return ScoresGuess(tuple(named), "", "mass", MASS)
    by_suffix: dict[str, list[ColumnSample]] = {}
    for column in numbers:
        if (behind := _suffix(column.name)) and column.name.strip().removesuffix(behind) in known:
            by_suffix.setdefault(behind, []).append(column)
    for behind, found in by_suffix.items():
        if len(found) >= max(2, len(known) / 2):
            return ScoresGuess(tuple(found), f"*{behind}", "mass", MASS)
    whole = next(filter(_are_whole, _said_to_be_shares(numbers)), [])
    read = replace(guess_reading(whole), cut="mass", cut_at=MASS)
    return read if whole and may_be(whole, read.prefix) else None


def _said_to_be_shares(numbers: Sequence[ColumnSample]) -> Iterator[list[ColumnSample]]:
    """Yield the columns called by a percentage, such as `wren %`, and those that may hold logarithms."""
    yield [one for one in numbers if PERCENT_NAME.search(one.name.strip())]
    yield [one for one in numbers if all(value <= 0 for value in one.values)]


def _are_whole(columns: Sequence[ColumnSample]) -> bool:
    """Whether the numbers of each row sum to 1 or 100, or are the logarithms of numbers that sum to 1."""
    if len(columns) < 2 or len({len(one.values) for one in columns}) > 1 or not columns[0].values:
        return False
    values = np.array([one.values for one in columns]).T
    if rows_of_logarithms(values).all():
        return True
    whole = 100 if (values > 1).any() else 1
    return bool((values >= 0).all() and np.isclose(values.sum(axis=1), whole, rtol=0, atol=ROUNDED * whole).all())


def _of_classes(columns: Sequence[ColumnSample], prefix: str) -> list[ColumnSample]:
    """Return the columns of scores without those of no class: a total, a threshold, the bounds of another's score."""
    keys = {one.name: key_of(one.name.strip().removeprefix(prefix)) for one in columns}
    own = {key for key in keys.values() if not _NO_CLASS.fullmatch(key)}
    return [
        one for one in columns if keys[one.name] in own and _BOUND.sub("", keys[one.name]) not in own - {keys[one.name]}
    ]


def _suffix(name: str) -> str:
    """Return the end of a name that marks a column of scores: `_prob`, ` (%)`; "" if there is none."""
    text = name.strip()
    last = _LAST_WORD.search(text)
    if last is None or not _SAYS_HOW_MUCH.fullmatch(last[1]):
        return ""
    start = last.start()
    return text[start - 1 if text[:start].endswith(" ") else start :]


def scores_of_classes(names: Iterable[str], labels: Iterable[str]) -> list[str]:
    """Return the columns with one class's score each: `cat_prob`, `cat (%)`, `p_cat`; or several named like classes.

    names : columns without another role      labels : the classes
    """
    known = {key_of(label) for label in labels} - {""}
    found, plain = [], []
    for name in names:
        text = name.strip()
        stems = [text.removesuffix(behind)] if (behind := _suffix(name)) else []
        stems += [text[match.end() :] for one in (_SCORE_PREFIX, _COUNT_PREFIX) if (match := one.match(text))]
        if (first := _FIRST_WORD.match(text)) and _SAYS_HOW_MUCH.fullmatch(first[1]):
            stems.append(first[2])
        if any(key_of(stem) in known for stem in stems):
            found.append(name)
        elif key_of(text) in known:
            plain.append(name)
    return [*found, *(plain if len(plain) > 1 else ())]


def halves_of(key: str) -> Iterator[tuple[str, str]]:
    """Yield the two parts of a key at each underscore, in both orders: a word, and perhaps the name of a class."""
    words = key.split("_")
    for place in range(1, len(words)):
        front, back = "_".join(words[:place]), "_".join(words[place:])
        yield front, back
        yield back, front


def flags_of_classes(columns: Iterable[ColumnSample], labels: Iterable[str]) -> list[str]:
    """Return the 0/1 columns that say whether a label is there (`is_cat`, `contains_cat`, `Code: cat applied`), and
    those that say the same in words of two labels or more (`source:cat` and `source:dog`)."""
    columns = list(columns)
    known = [f"_{key_of(label)}_" for label in labels if WORD.search(label)]
    flags = [one.name for one in columns if one.is_bits and any(label in f"_{one.key}_" for label in known)]
    families: dict[str, list[str]] = {}
    words = set(known)
    for one in columns:
        for word, label in () if one.is_numbers or one.is_bits else halves_of(one.key):
            if f"_{label}_" in words:
                families.setdefault(word, []).append(one.name)
    return [*flags, *(name for family in families.values() if len(family) > 1 for name in family)]


def guess_reading(columns: Sequence[ColumnSample]) -> ScoresGuess:
    """Guess how columns of scores that the user chose are read: the usual prefix or suffix that all names share, if
    any, and the cut."""
    prefix = ""
    for pattern in (_SCORE_PREFIX, _COUNT_PREFIX):
        found = {match[0] if (match := pattern.match(column.name.strip())) else "" for column in columns}
        if len(found) == 1:
            prefix = prefix or found.pop()
    behind = {_suffix(column.name) for column in columns}
    if not prefix and len(columns) > 1 and len(behind) == 1 and behind != {""}:
        prefix = f"*{behind.pop()}"
    shares = _are_shares(columns) and not all(column.is_bits for column in columns)
    return ScoresGuess(tuple(columns), prefix, *(("mass", MASS) if shares else ("all", 0.0)))


def suggest_reading(cells: pd.DataFrame, columns: Sequence[str], *, scores: bool = False) -> Roles:
    """Return roles with only these columns, and how their cells are read: a column that lists the candidates, or
    columns of scores."""
    found = sample_columns(cells[list(columns)])
    if scores:
        read = guess_reading(found)
        return Roles(score_columns=tuple(columns), score_prefix=read.prefix, cut=read.cut, cut_at=read.cut_at)
    listed = guess_form(found[0])
    return Roles(candidates=columns[0], separator=listed.separator, form=listed.form)


def _are_shares(columns: Sequence[ColumnSample]) -> bool:
    values = [value for column in columns for value in column.values]
    return bool(values) and all(0.0 <= value <= 1.0 for value in values)


def _are_counts(columns: Sequence[ColumnSample]) -> bool:
    values = [value for column in columns for value in column.values]
    return bool(values) and all(value >= 0.0 and value.is_integer() for value in values)


def are_vectors(cells: pd.DataFrame, columns: list[str]) -> bool:
    """Whether label columns are label vectors, not candidates, which fill every cell and have a 1 in every row."""
    if not columns:
        return False
    text = cells[columns].apply(lambda column: column.str.strip().str.lower())
    asked = ~text.isin(NOT_ASKED.to_pylist())
    return bool(not asked.all(axis=None) or not text.isin(_YES).any(axis=1).all())


def counts_labels(column: ColumnSample, roles: Roles, columns: Sequence[ColumnSample]) -> bool:
    """Return whether it is the number of labels of each row, as a column "total" is: it would reveal them.

    columns : those with labels, in these roles
    """
    cells = [one.whole.slice(0, _SOME_ROWS).to_pylist() for one in (column, *columns)]
    for count, *said in zip(*cells, strict=True):
        if roles.label_columns:
            number = sum(cell.strip().lower() in _YES for cell in said)
        else:
            number = len(listed_in(said[0].strip(), roles.form, roles.separator))
        if count.strip() not in (str(number), f"{number}.0"):
            return False
    return bool(roles.label_columns) or len(set(cells[0])) > 1
