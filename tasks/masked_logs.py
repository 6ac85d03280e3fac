"""Keeps secrets out of Prefect's logs, which go to its database and to the terminal, traces and all."""

from __future__ import annotations

import contextlib
import logging

from buildloop.redact import mask_own

LOGGERS = ("", "prefect", "prefect.extra", "prefect.flow_runs", "prefect.task_runs")
_formatter = logging.Formatter()


class Masking(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        """The message as it will read, and the trace: both are put together before a handler sees them."""
        with contextlib.suppress(
            TypeError, ValueError
        ):  # values that do not fit the words: the handler says so
            record.msg, record.args = mask_own(record.getMessage()), None
        if record.exc_info:
            text = record.exc_text or _formatter.formatException(record.exc_info)
            record.exc_text = mask_own(text)
        return True


def mask_logs() -> None:
    """From now on in this process. At the handlers: what a logger filters, its descendants pass on unfiltered."""
    for handler in {one for name in LOGGERS for one in logging.getLogger(name).handlers}:
        if not any(isinstance(one, Masking) for one in handler.filters):
            handler.addFilter(Masking())
