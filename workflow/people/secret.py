"""Secrets of links and cookies: 32 random bytes, shown once; stored is the SHA-256 alone."""

from __future__ import annotations

import hashlib
import secrets


def new_secret() -> str:
    """43 characters that nobody can guess."""
    return secrets.token_urlsafe(32)


def secret_hash(secret: str) -> str:
    """What is stored of a secret, 64 hex digits. It needs no salt: there are too many secrets to try."""
    return hashlib.sha256(secret.encode()).hexdigest()
