"""Projects: creation, settings, classes, progress."""
