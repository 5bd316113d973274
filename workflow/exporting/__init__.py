"""Files that a project gives out: its table with labels, cards, snapshots, for programs."""
