"""Tables of people and of models: one row each, figures as dots with their intervals on one axis."""
