"""Nearest neighbours: the search, the graph and its votes, and PL-KNN."""
