"""Which embedders a policy asks for."""

from __future__ import annotations

from collections.abc import Sequence

from seed.embed import minilm, multilingual
from seed.embed.base import Embedder, ToyEmbedder
from seed.passages import PROJECTION
from seed.policy import Policy


def projection(policy: Policy) -> str:
    """Return the projection version under a policy: how passages are cut and titled."""
    return f"{PROJECTION}/{policy.passage_chars}"


def choose(policy: Policy) -> Sequence[Embedder]:
    """Return the main embedder, then the second one unless the policy switches it off."""
    found: list[Embedder] = [main(policy)]
    if policy.languages != "off":
        found.append(multilingual.Multilingual(projection(policy)))
    return found


def main(policy: Policy) -> Embedder:
    """Return the embedder of the records. Raises `EmbedderError` for a name no one knows."""
    if policy.model == minilm.NAME:
        return minilm.MiniLm(projection(policy))
    if policy.model == "toy":
        return ToyEmbedder(projection=projection(policy))
    from seed.embed.hub import HubModel

    return HubModel(policy.model, projection(policy))
