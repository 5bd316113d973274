"""Queue: every open row in question order, with its score and reason; a row opened here can be asked next."""

from __future__ import annotations

from pages.parts import frame, kinds
from pages.parts.rows import row_lists
from workflow.access import Right

page = frame.begin_project("Queue", Right.ANSWER)
frame.toast_from_last_page()
row_lists.head("Queue", page)
frame.say_refusal()
kinds.parts_of(page).queue_page(page)
