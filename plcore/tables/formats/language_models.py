"""Candidates of a model with their probabilities, a line of JSON for each row.

A line is `{"id", "candidates": [{"label", "p"}], "model"}`, and what else is said of the row, flat or in `data`. There
is no standard for what language models are asked to write; this is the form that Winnow writes itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import Any

from plcore.tables.formats.candidate_rows import Row, rows_reading
from plcore.tables.formats.disambiguated import Disambiguated, Tell, silent
from plcore.tables.formats.reading import TableReading
from plcore.tables.formats.record_values import (
    Records,
    a_list,
    a_name,
    a_name_or_none,
    a_number,
    an_object,
    first_of,
    json_text,
    read_each,
)

WEIGHTS = ("p", "score", "probability", "confidence", "weight")
_LABEL_NAMES = ("label", "class", "category", "name")
_DECIDED = ("candidates_before", "label", "source", "probability", "model_version", "outside", "answers")
"""What has become of a row, in lines that were written here: it is no candidate and no truth."""
_TAKEN = ("id", "data", "candidates", "model", "truth")
_LOOK = 50


class ModelCandidates:
    """Records with an `id` and a list of `candidates`, each a label with its probability `p`."""

    name = "candidates of a model"

    def fits(self, records: Records) -> bool:
        seen = records[:_LOOK]
        return bool(seen) and all(
            isinstance(one, dict)
            and isinstance(one.get("candidates"), list)
            and all(isinstance(candidate, dict) and "label" in candidate for candidate in one["candidates"])
            for one in seen
        )

    def read(self, records: Records) -> TableReading:
        """One row for each id; several models may have a line each about it. Raises TableError."""
        rows: dict[Any, Row] = {}
        for place, found in enumerate(read_each(records, _own_line)):
            key = found.cells.get("id")
            known = rows.setdefault(place if key is None else f"id {key}", found)
            if known is not found:
                known.cells = {**found.cells, **known.cells}
                for label, weight in found.weights.items():
                    known.name(label, weight)
                    for source in found.sources.get(label, ()):
                        known.name(label, None, source)
        return rows_reading(list(rows.values()), self.name, row_id="id")


def _own_line(record: dict[str, Any], row: int) -> Row:
    data = {} if record.get("data") is None else an_object(record["data"], row, "data")
    number = a_name_or_none(record.get("id"), row, "id", "an id")
    taken = {*_TAKEN, *(_DECIDED if _DECIDED[0] in record else ())}
    cells = {} if number is None else {"id": number}
    for name, value in (*((name, record[name]) for name in record if name not in taken), *data.items()):
        same = (
            name in cells and str(value).strip() == cells[name]
        )  # the id, as it came: with spaces, as a number
        cells[name if name not in cells or same else f"{name} 2"] = value
    found = Row(cells, truth=a_name_or_none(record.get("truth"), row, "truth", "a label"))
    model = a_name_or_none(record.get("model"), row, "model", "a model")
    for label, weight in candidates_of(record.get("candidates"), row, "candidates"):
        found.name(label, weight, model)
    return found


def candidates_of(value: Any, row: int, where: str) -> Iterator[tuple[str, float | None]]:
    """(label, weight) of a list of names, or of objects with a label and perhaps a weight."""
    for place, one in enumerate(a_list(value, row, where)):
        inside = f"{where}[{place}]"
        if isinstance(one, dict):
            weight = first_of(one, WEIGHTS)
            label = a_name(first_of(one, _LABEL_NAMES), row, f"{inside}.label")
            yield label, None if weight is None else a_number(weight, row, f"{inside}.p", "a probability")
        else:
            yield a_name(one, row, inside), None


def own_lines(table: Disambiguated, tell: Tell = silent) -> Iterator[str]:
    """A line of JSON for each row, with all that is known of it; `ModelCandidates` reads its candidates again, those
    that are left."""
    done = 0
    for piece in table.pieces():
        answers, records = piece.answers_by_row(), piece.records()
        before, after = piece.weighted(), piece.weighted(after=True)
        for row, record in enumerate(records):
            line = {
                "id": piece.ids[row],
                "data": record,
                "candidates_before": _written(before[row]),
                "candidates": _written(after[row]),
                "label": piece.label_name(row),
                "source": str(piece.source[row]),
                "probability": piece.known_probability(row),
                "model_version": piece.version_of(row),
                **_outside(piece, row),
                "answers": [{k: v for k, v in one.items() if k != "row"} for one in answers.get(row, [])],
            }
            yield json_text(line) + "\n"
        done += len(records)
        tell(done)


def _outside(piece: Disambiguated, row: int) -> dict[str, float | None]:
    """How likely the truth is none of the candidates, of tables of which anything tells."""
    if piece.outside is None:
        return {}
    risk = float(piece.outside[row])
    return {"outside": None if isnan(risk) else round(risk, 4)}


def _written(weighted: dict[str, float | None]) -> list[dict[str, Any]]:
    return [
        {"label": name} if weight is None else {"label": name, "p": weight}
        for name, weight in weighted.items()
    ]
