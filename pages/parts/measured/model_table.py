"""The table of models on the Models page, and the encoder for learning from meaning."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from pages.parts.components import component
from pages.parts.words import counted
from workflow.models.showing import FEWEST_ANSWERED, Done, ModelLine, ModelsView

# Names are sent as data and set as properties, never as HTML.
_MODELS = component("winnow_models", "measured/models.js", ("measured/measured.css", "measured/models.css"))

ACCURACY = (
    "Share of the blind checks that a model predicts correctly. Each was held out once and predicted by a model that "
    "has not seen it."
)
CONSISTENCY = (
    "How much more often than by chance the predictions are among the row's candidates: 0% is chance, 100% is always. "
    "Each row was held out once and predicted by a model that has not seen it. It needs no true label."
)


@dataclass(frozen=True)
class MeaningOffer:
    """Row of the table about learning from meaning. See `Meaning` in `measured/types.d.ts`."""

    about: str
    on: bool
    time: str
    facts: Sequence[str]
    action: str


def show_models(
    key: str, view: ModelsView, meaning: MeaningOffer | None, *, on_act: Callable[[str, str], None]
) -> None:
    """Draw the table.

    on_act : called before the next redraw with the action clicked and its model
    """
    by_checks = view.done is not None and view.done.checks > 0
    lines = [line for line in view.lines if not _is_more(line)]
    low = _lowest([line.interval[0] for line in view.lines if line.interval is not None])

    def act() -> None:
        sent = (st.session_state.get(key) or {}).get("act")
        if sent:
            on_act(sent["what"], sent["model"])

    _MODELS(
        key=key,
        data={
            "title": "Accuracy" if by_checks else "Consistency",
            "about": ACCURACY if by_checks else CONSISTENCY,
            "axis": [low, 1.0],
            "ticks": [one / 10 for one in range(round(10 * low), 11, 1 if low >= 0.5 else 2)],
            "models": [_model(line, view) for line in lines],
            "more": [_model(line, view) for line in view.lines if _is_more(line)],
            "meaning": None if meaning is None else _meaning(view, meaning),
            "foot": _foot(view.done),
        },
        on_act_change=act,
    )


def _is_more(line: ModelLine) -> bool:
    """Return whether it is listed on request only: a fast model for large tables, neither in use nor the
    best."""
    return line.online and not line.in_force and not line.best


def _lowest(lows: Sequence[float]) -> float:
    """Return where the axis, which ends at 1, begins: at a tick below all intervals, from 0 to 0.9."""
    least = min(0.9, *lows) if lows else 0.0
    return max(0.0, math.floor(10 * least) / 10 if least >= 0.5 else math.floor(5 * least) / 5)


def _model(line: ModelLine, view: ModelsView) -> dict[str, object]:
    method, _, about = line.words.removesuffix(", trained in the background").partition(":")
    figures, interval = line.figures, line.interval
    value = figures.kappa if figures.accuracy is None else figures.accuracy
    uses = " Uses scores." if line.uses_scores else ""
    return {
        "name": line.name,
        "plain": line.plain or method,
        "method": method if line.plain else "",
        "about": f"{about.strip()[:1].upper()}{about.strip()[1:]}.{uses}" if about else uses.strip(),
        "measured": {
            "value": None if value is None else round(value, 4),
            "low": None if interval is None else round(interval[0], 4),
            "high": None if interval is None else round(interval[1], 4),
            "sofar": "not compared",
        },
        "seconds": "" if value is None else seconds_words(figures.seconds),
        "note": figures.note,
        "inUse": line.in_force,
        "best": line.best and view.done is not None,
    }


def seconds_words(length: float) -> str:
    """Return a duration such as "0.3 s", "12 s", "3 min"."""
    if length < 10:
        return f"{length:.1f} s"
    return f"{length:.0f} s" if length < 120 else f"{length / 60:.0f} min"


def _meaning(view: ModelsView, meaning: MeaningOffer) -> dict[str, object]:
    found, words, other = view.features, view.by_words, view.by_meaning
    gain = ""
    if found is not None and words is not None and other is not None:
        points = round(100 * (other - words))
        gain = f"{points:+d} points"
    return {
        "about": meaning.about,
        "on": meaning.on,
        "words": words,
        "meaning": other,
        "gain": gain,
        "sofar": f"measured after {FEWEST_ANSWERED} answers" if meaning.on else "not measured",
        "time": meaning.time,
        "facts": [
            *([f"Measured here on {counted(found.rows, 'answer')}"] if gain and found is not None else []),
            *meaning.facts,
        ],
        "action": meaning.action,
    }


def _foot(done: Done | None) -> str:
    if done is None:
        return ""
    of = counted(done.checks, "blind check") if done.checks else counted(done.rows, "held-out row")
    return f"Measured on {of}, with the 95% confidence interval. Models whose intervals overlap may be equally good."
