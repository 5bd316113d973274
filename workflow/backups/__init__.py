"""Everything of a home in one file, and back: made, checked, kept, restored."""
