"""Demos: projects that are made here, so that someone can try Winnow before they bring a table of their own.

A first start makes the digits (`digits`); an owner can request the others on Home (`making`).
"""

from __future__ import annotations

from workflow.demos.making import ALL, BY_NAME, CALLS, DIGITS, REMARKS, Demo, ask, find, make
