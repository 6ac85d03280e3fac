"""Which variables hold secrets by their names, and what of a longer value is the secret: in an address, in JSON."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from buildloop.decode import from_json
from buildloop.patterns import Regex

SECRET_NAME = Regex(
    r"(TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|(?:^|_|SSH)PASS$|API_?KEY|PRIVATE_KEY|CREDENTIALS?|ACCESS_KEY|AUTH_?KEY|_KEY$"
    r"|_PAT$|_PWD$|BEARER|COOKIE|SIGNING_KEY|ENCRYPTION_KEY|_AUTH$|AUTH_CONFIG$|WEBHOOK|_DSN$|CONNECTION_STRING|DATABASE_URL"
    r"|MEMORY_URL|REDIS_URL|MONGO(?:DB)?_UR[IL])",
    re.I,
)
# Where secrets are kept is no secret, and neither is how they are handled.
NOT_SECRET_NAME = Regex(
    r"(_FILE|_PATH|_DIR|_HELPER|_NAME|_ID|_TYPE|_SOCK|_USERNAME|_USER|_COUNT|_LIMIT|_BUDGET"
    r"|(?:PUBLIC|PUB|CACHE|SORT|PARTITION|PRIMARY|FOREIGN|HOST)_KEY)$|^(?:OLD)?PWD$",
    re.I,
)
SECRET_PART = Regex(r"auth|token|secret|pass|bearer|key|credential", re.I)
SECRET_PARAMETER = Regex(r"(?:access_|api_?|auth_?|ssl)?(?:token|key|password|secret|sig|signature)", re.I)
URL = Regex(r"[A-Za-z][\w+.-]*://[^\s,;|'\"]+")
# Long, and letters with digits between them: nobody names a folder or a user like this.
RANDOM = Regex(r"(?=(?:[^0-9]*[0-9]){2})(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_-]{20,}")
SHORTEST_PART = 8


def secrets_in_urls(text: str) -> Iterator[str]:
    """Passwords in the addresses of any text; a variable may hold several of them."""
    for found in URL.finditer(text) if "://" in text else ():
        address = _split(found.group())
        if address and len(password := _password(address)) >= SHORTEST_PART:
            yield password


def secrets_in_address(value: str) -> tuple[str, ...]:
    """Of an address that is said to be secret: a password, a parameter, a part of the path that cannot be guessed."""
    address = _split(value)
    if address is None:
        return (value,)
    parameters = [one for name, one in parse_qsl(address.query) if SECRET_PARAMETER.fullmatch(name)]
    parts = (address.username or "", *address.path.split("/")) if address.scheme in ("http", "https") else ()
    found = (_password(address), *parameters, *(part for part in parts if RANDOM.fullmatch(part)))
    return tuple(dict.fromkeys(one for one in found if one))


def secrets_in_json(text: str) -> Iterator[str]:
    """Strings below a name that speaks of secrets: how Docker, Composer and Google keep theirs in one variable."""
    try:
        yield from _below("", from_json(text), secret=False)
    except ValueError:
        return


def secrets_in_basic(value: str) -> Iterator[str]:
    """The password of `user:password` in base64, as registries want it."""
    try:
        _, colon, password = base64.b64decode(value, validate=True).decode().partition(":")
    except ValueError:
        return
    if colon and len(password) >= SHORTEST_PART and password.isprintable():
        yield password


def _below(name: str, value: Any, *, secret: bool) -> Iterator[str]:  # noqa: ANN401 (whatever JSON holds)
    secret = secret or bool(SECRET_PART.search(name))
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _below(key, inner, secret=secret)
    elif isinstance(value, list):
        for inner in value:
            yield from _below(name, inner, secret=secret)
    elif isinstance(value, str) and secret and not NOT_SECRET_NAME.search(f"_{name}"):
        if "://" in value:
            yield from secrets_in_urls(value)
        elif len(value) >= SHORTEST_PART:
            yield from secrets_in_basic(value)
            yield value


def _split(value: str) -> SplitResult | None:
    try:
        return urlsplit(value)
    except ValueError:
        return None


def _password(address: SplitResult) -> str:
    """Where it stands before the host, or among the parameters."""
    named = [value for name, value in parse_qsl(address.query) if name.lower() in ("password", "sslpassword")]
    try:
        return unquote(address.password or "") or next(iter(named), "")
    except ValueError:
        return ""
