"""The form of a project's learner settings, drawn from one table: a new setting is one more line in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st


@dataclass(frozen=True)
class Setting:
    """One setting. choices : {value: words}, or these for a model; empty: it is a number between least and most, or
    yes or no where its value is

    models : for which it means something; empty: for all      whole : an integer
    unset : the words for None, where it may be None
    """

    name: str
    label: str
    hint: str
    choices: Mapping[str, str] | Callable[[str], Mapping[str, str]] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    least: float = 0
    most: float | None = None
    step: float = 1
    whole: bool = False
    unset: str | None = None


OVERLAP_SHARE = Setting(
    "overlap_share",
    "Share of the rows",
    "The share of the rows, drawn at random, that so many people answer; one person answers each of the others.",
    least=0.01,
    most=1.0,
    step=0.05,
)
CHECKS_BY_ALL = Setting(
    "checks_by_all",
    "Ask everybody the blind checks",
    "Blind checks are drawn at random. Asked of everybody they tell how far people agree, and how right each is.",
)
"""Settings that projects of every kind have."""


def learner_form(now: Mapping[str, Any], key: str, settings: Sequence[Setting]) -> dict[str, Any]:
    """Draw the settings that the chosen model has; the values chosen, of those drawn. `now` are the present ones."""
    chosen: dict[str, Any] = {}
    places: list[st.delta_generator.DeltaGenerator] = []
    for one in settings:
        model = chosen.get("model", now.get("model"))
        if one.name not in now or (one.models and model not in one.models):
            continue
        places = places or list(st.columns(2, gap="medium"))  # two by two, so that a phone keeps their order
        with places.pop(0):
            choices = one.choices(str(model)) if callable(one.choices) else one.choices
            chosen[one.name] = _box(one, choices, now[one.name], f"{key}-{one.name}")
    return chosen


def _box(one: Setting, choices: Mapping[str, str], value: Any, key: str) -> Any:
    if choices:
        # "" for None, whose words Streamlit would take away once it has been chosen
        options = list(dict.fromkeys([*([""] if one.unset else []), *choices, value or ""]))
        return (
            st.selectbox(
                one.label,
                options,
                index=options.index(value or ""),
                format_func=lambda name: choices.get(name, name) if name else str(one.unset),
                help=one.hint,
                key=key,
            )
            or None
        )
    if isinstance(value, bool):
        return st.toggle(one.label, value=value, help=one.hint, key=key)
    if one.whole and (value is None or value == int(value)):  # a share is left a number
        most = None if one.most is None else int(max(one.most, value or 0))
        return st.number_input(
            one.label,
            min_value=int(one.least),
            max_value=most,
            value=None if value is None else int(value),
            step=1,
            placeholder=one.unset,
            help=one.hint,
            key=key,
        )
    return st.number_input(
        one.label,
        min_value=min(float(one.least), float(value or one.least)),
        max_value=one.most,
        format="%g",
        value=None if value is None else float(value),
        step=float(one.step),
        placeholder=one.unset,
        help=one.hint,
        key=key,
    )
