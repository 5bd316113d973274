"""Projects: their making, settings, classes, progress."""
