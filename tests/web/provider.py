"""A small OpenID Connect provider on this machine: discovery, keys, the code flow with PKCE. It can be made to lie."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "winnow", "a client's secret of some length"


@cache
def _key() -> RSAKey:
    """The key of all providers of this process: to make one takes a tenth of a second."""
    return RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256", "kid": "one"})


class Provider:
    """``user`` : claims of anyone who signs in      ``lies`` : claims that replace true ones; None leaves out

    ``stated`` : changed values in discovery      ``signing`` : the key of ID tokens, if it is not the stated one
    """

    def __init__(self) -> None:
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"
        self.key = _key()
        self.signing: Any = None
        self.algorithm = "RS256"
        self.user: dict[str, Any] = {"sub": "u1", "email": "ada@example.org", "email_verified": True}
        self.lies: dict[str, Any] = {}
        self.stated: dict[str, Any] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.asked: list[dict[str, str]] = []
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def agree(self, address: str) -> str:
        """Address that a browser returns to after its user agreed."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        self.asked.append(asked)
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            **self.stated,
        }

    def token(self, form: dict[str, str], basic: str) -> dict[str, Any] | None:
        """The tokens for a code; None if code, client, address or PKCE do not fit."""
        asked = self.codes.pop(form.get("code", ""), None)
        expected = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if asked is None or basic != f"Basic {expected}" or form["redirect_uri"] != asked["redirect_uri"]:
            return None
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != asked["code_challenge"]:
            return None
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            **self.user,
            **self.lies,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        header = {"alg": self.algorithm, "kid": self.key.kid}
        signed = jwt.encode(header, claims, self.signing or self.key, algorithms=["RS256", "HS256"])
        return {"access_token": "opaque", "token_type": "Bearer", "expires_in": 300, "id_token": signed}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                known = {
                    "/.well-known/openid-configuration": provider.discovery,
                    "/keys": lambda: {"keys": [provider.key.as_dict(private=False)]},
                }
                path = urlsplit(self.path).path
                self._say(known[path]() if path in known else None)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                form = {name: values[0] for name, values in parse_qs(body).items()}
                self._say(provider.token(form, self.headers.get("authorization", "")))

            def _say(self, found: dict[str, Any] | None) -> None:
                body = json.dumps(found or {"error": "invalid_grant"}).encode()
                self.send_response(200 if found else 400)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_args: object) -> None:
                pass

        return Handler
