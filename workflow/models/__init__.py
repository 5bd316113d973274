"""The model of a project: compared in the background, chosen, and shown on pages."""
