"""`/api/v1`: what programs ask for and send, by the same use cases as the pages. Its form: docs/http-api.md."""
