"""What is not a page: sign-in and guard, security headers, health, start and stop of the server."""
