"""Attacks as data, and the test that makes each of them on a live server."""
