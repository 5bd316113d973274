"""The loop for one true label among candidates."""
