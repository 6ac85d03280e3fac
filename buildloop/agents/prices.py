"""What a call cost, where the CLI does not say: tokens by kind times a price list kept by a library."""

from __future__ import annotations

from buildloop.models import Usage


def price_of(usage: Usage, model: str | None) -> float | None:
    """US dollars at list price; None where the tokens or the model's price are not known."""
    if model is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    from genai_prices import Usage as Priced  # noqa: PLC0415 (its data takes a while to load)
    from genai_prices import calc_price  # noqa: PLC0415

    read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    provider, _, name = model.rpartition("/")
    try:
        priced = calc_price(
            Priced(
                input_tokens=usage.input_tokens + read + written,
                cache_read_tokens=read,
                cache_write_tokens=written,
                output_tokens=usage.output_tokens,
            ),
            model_ref=name,
            provider_id=provider or None,
        )
    except (LookupError, ValueError):
        return None
    return float(priced.total_price)


def window_of(model: str | None) -> int | None:
    """Tokens the model's context holds, where the price list knows it."""
    if model is None:
        return None
    from genai_prices import Usage as Priced  # noqa: PLC0415
    from genai_prices import calc_price  # noqa: PLC0415

    provider, _, name = model.rpartition("/")
    try:
        return calc_price(
            Priced(input_tokens=1), model_ref=name, provider_id=provider or None
        ).model.context_window
    except (LookupError, ValueError):
        return None
