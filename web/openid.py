"""Sign-in by OpenID Connect: `/signin/openid` redirects to the provider, `/signin/openid/back` receives the
browser.

Authlib handles the protocol: discovery, the code flow with state, nonce and PKCE, and the ID token's
signature, issuer, audience and times. Its state between the two requests is in a signed cookie of ten
minutes, sent only to these two addresses.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Protocol

from starlette.concurrency import run_in_threadpool
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from web.signin_page import cookie_name, page, signed_in_answer, visit_of
from workflow.people.elsewhere import NotKnown, sign_in_by_openid
from workflow.people.passwords import note_refused
from workflow.saving import NotSaved
from workflow.server.home import home
from workflow.server.settings import SignInSettings

logger = logging.getLogger("winnow")

BACK = "/signin/openid/back"
MINUTES = 10
TIMEOUT = 10.0
"""Seconds that the provider has to reply."""
LEEWAY = 60
"""Seconds by which its clock and ours may differ."""
AGAIN = '<p><a href="signin">Sign in again</a></p>'


class Provider(Protocol):
    """The part of Authlib's provider client used here."""

    async def authorize_redirect(self, request: Request, redirect_uri: str) -> Response: ...
    async def authorize_access_token(
        self, request: Request, *, claims_options: Mapping[str, object], leeway: int
    ) -> Mapping[str, Mapping[str, object] | None]: ...
    async def load_server_metadata(self) -> Mapping[str, object]: ...


Endpoint = Callable[[Request, Provider], Awaitable[Response]]


class ProviderError(RuntimeError):
    """The provider differs from the settings, or breaks the protocol."""


@lru_cache(maxsize=4)
def _provider(settings: SignInSettings) -> Provider:
    """Return Authlib's client for the configured provider. It caches the provider's addresses and keys."""
    from authlib.integrations.starlette_client import OAuth  # most servers have no provider and need not load it

    made: Provider = OAuth().register(
        "openid",
        client_id=settings.oidc_client_id,
        client_secret=settings.oidc_client_secret,
        server_metadata_url=f"{settings.oidc_issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={"scope": "openid email", "code_challenge_method": "S256", "timeout": TIMEOUT},
    )
    return made


class _Step:
    """One of the two requests as an ASGI app, with the cookie that joins them; 404 if there is no provider."""

    def __init__(self, step: Endpoint) -> None:
        self.step = step

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        settings = home().settings.sign_in
        if not settings.oidc_issuer:
            words = "<p>This Winnow has no OpenID Connect provider.</p>"
            await page("Not found", words + AGAIN, status=404)(scope, receive, send)
            return

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            request = Request(scope, receive)
            response = await _said_in_words(self.step, request, _provider(settings))
            await response(scope, receive, send)

        # The key is the same in every process and after a restart, and cannot be derived without the client
        # secret.
        key = hashlib.sha256(b"winnow sign-in\0" + settings.oidc_client_secret.encode()).hexdigest()
        kept = SessionMiddleware(
            answer,
            secret_key=key,
            session_cookie=cookie_name(scope, "openid"),
            max_age=60 * MINUTES,
            path="/signin/openid",
            same_site="lax",
            https_only=scope["scheme"] == "https",
        )
        await kept(scope, receive, send)


async def _said_in_words(step: Endpoint, request: Request, provider: Provider) -> Response:
    """Return the step's reply, or a page with the reason for failure. The provider's own message goes only to
    the log."""
    from authlib.common.errors import AuthlibBaseError
    from httpx2 import HTTPError
    from joserfc.errors import JoseError

    try:
        return await step(request, provider)
    except NotKnown as error:
        await _note(request, "not known here")
        return page("Not signed in", error, AGAIN, status=403)
    except NotSaved as error:
        return page("Not signed in", error, AGAIN, status=503)
    except (AuthlibBaseError, JoseError, ProviderError, KeyError, ValueError) as error:
        logger.warning("A sign-in by OpenID Connect was refused: %s: %s", type(error).__name__, error)
        await _note(request, "OpenID Connect refused")
        words = "The sign-in was not completed: it took too long, was begun in another browser, or was refused."
        return page("Not signed in", words, AGAIN, status=403)
    except (HTTPError, RuntimeError) as error:
        logger.warning("The OpenID Connect provider failed: %s: %s", type(error).__name__, error)
        words = "The sign-in provider cannot be reached, or its answer is invalid. Try again; the log has the reason."
        return page("Not signed in", words, AGAIN, status=502)


async def _start(request: Request, provider: Provider) -> Response:
    await _check_issuer(provider)
    answer = await provider.authorize_redirect(request, _back_address(request))
    answer.headers["cache-control"] = "no-store"
    return answer


async def _back(request: Request, provider: Provider) -> Response:
    issuer = await _check_issuer(provider)
    # RFC 9207: the provider may send its name with the code.
    if request.query_params.get("iss", issuer) != issuer:
        raise ProviderError("The answer names another issuer.")
    token = await provider.authorize_access_token(
        request, claims_options={"iss": {"essential": True, "values": [issuer]}}, leeway=LEEWAY
    )
    claims = token.get("userinfo")
    if not claims or not claims.get("sub"):
        raise ProviderError("The answer has no ID token.")
    secret = await run_in_threadpool(sign_in_by_openid, home(), dict(claims), visit_of(request))
    return signed_in_answer(request, secret)


async def _check_issuer(provider: Provider) -> str:
    """Return the issuer, which must match the settings."""
    wanted = home().settings.sign_in.oidc_issuer
    stated = (await provider.load_server_metadata()).get("issuer")
    if stated != wanted:
        raise ProviderError(f"WINNOW_OIDC_ISSUER is {wanted!r}, and the provider states {stated!r}.")
    return wanted


def _back_address(request: Request) -> str:
    """Return the redirect address: this server, as the browser reaches it."""
    return f"{home().settings.public_url or f'{request.url.scheme}://{request.url.netloc}'}{BACK}"


async def _note(request: Request, why: str) -> None:
    await run_in_threadpool(note_refused, home(), why, visit_of(request))


openid_start, openid_back = _Step(_start), _Step(_back)
