"""Where runs are kept: a folder of this machine, a folder that several machines share, or a bucket.

`BUILDLOOP_STORAGE` is a path, or the URL of anything fsspec knows (`s3://…`, `gs://…`, `memory://…`). A path simply is
the state directory. With a URL the state directory stays local, and what another machine needs to go on with a run is
copied there and back.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from platformdirs import user_state_path

from buildloop.home import from_home


def default_state_dir() -> str:
    """Without a word from the user: their shared folder if they have one, else the usual place."""
    named = os.environ.get("BUILDLOOP_STATE_DIR") or _shared_folder(os.environ)
    return str(from_home(named).absolute() if named else user_state_path("buildloop"))


def bucket(environment: Mapping[str, str]) -> str | None:
    """The URL that runs are copied to; None where the state directory itself is all there is."""
    storage = environment.get("BUILDLOOP_STORAGE", "")
    return storage.rstrip("/") if "://" in storage and not storage.startswith("file://") else None


def _shared_folder(environment: Mapping[str, str]) -> str | None:
    storage = environment.get("BUILDLOOP_STORAGE", "")
    if storage.startswith("file://"):
        return unquote(urlsplit(storage).path)
    return None if "://" in storage else storage or None
