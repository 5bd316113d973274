"""`/api/v1`: the HTTP API for programs, based on the same use cases as the pages. See docs/http-api.md."""
