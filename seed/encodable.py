"""Text that can be written out: a file name that is not UTF-8 reaches Python as halves of characters. Pure."""

from __future__ import annotations

from typing import Any


def encodable(text: str) -> str:
    r"""Return the text with bytes of names that are not UTF-8, and lone surrogates, as visible ``\udcXX``."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def encodable_data(data: Any) -> Any:  # noqa: ANN401 - JSON
    """Return JSON data with every text, keys too, as `encodable` gives it."""
    if isinstance(data, str):
        return encodable(data)
    if isinstance(data, dict):
        return {encodable_data(key): encodable_data(value) for key, value in data.items()}
    return [encodable_data(value) for value in data] if isinstance(data, list | tuple) else data
