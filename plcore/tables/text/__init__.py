"""Text: CSV, encodings, and columns of text as Arrow and pandas have them."""
