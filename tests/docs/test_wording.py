"""Every text is plain English: replaced words and phrases do not come back.

The rules follow the style guide: the field's word, *if* and *when* instead of *where*, a verb or a noun first. Each
pattern names what to write instead.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from tests.conftest import ROOT
from tests.docs.texts import Text, sample, texts

EVERYWHERE = frozenset(
    {
        "benchmark pages",
        "command line",
        "comments",
        "decisions",
        "docs",
        "docstrings",
        "messages",
        "page texts",
        "reasons",
        "test names",
    }
)
SEEN = frozenset({"page texts", "command line", "docs"})
"""Texts that users see."""
PROSE = EVERYWHERE - {"test names"}


class Rule(NamedTuple):
    """A phrase that must not be written, and its replacement.

    pattern : of one line; the texts of a kind are the lines of one string, so it must not cross a line
    """

    pattern: str
    instead: str
    kinds: frozenset[str] = EVERYWHERE


RULES = (
    # words
    Rule(r"\banew\b", "again, redraw, refit, rebuild"),
    Rule(r"(?<!\} )\b[Bb]eside\b(?! :)", "next to, with"),
    Rule(r"\bbesides\b", "in addition to, also"),
    Rule(
        r"\b(?:[Ss]ome|[Aa]ny|[Ee]very|[Nn]o)body\b",
        "someone, anyone, everyone, no one; better: the annotator, the owner",
    ),
    Rule(r"\b[Ww]hoever\b", "anyone who, no matter who; better: the annotator, the owner"),
    Rule(r"\blest\b", "so that ... not"),
    Rule(r"\bof then\b|\bof now\b", "at that time, current"),
    Rule(r"\brivals?\b(?! :)", "baselines"),
    Rule(r"\bkept apart\b", "held out"),
    Rule(r"\b(?:brings?|brought|bringing) in\b(?! a)", "import"),
    Rule(r"\b(?:taken?|takes|took|taking) back\b", "withdraw, undo"),
    Rule(r"\b(?:set|sets|setting) aside\b", "exclude"),
    Rule(r"\b(?:take|takes|taken) out\b", "exclude"),
    Rule(r"\b(?:goes|go|going) by\b", "use"),
    Rule(r"\bl(?:ies|ie) (?:in|at|next|under)\b", "is in, are in"),
    Rule(r"\bstretch of a recording\b", "segment"),
    Rule(r"\bmodels? of yours\b", "your own model"),
    Rule(r"\bsure enough\b|\bto have no doubt\b", "confident, above the threshold"),
    Rule(r"\bhow far (?:they|people|annotators|voters) agree\b", "inter-annotator agreement"),
    Rule(r"\bwhat people disagree on\b", "dispute; resolve, adjudicate"),
    Rule(r"\bput away\b", "archived (projects), unloaded (memory)", SEEN),
    Rule(r"\bset masses of its own\b", "its own set masses"),
    Rule(r"\b[Hh]yper-parameters?\b", "hyperparameters"),
    Rule(r"\bmade to hurt\b", "malicious"),
    Rule(r"\bwanted a core\b", "load average"),
    Rule(r"\bnot known whether\b", "unknown whether"),
    Rule(r"\b[Aa]sked for: ", "target", frozenset({"benchmark pages", "docs"})),
    Rule(
        r"\bas (?:it|they) comes?\b(?! (?:from|to|in)\b)",
        "with defaults, unchanged",
        frozenset({"benchmark pages", "docs"}),
    ),
    Rule(r"\bonce more\b", "again", SEEN | {"benchmark pages", "messages"}),
    Rule(
        r"(?<![hH]ere )\b(?:is|are) no (?!(?:longer|more|such|one|worse|lower|better|higher|fair|order|other)\b|…)",
        "is not a, are not",
        PROSE - {"reasons"},
    ),
    Rule(r"\bat most [^.;\n]{1,40} (?:are|is) taken\b", "are allowed", PROSE - {"reasons"}),
    Rule(r"\b[Pp]ut(?:ting|s)? back\b", "restore", PROSE - {"reasons"}),
    Rule(r"\bdear(?:er)?\b(?! sir)", "expensive, costly"),
    Rule(r"\bthese very\b|\bthe very row\b", "the same", PROSE),
    Rule(r"\b(?:comes?|goes|go|taken) along\b", "is included, is copied", PROSE),
    Rule(r"\bthe half of it\b", "a part of it", PROSE),
    Rule(r"\btold of\b", "reported", PROSE),
    Rule(r"\bheld against\b", "compared with", PROSE),
    Rule(r"\btakes? in (?:the|an?)\b", "learns, applies, reads", PROSE),
    Rule(r"\bput before (?:a|the) person\b", "shown to"),
    Rule(r"\bgives? (?:it|them|\w+ checks) away\b", "reveals", PROSE),
    Rule(r"\bhas (?:it|them) not\b|\bthat (?:it|they) (?:has|have) not[.,;:]", "does not have", PROSE),
    Rule(r"\bnext to (?:those|what) that\b", "in addition to", PROSE),
    Rule(r"\bdue by (?:itself|themselves)\b", "scheduled automatically", PROSE),
    Rule(r"\btells (?:no|the) (?:label|format|answer)\b", "reveals, shows", PROSE),
    Rule(r"\bTried and left\b|\bClosed doors\b", "Rejected", PROSE),
    # sentences
    Rule(r", for (?:it|there|they|no one|nothing)\b", "because", PROSE),
    Rule(r"(?:^|[.:;] )Who [a-z]+s (?!it\b)[^?]*$", "A person who, if you", PROSE - {"page texts"}),
    Rule(r"^As ``?[a-z_.]+``?(?:[,;.]| for\b)", "Like", frozenset({"docstrings"})),
    Rule(r"\b(?:None|NaN|Nothing|nothing|Empty|empty|True|False) where\b", "None if, empty if", PROSE),
    Rule(
        r"^(?:What|Who|Whoever|That which|Whether of|Those)\b(?![^.;:\n]*\?)",
        "a verb or a noun",
        frozenset({"docstrings"}),
    ),
    Rule(r"\blearn(?:ed|t) from by (?:no one|nobody)\b", "never used for training"),
    Rule(r"\bcalled as they are in\b", "named like"),
    # one spelling
    Rule(r"\b[Ll]earned\b", "learnt", PROSE),
    Rule(r"\b[Cc]olors?\b", "colour", SEEN | {"decisions"}),
    # numbers
    Rule(r"\d[\u00a0\u202f ]%(?!\w)", "49%, without a space"),
    Rule(r"(?<![\w.\d/`-])\.\d+(?![\w.])", "0.82, with the zero", frozenset({"page texts", "docs"})),
    # pages
    Rule(r"\bBring a table\b", "Import data"),
    Rule(r"\bTake away\b", "Remove", SEEN),
    Rule(r"\bPeople a row\b", "Annotators per row"),
    Rule(r"\bStop when so many agree\b", "Stop once this many agree"),
    Rule(r"\bWhat several answers make\b", "Combine answers by"),
    Rule(r"\bVotes before\b", "Imported votes"),
    Rule(r"\bAnswering room\b", "Question page"),
    Rule(r"\bAsked first\b", "Question order", SEEN),
    Rule(r"\bTake this project along\b|\bBring in a project\b", "Download project, Import project file"),
    Rule(r"\bSet them aside\b", "Exclude answers"),
    Rule(r"\bRows that are sure\b", "Confident rows"),
    Rule(r"\bEstimate anew\b", "Re-estimate"),
    Rule(r"\bShare with them\b", "Projects", SEEN),
    Rule(r"\bSave how it learns\b|\bSave who answers\b", "Model, Annotators per row (saved at once)"),
    Rule(r"\bthe oracle\b", "the hidden labels (in a dry run), a person", frozenset({"page texts"})),
)
LEAST_CLEAR = 0.9
"""Share of clear texts in the latest round of the sample: it may only rise."""
FIELD_TERMS = {
    "docs/review.md": ("inter-annotator agreement", "adjudication", "confidence interval"),
    "docs/label.md": ("uncertainty sampling", "pool-based", "confidence interval"),
    "docs/import.md": ("inter-annotator agreement", "test set"),
    "docs/library.md": ("hyperparameters", "validation set", "calibration", "uncertainty sampling", "pool-based"),
    "docs/http-api.md": ("idempotent", "rate limit"),
}
"""Words of the field, on the pages where a reader looks for them."""


def plain(text: Text) -> str:
    """Return the words of a text without code; for a test name its words."""
    if text.kind == "test names":
        return text.words.removeprefix("test_").replace("_", " ")
    return re.sub(r"`[^`]*`", "`code`", re.sub(r"\]\([^)]*\)", "]", text.words))


def test_texts_avoid_forbidden_phrases() -> None:
    by_kind: dict[str, list[Text]] = {kind: [] for kind in EVERYWHERE}
    for text in texts():
        by_kind[text.kind].append(text)
    assert all(by_kind.values()), "each kind has texts"
    assert all(rule.kinds <= EVERYWHERE for rule in RULES)
    found = []
    for kind, its in by_kind.items():
        lines = "\n".join(map(plain, its))
        assert lines.count("\n") == len(its) - 1, "one line each"
        for rule in RULES:
            # Without its first \b a pattern is found three times as fast, if not only at the words it means.
            if kind in rule.kinds and re.search(rule.pattern.removeprefix(r"\b"), lines, re.MULTILINE):
                for match in re.finditer(rule.pattern, lines, re.MULTILINE):
                    text = its[lines.count("\n", 0, match.start())]
                    if text.path != "tests/docs/test_wording.py":
                        found.append(f"{text.path}:{text.line}: {text.words[:120]!r}: write {rule.instead}")
    assert not found, "\n".join(found)
    assert sample(5, 30) == sample(5, 30), "the same seed draws the same texts"


@pytest.mark.parametrize("page", FIELD_TERMS)
def test_page_has_terms_of_its_field(page: str) -> None:
    words = (ROOT / page).read_text().lower()
    assert not [term for term in FIELD_TERMS[page] if term not in words]


def test_committed_sample_has_a_verdict_for_each_text() -> None:
    """A reader judged each round of `tests/docs/sample.tsv`; the line before a round has its seed."""
    rounds = re.split(r"^# seed .*\n", (ROOT / "tests/docs/sample.tsv").read_text(), flags=re.M)[1:]
    verdicts = [[line.split("\t")[0] for line in lines.splitlines()] for lines in rounds]
    assert all(set(each) <= {"clear", "unclear", "unintelligible"} for each in verdicts)
    assert [len(each) for each in verdicts] == [300, 150, 150]
    assert verdicts[-1].count("clear") >= LEAST_CLEAR * len(verdicts[-1])
