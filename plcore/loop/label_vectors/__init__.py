"""The loop for label vectors with holes: yes, no, or not asked, for every label of every row."""
