"""Files of users: how they arrive, if they are stored, and how they are read in limited processes."""
