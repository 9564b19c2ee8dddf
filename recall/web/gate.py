"""Who is let in: a browser on this machine that was given the key, asking under our own name.

Any page of the web can make a browser send requests to 127.0.0.1, and can point a name of its own there (DNS
rebinding). So the Host header must be ours, and a secret must come along: first in the address that is printed, then in a cookie
that no other site's request carries and no script reads. Cookies know no ports: each server's has its port in its name.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping, Sequence

_OWN = ("same-origin", "none")


class Gate:
    """The secrets of one server on `port`."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.token = secrets.token_urlsafe(24)
        self._cookie = secrets.token_urlsafe(32)
        self._ticket = ""

    @property
    def address(self) -> str:
        """The address that lets in."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def ticket(self) -> str:
        """The same, for one visit: other users of the machine can read the command line of a browser that is started."""
        self._ticket = secrets.token_urlsafe(24)
        return f"http://127.0.0.1:{self.port}/?token={self._ticket}"

    def is_ours(self, hosts: Sequence[str]) -> bool:
        """Is this the Host header (all of them) of a request that means this server?"""
        return len(hosts) == 1 and hosts[0].strip().lower() in (f"127.0.0.1:{self.port}", f"localhost:{self.port}")

    def takes(self, token: str) -> bool:
        """Is this the key? A ticket is one once."""
        if _same(token, self.token):
            return True
        if self._ticket and _same(token, self._ticket):
            self._ticket = ""
            return True
        return False

    def knows(self, cookies: Sequence[str], fetch_site: str | None) -> bool:
        """Does the cookie let in? `fetch_site` is what the browser says of the page that asks, None where it says nothing:
        a page on another port counts as the same site for a cookie, but not for us."""
        if fetch_site is not None and fetch_site not in _OWN:
            return False
        return any(_same(value, self._cookie) for value in _values(cookies, self._name))

    def cookie(self) -> str:
        """The header that sets the cookie; it ends with the browser."""
        return f"{self._name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict"

    @property
    def _name(self) -> str:
        return f"recall_{self.port}"


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), right.encode())


def _values(cookies: Sequence[str], name: str) -> list[str]:
    found = []
    for header in cookies:
        for piece in header.split(";"):
            key, _, value = piece.partition("=")
            if key.strip() == name:
                found.append(value.strip())
    return found


def security_headers(policy: str) -> Mapping[str, str]:
    """What every answer says: nothing is loaded from elsewhere, kept, framed, or handed to another page."""
    return {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "X-Robots-Tag": "noindex",
    }
