"""Running the server: bounds for connections, health, metrics and the access log."""
