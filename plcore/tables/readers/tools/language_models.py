"""Answers of language models in batches, and tables with a scored label in each row."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from plcore.arrays.words import counted, either, listed, quoted
from plcore.tables.columns import LARGEST, Finder
from plcore.tables.problems import MAX_PROBLEMS, TableError
from plcore.tables.readers.candidate_rows import (
    Cells,
    Json,
    JsonObject,
    Records,
    Row,
    a_list,
    a_name,
    a_name_or_none,
    a_number,
    a_probability,
    an_object,
    first_of,
    json_in,
    objects_in,
    read_each,
    refuse,
    rows_reading,
)
from plcore.tables.readers.mapping import Fields, LabelFields, RecordFiles, RecordTool, TableTool
from plcore.tables.readers.reading import TableReading, number_in, refusal
from plcore.tables.readers.tools.plain_records import LABEL_NAMES, WEIGHTS
from plcore.tables.roles.cells import MISSING

_LISTS = ("candidates", "labels", "predictions", "classes")
_SINGLE = ("label", "class", "category")
_CUT, _BLOCKED = ("length",), ("content_filter", "refusal")
"""Why an answer ended: it may be incomplete; it is no answer."""
_OF_SERVER = (
    *("content", "model", "id_slot", "stop_type", "stopping_word", "tokens_predicted", "tokens_evaluated"),
    *("tokens_cached", "generation_settings", "timings", "index"),
)
_FENCED = re.compile(r"\s*```\w*\s(.*?)```\s*", re.DOTALL)
_MOST_WORDS = 12
_ASK = "Ask the model for the label alone, or for JSON with a list of labels; or remove the line."

Weighted = list[tuple[str, float | None]]


@dataclass(frozen=True)
class _Request:
    """A request's reply: the labels of each choice, and the probabilities of the first token of a plain label.

    cut : whether the answer was cut off at the token limit      about : the cells that describe the row
    """

    number: str | None
    model: str | None
    choices: tuple[Weighted, ...]
    tokens: dict[str, float]
    failed: bool = False
    cut: bool = False
    about: Cells = field(default_factory=dict)


def _read_batch(records: Records, name: str) -> TableReading:
    """Read one row for each request. Raises TableError, also if an answer is prose and not a label."""
    return _reading(read_each(records, _request), name)


def _reading(requests: list[_Request], name: str) -> TableReading:
    notes = []
    whole = {label for one in requests if not one.cut for choice in one.choices for label, _ in choice}
    # If the model was allowed a single token, every answer is cut off; else a cut-off answer is not a label.
    short = [
        place
        for place, one in enumerate(requests)
        if one.cut and whole and not {label for choice in one.choices for label, _ in choice} <= whole
    ]
    if short:
        notes.append(f"Answers that were cut off (finish_reason length): {len(short)}. Nothing is known of their rows.")
        for place in short:
            requests[place] = replace(requests[place], choices=(), tokens={})
    failed = sum(request.failed for request in requests)
    if requests and failed == len(requests):
        message = f"Every request ({failed:,}) failed or was refused by the model: the file holds no answer."
        raise refusal(message, "Import the file with the answers, or run the requests again.")
    if failed:
        notes.append(
            f"{counted(failed, 'request')} failed or {either(failed, 'was', 'were')} refused by the model, so nothing "
            f"is known of {either(failed, 'its row', 'their rows')}."
        )
    labels = sorted({label for request in requests for choice in request.choices for label, _ in choice})
    odd = _odd_token(labels, requests)
    if odd is not None:
        notes.append(f"The probabilities of the tokens were not read: {odd}. Ask for several choices instead.")
    rows = []
    for request in requests:
        row = Row(request.about if request.number is None else {"custom_id": request.number, **request.about})
        if request.tokens and odd is None:
            for token, probability in request.tokens.items():
                for label in _begin(labels, token):
                    row.name(label, probability, request.model)
        else:
            for choice in request.choices:
                for label, weight in choice:
                    share = (1.0 if weight is None else weight) / len(request.choices)
                    row.name(label, share, request.model)
        rows.append(row)
    return rows_reading(rows, name, row_id="custom_id", notes=notes)


def _as_batch(record: JsonObject, row: int) -> JsonObject:
    """Convert the record to OpenAI's layout; errored, canceled and expired requests have no response."""
    result = an_object(record.get("result"), row, "result")
    if result.get("type") != "succeeded":
        return {"custom_id": record.get("custom_id"), "response": None, "error": result.get("type")}
    message = an_object(result.get("message"), row, "result.message")
    where = "result.message.content"
    blocks = [
        an_object(one, row, f"{where}[{place}]") for place, one in enumerate(a_list(message.get("content"), row, where))
    ]
    tools = [one.get("input") for one in blocks if one.get("type") == "tool_use"]
    ended = "length" if message.get("stop_reason") == "max_tokens" else message.get("stop_reason")
    texts = [text for one in blocks if isinstance(text := one.get("text"), str)]
    said = json.dumps(tools[0]) if tools else "".join(texts).strip() or None
    body: JsonObject = {
        "model": message.get("model"),
        "choices": [{"message": {"content": said}, "finish_reason": ended}],
    }
    return {"custom_id": record.get("custom_id"), "response": {"status_code": 200, "body": body}}


def _request(record: JsonObject, row: int) -> _Request:
    number = a_name_or_none(record.get("custom_id"), row, "custom_id", "an id")
    if record.get("response") is None:
        return _Request(number, None, (), {}, failed=True)
    response = an_object(record["response"], row, "response")
    if record.get("error") is not None or response.get("status_code", 200) != 200:
        return _Request(number, None, (), {}, failed=True)
    # Until 2024 vLLM wrote the completion itself there.
    where = "response" if "choices" in response else "response.body"
    body = response if "choices" in response else an_object(response.get("body"), row, where)
    model = a_name_or_none(body.get("model"), row, f"{where}.model", "a model")
    found: list[Weighted] = []
    values = a_list(body.get("choices"), row, f"{where}.choices")
    tokens: dict[str, float] = {}
    cut = False
    if isinstance(body.get("output"), list):  # from the Responses API
        values = [{"message": {"content": _said(objects_in(body["output"]))}}]
    for place, value in enumerate(values):
        inside = f"{where}.choices[{place}]"
        choice = an_object(value, row, inside)
        message = an_object(choice.get("message"), row, f"{inside}.message")
        content = message.get("content") or _arguments(message)
        ended = choice.get("finish_reason")
        if content is None or message.get("refusal") or ended in _BLOCKED:
            continue
        text = a_name(content, row, f"{inside}.message.content", "an answer")
        try:
            labels, is_plain = _labels(text, row, f"{inside}.message.content")
        except TableError:
            if ended not in _CUT:
                raise
            labels, is_plain = [(text, None)], True
        cut = cut or ended in _CUT
        found.append(labels)
        if is_plain and len(values) == 1:
            tokens = _first_token(choice.get("logprobs"), row, f"{inside}.logprobs")
    return _Request(number, model, tuple(found), tokens, failed=not found, cut=cut)


def _said(output: Sequence[JsonObject]) -> str | None:
    """Return the text of the messages in an output."""
    blocks = [block for one in output for block in objects_in(one.get("content"))]
    return "".join(text for block in blocks if isinstance(text := block.get("text"), str)).strip() or None


def _arguments(message: JsonObject) -> Json:
    """Return the JSON that the model passed to a tool, as text; None if it called none."""
    calls = objects_in(message.get("tool_calls"))
    called = calls[0].get("function") if calls else message.get("function_call")
    return called.get("arguments") if isinstance(called, dict) else None


def _completion(record: JsonObject, row: int) -> _Request:
    about: Cells = {
        key: value
        for key, value in record.items()
        if key not in _OF_SERVER and isinstance(value, (str, int)) and not isinstance(value, bool)
    }
    model = a_name_or_none(record.get("model"), row, "model", "a model")
    content = a_name_or_none(record.get("content"), row, "content", "an answer")
    if content is None:
        return _Request(None, model, (), {}, failed=True, about=about)
    labels, is_plain = _labels(content, row, "content")
    tokens = _probable(record.get("completion_probabilities"), row) if is_plain else {}
    return _Request(None, model, (labels,), tokens, about=about)


def _probable(value: Json, row: int) -> dict[str, float]:
    """Return the probabilities of the possible first tokens of a completion, in any of llama.cpp's layouts."""
    where = "completion_probabilities"
    steps = a_list(value, row, where)
    first = an_object(steps[0], row, f"{where}[0]") if steps else {}
    field_ = next((name for name in ("top_logprobs", "top_probs", "probs") if name in first), "probs")
    tokens: dict[str, float] = {}
    for place, one in enumerate(a_list(first.get(field_), row, f"{where}[0].{field_}")):
        inside = f"{where}[0].{field_}[{place}]"
        top = an_object(one, row, inside)
        token = first_of(top, ("token", "tok_str"))
        if isinstance(token, str) and token.strip():
            if "logprob" in top:
                weight = a_probability(top["logprob"], row, f"{inside}.logprob")
            else:
                weight = a_number(top.get("prob"), row, f"{inside}.prob", "a probability")
            tokens[token.strip()] = tokens.get(token.strip(), 0.0) + weight
    return tokens


def _labels(text: str, row: int, where: str) -> tuple[Weighted, bool]:
    """Return the labels of an answer with their weights, and whether it is one plain label."""
    fenced = _FENCED.fullmatch(text)
    inner = fenced[1].strip() if fenced else text
    value = json_in(inner)
    if isinstance(value, dict):
        named = first_of(value, _LISTS)
        if named is not None:
            value = named
        elif first_of(value, _SINGLE) is not None:
            value = [value]
        else:
            value = [{"label": name, "p": weight} for name, weight in value.items()]
    if isinstance(value, dict):
        value = [{"label": name, "p": weight} for name, weight in value.items()]
    if isinstance(value, list):
        labels = LabelFields(where, LABEL_NAMES, WEIGHTS).of({where: value}, row)
        return [(label, weight) for label, weight, _ in labels], False
    if isinstance(value, str):
        inner = value
    if len(inner.split()) > _MOST_WORDS or "\n" in inner.strip():
        raise refuse(row, where, f"the answer is prose and no label: {quoted(inner)}.", _ASK)
    return [(a_name(inner, row, where), None)], True


def _first_token(value: Json, row: int, where: str) -> dict[str, float]:
    """Return the probabilities of the possible first tokens of the answer."""
    if value is None:
        return {}
    content = a_list(an_object(value, row, where).get("content"), row, f"{where}.content")
    if not content:
        return {}
    first = an_object(content[0], row, f"{where}.content[0]")
    tokens: dict[str, float] = {}
    inside = f"{where}.content[0].top_logprobs"
    for place, one in enumerate(a_list(first.get("top_logprobs"), row, inside)):
        top = an_object(one, row, f"{inside}[{place}]")
        token = top.get("token")
        if not isinstance(token, str):
            raise refuse(row, f"{inside}[{place}].token", "expected a text.", "Write the token as the model gave it.")
        probability = a_probability(top.get("logprob"), row, f"{inside}[{place}].logprob")
        if token.strip():
            tokens[token.strip()] = tokens.get(token.strip(), 0.0) + probability
    return tokens


def _begin(labels: Sequence[str], token: str) -> list[str]:
    return [label for label in labels if label.startswith(token)]


def _odd_token(labels: Sequence[str], requests: Sequence[_Request]) -> str | None:
    """Say why the tokens do not distinguish the labels; None if they do."""
    for request in requests:
        for token in request.tokens:
            begun = _begin(labels, token)
            if len(begun) > 1:
                return f"several labels begin with {quoted(token)}, as {listed(begun, 3)}"
        answered = {label for choice in request.choices for label, _ in choice}
        if request.tokens and not any(_begin(sorted(answered), token) for token in request.tokens):
            return f"the answer {listed(sorted(answered), 1)} begins with none of {listed(list(request.tokens), 3)}"
    return None


_IDS = (
    "id", "item", "item_id", "row", "row_id", "file", "filename", "file_name", "filepath", "path", "image", "task",
    "custom_id", "sequence",
)  # fmt: skip
_LABELS = ("label", "class", "category", "prediction", "candidate", "candidate_label")
_SCORES = ("score", "probability", "prob", "p", "confidence")


def _read_scores(cells: pd.DataFrame, name: str) -> TableReading:
    """Read one row for each item, in order of first occurrence; columns that are the same in all rows of an item
    describe it. Raises TableError."""
    columns = _columns(cells)
    if columns is None:
        raise refusal(
            f"No labels with scores were found in the columns {listed([str(name) for name in cells.columns])}.",
            "Name the columns id, label and score.",
        )
    item, label, score = columns
    finder = Finder.of(cells)
    names = cells[item].str.strip()
    others = [str(name) for name in cells.columns if str(name) not in columns]
    same = [name for name in others if bool((cells[name].groupby(names).nunique() == 1).all())]
    dropped = [name for name in others if name not in same and name.strip().lower() != "rank"]
    notes = [f"Columns {listed(dropped)} differ between labels of one item and were left out."] if dropped else []
    rows: dict[str, Row] = {}
    kept = cells[[item, *same]].to_dict("records")
    lines = zip(names, cells[label].str.strip(), cells[score].str.strip(), strict=True)
    for place, (named, text, number) in enumerate(lines):
        row = rows.setdefault(named, Row({str(column): value for column, value in kept[place].items()}))
        weight = number_in(number)
        if len(finder.problems) >= MAX_PROBLEMS:
            break
        if not named:
            finder.add(place, item, "the row names no item.", "Write its id, or remove the row.")
        elif not text:
            finder.add(place, label, "the label is empty.", "Write it, or remove the row.")
        elif text in MISSING:
            message = f"{quoted(text)} is no label: programs write it where they have nothing."
            finder.add(place, label, message, "Remove the row, or give the class another name.")
        elif text in row.weights:
            message = f"{quoted(named)} has the label {quoted(text)} twice."
            finder.add(place, label, message, "Keep one of the two scores.")
        elif weight is None or not 0 <= weight <= LARGEST:
            message = f"expected a score, a number from 0 on, got {quoted(number)}."
            finder.add(place, score, message, "Write such a number, or remove the row.")
        else:
            row.name(text, weight)
    finder.refuse()
    return rows_reading(list(rows.values()), name, describing=same, row_id=item, notes=notes)


def _columns(cells: pd.DataFrame) -> tuple[str, str, str] | None:
    """Find the columns of items, labels and scores; None if they are missing, or no item has two labels."""
    low = {str(name).strip().lower(): str(name) for name in reversed(cells.columns)}
    found = [next((low[name] for name in names if name in low), None) for names in (_IDS, _LABELS, _SCORES)]
    item, label, score = found
    if item is None or label is None or score is None:
        return None
    return (item, label, score) if bool(cells[item].duplicated().any()) else None


BATCHES = RecordTool(
    "batch of a language model", (Fields({"custom_id": object}, one_of=(("response", "error"),)),), _read_batch
)


def _read_files(files: Mapping[str, Records], name: str) -> TableReading:
    """Read one row for each request in any of the files; a file with an answer to it counts. Raises TableError."""
    found: dict[str, Json] = {}
    for place, record in enumerate(record for records in files.values() for record in records):
        number = an_object(record, None, None).get("custom_id")
        key = f"\x1f{place}" if number is None else str(number)
        if key not in found or _has_answer(record):
            found[key] = record
    return _read_batch([*found.values()], name)


def _has_answer(record: Json) -> bool:
    return isinstance(record, dict) and record.get("response") is not None and record.get("error") is None


BATCH_FILES = RecordFiles(
    "output and error file of a language model's batch",
    lambda files: all(BATCHES.fits(records) for records in files.values()),
    _read_files,
)
LLAMA_CPP = RecordTool(
    "completions of llama.cpp",
    (Fields({"content": str, "completion_probabilities": list}),),
    lambda records, name: _reading(read_each(records, _completion), name),
)
"""Answers of `/completion`; before December 2024 with `tok_str` and `prob`, later with log probabilities."""
ANTHROPIC_BATCHES = RecordTool(
    "Anthropic message batch",
    (Fields({"custom_id": object, "result": dict}, inside={"result": ("type",)}),),
    lambda records, name: _read_batch(read_each(records, _as_batch), name),
)
LONG_SCORES = TableTool(
    "table with a scored label in each row",
    _read_scores,
    also=lambda cells: _columns(cells) is not None,
    has_rows=False,
)
