"""Comparisons of learners and replays in blocks: one job for a fit, or for a run, by whoever makes them."""
