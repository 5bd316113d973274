"""Files of users: how they arrive, where they are stored, and how they are read in limited processes."""
