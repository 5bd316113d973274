"""Features: the matrix that models learn from, made of numbers, texts and embeddings."""
