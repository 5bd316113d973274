"""A dataset card as README.md: Hugging Face's front matter, and the sections of a datasheet (Gebru et al., 2021,
"Datasheets for datasets", Communications of the ACM 64(12)).

Only known facts are included. Missing details are "not given".
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plcore.arrays import counted

if TYPE_CHECKING:
    from datetime import datetime

    from workflow.exporting.card_facts import CardFacts

NOT_GIVEN = "not given"

SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M"))
"""Hugging Face's names of sizes: below this many rows."""


@dataclass(frozen=True)
class CardDetails:
    """Facts that only people know. None or an empty value is "not given".

    license : as SPDX or Hugging Face has it      languages : codes such as "en"      url : where the data set lives
    annotators : who they are, in Hugging Face's words: "expert-generated", "crowdsourced"
    demographics : of the annotators      origin : where the items come from      uses : what the labels are good for
    named : whether annotators stand with their names, in all that goes with the card; else they are Annotator 1, 2, ...
    """

    license: str | None = None
    languages: tuple[str, ...] = ()
    url: str | None = None
    annotators: str | None = None
    demographics: str | None = None
    origin: str | None = None
    uses: str | None = None
    named: bool = False

    @classmethod
    def told(cls, words: Mapping[str, str], *, named: bool = False) -> CardDetails:
        """The details as a person types them, each a text; codes of languages with blanks or commas between."""
        said: dict[str, Any] = {name: text.strip() or None for name, text in words.items()}
        if "languages" in said:
            said["languages"] = tuple((said["languages"] or "").replace(",", " ").split())
        return cls(**said, named=named)


def write_card(facts: CardFacts, given: CardDetails, files: Mapping[str, str], tool: str) -> str:
    """README.md. files : {name: SHA-256} of the files that the card is for      tool : Winnow, and its version"""
    sections = {
        "What it is": _what(facts, given),
        "Composition": _composition(facts),
        "How it was labelled": _labelling(facts, given, tool),
        "How good the model's labels are": _quality(facts),
        "Guidelines": _guidelines(facts),
        "Use": [_item("Uses", given.uses), _item("Licence", given.license)],
        "Hashes": _hashes(facts, files),
    }
    body = "\n\n".join(f"## {title}\n\n" + "\n".join(lines) for title, lines in sections.items())
    return f"{_front_matter(facts, given, files)}\n# {_line(facts.name)}\n\n{body}\n"


def _front_matter(facts: CardFacts, given: CardDetails, files: Mapping[str, str]) -> str:
    by = ([given.annotators] if given.annotators else []) + ["machine-generated"] * ("model" in facts.sources)
    fields: dict[str, object] = {
        "pretty_name": facts.name,
        "annotations_creators": by,
        "language": list(given.languages),
        "license": given.license,
        "size_categories": [next((name for most, name in SIZES if facts.n_rows < most), "n>10M")],
        "task_categories": [facts.task],
        "tags": ["winnow", "partial-labels"],
        # Or its viewer would take the log next to it for data, too.
        "configs": [{"config_name": "default", "data_files": name} for name in files if name.endswith(".parquet")],
    }
    # JSON is YAML, so that no text can be mistaken for anything else.
    lines = [f"{name}: {_yaml(value)}" for name, value in fields.items() if value]
    return "\n".join(("---", *lines, "---\n"))


def _yaml(value: object) -> str:
    """A value as JSON that YAML reads the same; characters that YAML forbids are escaped."""
    plain = json.dumps(value, ensure_ascii=False)
    return re.sub("[^\t\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]", _code, plain)


def _code(mark: re.Match[str]) -> str:
    return f"\\u{ord(mark.group()):04x}"


def _what(facts: CardFacts, given: CardDetails) -> list[str]:
    return [
        _quoted(facts.description) if facts.description else f"Description: {NOT_GIVEN}.",
        "",
        _item("Kind", facts.kind),
        _item("Rows", f"{facts.n_rows:,}"),
        _item(facts.classes.capitalize(), f"{facts.n_classes:,}"),
        _item("Origin of the items", given.origin),
        _item("Web page", given.url),
        _item("Imported into Winnow", _day(facts.created_at)),
    ]


def _composition(facts: CardFacts) -> list[str]:
    described = facts.described
    return [
        _item("At import", described.before),
        _item("Now", described.after),
        _item("Rows excluded as bad items", f"{described.set_aside:,}"),
        _item("Test rows, held out with their true labels", f"{described.test_rows:,}"),
        _item("Blind checks drawn", f"{described.blind_checks:,}"),
        "",
        *_table(("source of the label", "labels"), ((name, f"{n:,}") for name, n in facts.sources.items())),
        "",
        *_table(
            ("class", "rows by answers", "rows as given"),
            ((one.label, f"{one.answered:,}", f"{one.given:,}") for one in described.labels),
        ),
    ]


def _labelling(facts: CardFacts, given: CardDetails, tool: str) -> list[str]:
    span = f"{_day(facts.first)} to {_day(facts.last)}" if facts.first and facts.last else None
    people = (
        (one.name, f"{one.answers:,}", f"{one.skips:,}", f"{one.unsure:,}", _seconds(one.seconds) or NOT_GIVEN)
        for one in facts.annotators
    )
    return [
        _item("Answers that count", f"{facts.answers:,}"),
        _item("Of these by the simulated oracle of a dry run, not by people", f"{facts.simulated:,}"),
        _item("Answers withdrawn", f"{facts.withdrawn:,}"),
        _item("Answers a row", _per_row(facts)),
        _item("When", span),
        _item("Median time for an answer, in seconds", _seconds(facts.seconds)),
        _item("Who the annotators are", given.annotators),
        _item("Their demographics", given.demographics),
        "",
        *_table(("annotator", "answers", "skips", "unsure", "median seconds"), people),
        "",
        *_table(("asked by", "answers"), ((name, f"{n:,}") for name, n in facts.asked_by.items())),
        "",
        _item("Models in force, in order", ", ".join(facts.models)),
        _item("Version of the model: the latest log entry that it has learnt", str(facts.model_version)),
        *(_item("Encoded", one) for one in facts.encoders),
        _item("Tool", tool),
        "",
        *_table(("setting", "value"), ((name, json.dumps(value)) for name, value in facts.settings.items())),
    ]


def _quality(facts: CardFacts) -> list[str]:
    if not facts.described.measures:
        return ["Not measured: no test rows and no answered blind checks, or no model yet."]
    return _table(
        ("measure", "value", "95% interval", "n"),
        (
            (
                one.words,
                f"{one.value:.3f}",
                f"{one.low:.3f} to {one.high:.3f}" if one.low == one.low else NOT_GIVEN,
                f"{one.n:,}",
            )
            for one in facts.described.measures
        ),
    )


def _guidelines(facts: CardFacts) -> list[str]:
    if not facts.guidelines:
        return [f"Guidelines for the annotators: {NOT_GIVEN}."]
    return [_quoted(facts.guidelines), "", _item("SHA-256 of this text, UTF-8", _sha256(facts.guidelines))]


def _hashes(facts: CardFacts, files: Mapping[str, str]) -> list[str]:
    return [
        _item("SHA-256 of the table as Winnow keeps it, rows that were added included", facts.table_sha256),
        _item(f"Head of the log, {counted(facts.entries, 'entry', 'entries')}", facts.head),
        _item("SHA-256 of the description, UTF-8", _sha256(facts.description) if facts.description else None),
        *(_item(f"SHA-256 of {_line(name)}", found) for name, found in files.items()),
        "",
        "The head is the SHA-256 of the last line of the log in its written form (`winnow verify`), in which every "
        "line carries the hash of the one before. It shows that a line was changed, removed, added or moved after this "
        "card was written. It does not show who answered, nor that the log was true when the card was written.",
    ]


def _per_row(facts: CardFacts) -> str | None:
    parts = [f"{counted(rows, 'row')} with {n}" for n, rows in facts.per_row.items()]
    return ", ".join(parts) or None


def _item(what: str, value: str | None) -> str:
    return f"- {what}: {_line(value) if value else NOT_GIVEN}"


def _table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [heading, ["---"] * len(heading), *rows]
    return ["| " + " | ".join(_line(cell) for cell in line) + " |" for line in lines]


def _line(text: str) -> str:
    """Text of one line that Markdown shows unchanged."""
    return re.sub(r"([\\|<>*_`\[\]#&~$])", r"\\\1", " ".join(text.split()))


def _quoted(text: str) -> str:
    """Unchanged text, in a code fence that it cannot close."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"


def _day(moment: datetime) -> str:
    return moment.date().isoformat()


def _seconds(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds:.1f}"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
