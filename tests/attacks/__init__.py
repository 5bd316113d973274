"""Attacks as data, and the test that runs each of them against a live server."""
