"""Everything of a home in one file: making, checking, storing and restoring it."""
