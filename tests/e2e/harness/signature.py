"""The signed token in which Open WebUI names a user."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time

from harness.webui import Account


def sign(who: Account, secret: str, **changes: object) -> str:
    """As Open WebUI signs it, except for `changes`."""
    now = int(time.time())
    claims = {"sub": who.id, "name": who.name, "email": who.email, "role": "user"}
    claims |= {"iss": "open-webui", "iat": now, "exp": now + 300, **changes}
    signed = f"{_part({'alg': 'HS256', 'typ': 'JWT'})}.{_part(claims)}"
    signature = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{_text(signature)}"


def _part(content: dict) -> str:
    return _text(json.dumps(content).encode())


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
