"""Files that a project exports: its table with labels, cards, snapshots, for programs."""
