"""Hub models by their fastembed name: one line of policy, for users who have a network and allowed it."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from seed.embed.identity import Identity
from seed.errors import EmbedderError
from seed.passages import PROJECTION
from seed.store.paths import home, private_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ALLOW = "SIDECAR_ALLOW_HUB"
_QUESTION_INSTRUCTION = dict.fromkeys(
    (
        "BAAI/bge-small-en-v1.5",
        "BAAI/bge-base-en-v1.5",
        "BAAI/bge-large-en-v1.5",
        "BAAI/bge-small-en",
        "BAAI/bge-base-en",
    ),
    "Represent this sentence for searching relevant passages: ",
)
_CONNECT_SECONDS = 5.0


def _description(name: str) -> dict[str, Any]:
    from fastembed import TextEmbedding

    known = {str(entry["model"]).casefold(): entry for entry in TextEmbedding.list_supported_models()}
    if name.casefold() not in known:
        raise EmbedderError(
            f"policy names the model {name!r}, which fastembed does not know",
            "use 'minilm-l6-v2' or a listed hub model",
        )
    return known[name.casefold()]


@lru_cache(maxsize=2)
def _model(name: str) -> Any:  # noqa: ANN401 - fastembed ships no usable types
    cache = private_folder(home() / "hub")
    if not _cached(str(cache), name):
        # Policy in Git never makes a machine connect or download: the leave is the user's own (decision-0010).
        if os.environ.get(ALLOW) != "1":
            raise EmbedderError(
                f"the model {name} is not on this machine",
                f"allow its download with {ALLOW}=1, or use minilm-l6-v2",
            )
        _reachable(name)
    from fastembed import TextEmbedding

    try:
        return TextEmbedding(model_name=name, cache_dir=str(cache))
    except Exception as exc:
        raise EmbedderError(
            f"the model {name} cannot be loaded: {exc}", "check the network, or use minilm-l6-v2"
        ) from exc


def _cached(cache: str, name: str) -> bool:
    tail = name.rsplit("/", maxsplit=1)[-1].casefold()
    return any(tail in entry.name.casefold() for entry in os.scandir(cache) if entry.is_dir())


def _reachable(name: str) -> None:
    host = os.environ.get("HF_ENDPOINT", "https://huggingface.co").split("://")[-1].split("/")[0]
    try:
        socket.create_connection((host, 443), timeout=_CONNECT_SECONDS).close()
    except OSError:
        raise EmbedderError(
            f"no model hub can be reached to fetch {name}", "go online, copy the model, or use minilm-l6-v2"
        ) from None


class HubModel:
    """A model that fastembed fetches. Its weights are known by name only, so its identity is not pinned."""

    def __init__(self, name: str, projection: str = PROJECTION) -> None:
        self._name = str(_description(name)["model"])
        self._instruction = _QUESTION_INSTRUCTION.get(self._name, "")
        dimension = int(_description(name)["dim"])
        self.identity = Identity(
            self._name,
            "name-only",
            "name-only",
            dimension,
            512,
            "model",
            normalized=True,
            question_instruction=self._instruction,
            passage_instruction="",
            projection=projection,
        )

    def passages(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """Yield one unit vector for each text."""
        if texts:
            yield from _model(self._name).embed(list(texts), batch_size=1)

    def question(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question, with the model's query instruction in front."""
        return next(iter(self.passages([self._instruction + text])))
