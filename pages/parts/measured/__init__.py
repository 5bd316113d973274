"""Tables of people and of models: one row each, figures as dots with intervals on one axis."""
