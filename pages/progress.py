"""Progress: how good the model is on rows it never learnt from, when to stop, what is settled, what is left."""

from __future__ import annotations

from pages.parts import frame, kinds
from pages.parts.my_figures import my_figures
from pages.parts.tour import tour

page = frame.begin_project("Progress")
frame.toast_from_last_page()
frame.project_title("Progress", page)
tour(page, "progress.py")
kinds.parts_of(page).progress_page(page)
my_figures(page)
