"""HTTP around the pages: sign-in and guard, security headers, health, start and stop of the server."""
