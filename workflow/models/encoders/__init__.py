"""Pretrained encoders: downloaded from a hub or added from a file, checked, and put into the data folder."""
