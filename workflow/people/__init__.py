"""Use cases about people: who they are, how they sign in, what they may see, how they do."""
