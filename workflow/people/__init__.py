"""Use cases about people: accounts, sign-in, rights, and figures about their work."""
