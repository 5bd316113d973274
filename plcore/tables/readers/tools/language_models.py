"""Answers of language models in batches, and tables with a scored label in each row."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from plcore.arrays.words import counted, either, listed, quoted
from plcore.tables.columns import LARGEST, Finder
from plcore.tables.problems import MAX_PROBLEMS, TableError, refusal
from plcore.tables.readers.candidate_rows import (
    At,
    Best,
    Cells,
    Json,
    JsonObject,
    Records,
    Row,
    json_in,
    read_each,
    rows_reading,
)
from plcore.tables.readers.mapping import LOOK, Fields, LabelFields, RecordFiles, RecordTool, TableTool
from plcore.tables.readers.reading import TableReading, number_in, refusing
from plcore.tables.readers.tools.plain_records import LABEL_NAMES, WEIGHTS
from plcore.tables.roles.cells import MISSING

_LISTS = ("candidates", "labels", "predictions", "classes")
_SINGLE = ("label", "class", "category")
_CUT, _BLOCKED = ("length",), ("content_filter", "refusal")
"""Why an answer ended: it may be incomplete; it is not an answer."""
_OF_SERVER = (
    *("content", "model", "id_slot", "stop_type", "stopping_word", "tokens_predicted", "tokens_evaluated"),
    *("tokens_cached", "generation_settings", "timings", "index"),
    *("created_at", "response", "message", "thinking", "done", "done_reason", "context", "total_duration"),
    *("load_duration", "prompt_eval_count", "prompt_eval_duration", "eval_count", "eval_duration"),
)
"""Fields that llama.cpp and Ollama write themselves; others describe the row."""
_ENDED = {"MAX_TOKENS": "length", "STOP": "stop"}
"""Why an answer of Gemini ended, in OpenAI's words; anything else is a filter."""
_ALTERNATIVES = (
    "alternatives", "alternative_labels", "other_labels", "runners_up", "secondary_labels", "alternative", "runner_up",
    "alternative_label", "other_label", "second_label", "second_choice", "secondary_label", "secondary", "second",
)  # fmt: skip
"""Fields with further labels, next to one of `_SINGLE`."""
_FENCED = re.compile(r"\s*```\w*\s(.*?)```\s*", re.DOTALL)
_MOST_WORDS = 12
_TEXT = "text"
"""The column with the text of a request."""
_ASK = "Ask the model for only the label, or for JSON with a list of labels; or remove the line."

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
        message = f"Every request ({failed:,}) failed or was refused by the model: the file contains no answer."
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
                best: Best = {}
                for label, weight in choice:
                    share = (1.0 if weight is None else weight) / len(request.choices)
                    row.name_best(label, share, request.model, best)
        rows.append(row)
    return rows_reading(rows, name, row_id="custom_id", text=_TEXT, notes=notes)


def _as_batch(record: At) -> JsonObject:
    """Convert the record to OpenAI's layout; errored, canceled and expired requests have no response."""
    result, number = record["result"], record["custom_id"].value
    if result["type"].value != "succeeded":
        return {"custom_id": number, "response": None, "error": result["type"].value}
    message = result["message"]
    blocks = message["content"].items()
    tools = [one["input"].value for one in blocks if one["type"].value == "tool_use"]
    ended = message["stop_reason"].value
    texts = [text for one in blocks if isinstance(text := one["text"].value, str)]
    said = json.dumps(tools[0]) if tools else "".join(texts).strip() or None
    choice: JsonObject = {"message": {"content": said}, "finish_reason": "length" if ended == "max_tokens" else ended}
    body: JsonObject = {"model": message["model"].value, "choices": [choice]}
    return {"custom_id": number, "response": {"status_code": 200, "body": body}}


def _of_gemini(record: At) -> JsonObject:
    """Convert the record to OpenAI's layout. Vertex AI writes the request next to the response."""
    number, response = record["key"].value, record["response"].or_empty
    choices: list[Json] = []
    for one in response["candidates"].items():
        parts = [part for part in one["content"].or_empty["parts"].objects() if part["thought"].value is not True]
        calls = [part["functionCall"]["args"].value for part in parts if "functionCall" in part]
        texts = [text for part in parts if isinstance(text := part["text"].value, str)]
        said = json.dumps(calls[0]) if calls else "".join(texts).strip() or None
        ended = _ENDED.get(str(one["finishReason"].value or "STOP"), _BLOCKED[0])
        choices.append({"message": {"content": said}, "finish_reason": ended})
    body: JsonObject = {"model": response["modelVersion"].value, "choices": choices}
    return {"custom_id": number, "response": {"body": body} if choices else None, "error": record["error"].value}


def _request(record: At) -> _Request:
    number, response = record["custom_id"].name_or_none("an id"), record["response"]
    if response.value is None or record["error"].value is not None:
        return _Request(number, None, (), {}, failed=True)
    if response.object().get("status_code", 200) != 200:
        return _Request(number, None, (), {}, failed=True)
    # Until 2024 vLLM wrote the completion itself there.
    body = response if "choices" in response else response["body"]
    model = body["model"].name_or_none("a model")
    found: list[Weighted] = []
    choices = body["choices"].items()
    tokens: dict[str, float] = {}
    cut = False
    if isinstance(body["output"].value, list):  # from the Responses API
        choices = [At({"message": {"content": _said(body["output"])}}, record.row, body["output"].where)]
    for choice in choices:
        message, ended = choice["message"], choice["finish_reason"].value
        content = message["content"] if message["content"].value else _arguments(message)
        if content.value is None or message["refusal"].value or ended in _BLOCKED:
            continue
        text = content.name("an answer")
        try:
            labels, is_plain = _labels(text, content)
        except TableError:
            if ended not in _CUT:
                raise
            labels, is_plain = [(text, None)], True
        cut = cut or ended in _CUT
        found.append(labels)
        if is_plain and len(choices) == 1:
            tokens = _first_token(choice["logprobs"])
    return _Request(number, model, tuple(found), tokens, failed=not found, cut=cut)


def _said(output: At) -> str | None:
    """Return the text of the messages in an output."""
    blocks = [block for one in output.objects() for block in one["content"].objects()]
    return "".join(text for block in blocks if isinstance(text := block["text"].value, str)).strip() or None


def _arguments(message: At) -> At:
    """Return the JSON that the model passed to a tool, as text; null if it called none."""
    calls = message["tool_calls"].objects()
    return (calls[0]["function"] if calls else message["function_call"]).get("arguments")


def _about(record: At) -> Cells:
    """Return the fields that describe the row."""
    return {
        key: value
        for key, value in record.object().items()
        if key not in _OF_SERVER and isinstance(value, (str, int)) and not isinstance(value, bool)
    }


def _completion(record: At) -> _Request:
    about = _about(record)
    model = record["model"].name_or_none("a model")
    content = record["content"].name_or_none("an answer")
    if content is None:
        return _Request(None, model, (), {}, failed=True, about=about)
    labels, is_plain = _labels(content, record["content"])
    tokens = _probable(record["completion_probabilities"]) if is_plain else {}
    return _Request(None, model, (labels,), tokens, about=about)


def _answer(record: At) -> _Request:
    """Read an answer of Ollama's `/api/generate` or `/api/chat`."""
    message = record["message"].or_empty
    calls = message["tool_calls"].objects()
    said = At(json.dumps(calls[0]["function"]["arguments"].value)) if calls else message["content"]
    choice: JsonObject = {
        "message": {"content": record["response"].value if "response" in record else said.value},
        "finish_reason": record["done_reason"].value,
    }
    body: JsonObject = {"model": record["model"].value, "choices": [choice]}
    return replace(_request(At({"response": {"body": body}}, record.row)), about=_about(record))


def _probable(steps: At) -> dict[str, float]:
    """Return the probabilities of the possible first tokens of a completion, in any of llama.cpp's layouts."""
    tokens: dict[str, float] = defaultdict(float)
    for first in steps.items()[:1]:
        for top in first.first(("top_logprobs", "top_probs", "probs")).items():
            token = top.first(("token", "tok_str")).value
            if isinstance(token, str) and token.strip():
                logged = top["logprob"]
                weight = top["prob"].number("a probability") if logged.value is None else logged.probability()
                tokens[token.strip()] += weight
    return tokens


def _labels(text: str, said: At) -> tuple[Weighted, bool]:
    """Return the labels of an answer with their weights, and whether it is one plain label. said : its place"""
    fenced = _FENCED.fullmatch(text)
    inner = fenced[1].strip() if fenced else text
    value = json_in(inner)
    if isinstance(value, dict):
        named = At(value).first(_LISTS).value
        if named is not None:
            value = named
        elif At(value).first(_SINGLE).value is not None:
            others = At(value).first(_ALTERNATIVES).value
            value = [value, *(others if isinstance(others, list) else [others] if others else ())]
    if isinstance(value, dict):
        value = [{"label": name, "p": weight} for name, weight in value.items()]
    if isinstance(value, list):
        labels = LabelFields(str(said.where), LABEL_NAMES, WEIGHTS).of(At({str(said.where): value}, said.row))
        return [(label, weight) for label, weight, _ in labels], False
    if isinstance(value, str):
        inner = value
    if len(inner.split()) > _MOST_WORDS or "\n" in inner.strip():
        raise said.refuse(f"the answer is prose and no label: {quoted(inner)}.", _ASK)
    return [(At(inner, said.row, said.where).name(), None)], True


def _first_token(logged: At) -> dict[str, float]:
    """Return the probabilities of the possible first tokens of the answer."""
    tokens: dict[str, float] = defaultdict(float)
    for first in logged.or_empty["content"].items()[:1]:
        for top in first["top_logprobs"].items():
            token = top["token"].value
            if not isinstance(token, str):
                raise top["token"].refuse("expected a text.", "Write the token as the model gave it.")
            probability = top["logprob"].probability()
            if token.strip():
                tokens[token.strip()] += probability
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
    "custom_id", "sequence", "doc_id", "document_id", "sample_id", "example_id", "record_id", "text_id", "image_id",
)  # fmt: skip
_LABELS = ("label", "class", "category", "prediction", "candidate", "candidate_label")
_NAMES = ("species", "scientific_name", "common_name", "taxon", "intent", "topic", "option", "guess")
"""Columns of labels only if no item has one of them twice: detections in a picture have."""
_SCORES = ("score", "probability", "prob", "p", "confidence")
_RANK = "rank"


def _read_scores(cells: pd.DataFrame, name: str) -> TableReading:
    """Read one row for each item, in order of first occurrence; columns that are the same in all rows of an item
    describe it. Ranks without scores are left out: they say which label is likelier, not by how much. Raises
    TableError."""
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
    dropped = [name for name in others if name not in same and name.strip().lower() != _RANK]
    notes = [f"Columns {listed(dropped)} differ between labels of one item and were left out."] if dropped else []
    if ranked := score.strip().lower() == _RANK:
        notes.append(f"Column {score!r} was left out: it says which label is likelier, not by how much.")
    rows: dict[str, Row] = {}
    kept = cells[[item, *same]].to_dict("records")
    lines = zip(names, cells[label].str.strip(), cells[score].str.strip(), strict=True)
    for place, (named, text, number) in enumerate(lines):
        row = rows.setdefault(named, Row({str(column): value for column, value in kept[place].items()}))
        weight = None if ranked else number_in(number)
        if len(finder.problems) >= MAX_PROBLEMS:
            break
        if not named:
            finder.add(place, item, "the row names no item.", "Write its id, or remove the row.")
        elif not text:
            finder.add(place, label, "the label is empty.", "Write it, or remove the row.")
        elif text in MISSING:
            message = f"{quoted(text)} is not a label: programs write it where they have nothing."
            finder.add(place, label, message, "Remove the row, or give the class another name.")
        elif text in row.weights:
            message = f"{quoted(named)} has the label {quoted(text)} twice."
            finder.add(place, label, message, "Keep one of the two scores.")
        elif not ranked and (weight is None or not 0 <= weight <= LARGEST):
            message = f"expected a score, a number from 0 on, got {quoted(number)}."
            finder.add(place, score, message, "Write such a number, or remove the row.")
        else:
            row.name(text, weight)
    finder.refuse()
    return rows_reading(list(rows.values()), name, describing=same, row_id=item, notes=notes)


def _columns(cells: pd.DataFrame) -> tuple[str, str, str] | None:
    """Find the columns of items, labels and scores; None if they are missing, or no item has two labels."""
    low = {str(name).strip().lower(): str(name) for name in reversed(cells.columns)}
    wanted = (_IDS, (*_LABELS, *_NAMES), (*_SCORES, _RANK))
    item, label, score = (next((low[name] for name in names if name in low), None) for names in wanted)
    if item is None or label is None or score is None or not cells[item].duplicated().any():
        return None
    twice = label.strip().lower() in _NAMES and bool(cells.duplicated([item, label]).any())
    return None if twice else (item, label, score)


BATCHES = RecordTool(
    "batch of a language model", (Fields({"custom_id": object}, one_of=(("response", "error"),)),), _read_batch
)


ANTHROPIC_BATCHES = RecordTool(
    "Anthropic message batch",
    (Fields({"custom_id": object, "result": dict}, inside={"result": ("type",)}),),
    lambda records, name: _read_batch(read_each(records, _as_batch), name),
)


def _is_gemini(records: Records) -> bool:
    seen = [one for one in records[:LOOK] if isinstance(one, dict) and ("response" in one or "error" in one)]
    responses = [one.get("response") for one in seen]
    return len(seen) == len(records[:LOOK]) and any(isinstance(one, dict) and "candidates" in one for one in responses)


def _read_gemini(records: Records, name: str) -> TableReading:
    requests = read_each(read_each(records, _of_gemini), _request)
    asked = read_each(records, _asked)
    return _reading(
        [replace(one, about={} if text is None else {_TEXT: text}) for one, text in zip(requests, asked, strict=True)],
        name,
    )


GEMINI_BATCHES = RecordTool("Gemini batch", _is_gemini, _read_gemini)
"""Lines with the request's key; those of Vertex AI hold the request itself."""

_REQUESTS = (
    Fields({"custom_id": object, "body": dict}, inside={"body": ("messages",)}),
    Fields({"custom_id": object, "body": dict}, inside={"body": ("input",)}),
    Fields({"custom_id": object, "params": dict}, inside={"params": ("messages",)}),
    Fields({"key": object, "request": dict}, inside={"request": ("contents",)}),
)
_LAYOUTS: tuple[tuple[RecordTool, Callable[[At], JsonObject]], ...] = (
    (BATCHES, At.object),
    (ANTHROPIC_BATCHES, _as_batch),
    (GEMINI_BATCHES, _of_gemini),
)
BATCH_REQUESTS = RecordTool(
    "requests of a language model's batch",
    lambda records: any(one.match(records) for one in _REQUESTS) and not _outputs(records),
    refusing(
        "The file holds the requests of a language model's batch, and no answers.",
        "Put the file with the batch's output into one zip with it.",
    ),
)


def _outputs(records: Records) -> list[Callable[[At], JsonObject]]:
    """Return the function that converts records of a batch's output to OpenAI's layout; none for other records."""
    return [convert for tool, convert in _LAYOUTS if tool.fits(records)][:1]


def _asked(record: At) -> str | None:
    """Return the text of a request: what the user said, without the instructions of the system; None if there is
    none."""
    inside = record.first(("body", "params", "request")).or_empty
    messages = inside.first(("messages", "input", "contents"))
    if isinstance(messages.value, str):
        return messages.value.strip() or None
    texts: list[Json] = []
    for one in messages.objects():
        if one["role"].value in (None, "user"):
            content = one.first(("content", "parts"))
            texts += [block["text"].value for block in content.objects()] or [content.value]
    return "\n".join(text.strip() for text in texts if isinstance(text, str) and text.strip()) or None


def _read_files(files: Mapping[str, Records], name: str) -> TableReading:
    """Read one row for each request in any of the files; a file with an answer to it counts. Raises TableError."""
    found: dict[str, JsonObject] = {}
    texts: dict[str, str | None] = {}
    for file, records in files.items():
        converted = [read_each(records, convert) for convert in _outputs(records)]
        if not converted:
            numbers = read_each(records, lambda record: record.first(("custom_id", "key")).name("an id"))
            texts |= dict(zip(numbers, read_each(records, _asked), strict=True))
        for place, record in enumerate(one for records_ in converted for one in records_):
            number = record.get("custom_id")
            key = f"{file}\x1f{place}" if number is None else str(number).strip()
            if key not in found or _has_answer(record):
                found[key] = record
    for number in texts:
        found.setdefault(number, {"custom_id": number, "response": None})
    requests = read_each([*found.values()], _request)
    about = [texts.get(str(one.number)) for one in requests]
    return _reading(
        [one if text is None else replace(one, about={_TEXT: text}) for one, text in zip(requests, about, strict=True)],
        name,
    )


def _has_answer(record: JsonObject) -> bool:
    return record.get("response") is not None and record.get("error") is None


def _are_of_batch(files: Mapping[str, Records]) -> bool:
    outputs = [bool(_outputs(records)) for records in files.values()]
    return any(outputs) and all(
        is_output or BATCH_REQUESTS.fits(records) for is_output, records in zip(outputs, files.values(), strict=True)
    )


BATCH_FILES = RecordFiles("files of a language model's batch", _are_of_batch, _read_files)
"""Output, error file and requests."""

OLLAMA = RecordTool(
    "answers of Ollama",
    (Fields({"model": str, "created_at": object, "done": bool}, one_of=(("response", "message"),)),),
    lambda records, name: _reading(read_each(records, _answer), name),
)
"""Answers of `/api/generate` or `/api/chat`, with fields that the user has added, such as the prompt."""

LLAMA_CPP = RecordTool(
    "completions of llama.cpp",
    (Fields({"content": str, "completion_probabilities": list}),),
    lambda records, name: _reading(read_each(records, _completion), name),
)
"""Answers of `/completion`; before December 2024 with `tok_str` and `prob`, later with log probabilities."""
LONG_SCORES = TableTool(
    "table with a scored label in each row",
    _read_scores,
    also=lambda cells: _columns(cells) is not None,
    has_rows=False,
)
