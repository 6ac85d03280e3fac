"""What a call cost, where the CLI does not say: tokens by kind times a price list kept by a library."""

from __future__ import annotations

from buildloop.models import Usage

# The list has no windows of these; all of them hold this much.
GEMINI_WINDOW = 1_048_576


def price_of(usage: Usage, model: str | None) -> float | None:
    """US dollars at list price; None where the tokens or the model's price are not known."""
    if model is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    from genai_prices import Usage as Priced  # noqa: PLC0415 (its data takes a while to load)
    from genai_prices import calc_price  # noqa: PLC0415

    read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    provider, slash, rest = model.partition("/")
    try:
        priced = calc_price(
            Priced(
                input_tokens=usage.input_tokens + read + written,
                cache_read_tokens=read,
                cache_write_tokens=written,
                output_tokens=usage.output_tokens,
            ),
            model_ref=rest if slash else model,
            provider_id=provider if slash else None,
        )
    except (LookupError, ValueError):
        return None
    return float(priced.total_price)


def window_of(model: str | None) -> int | None:
    """Tokens the model's context holds, where the price list knows it: it is the same whoever sells the model."""
    if model is None:
        return None
    provider, _, name = model.partition("/")
    sold = _listed_window(name, provider) if name else None
    bare = model.rpartition("/")[2]
    window = sold or _listed_window(bare, None)
    return window or (GEMINI_WINDOW if bare.startswith("gemini-") else None)


def _listed_window(name: str, provider: str | None) -> int | None:
    from genai_prices import Usage as Priced  # noqa: PLC0415
    from genai_prices import calc_price  # noqa: PLC0415

    try:
        return calc_price(Priced(input_tokens=1), model_ref=name, provider_id=provider).model.context_window
    except (LookupError, ValueError):
        return None
