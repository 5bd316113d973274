"""Text: CSV files, encodings, and text columns in Arrow and pandas."""
