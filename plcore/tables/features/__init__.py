"""Features: the matrix that a model learns from, of numbers, texts and embeddings."""
