"""Folders with a ``kep.yaml`` beside a README, as Kubernetes enhancement proposals have them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from seed.importers import markdown
from seed.importers.model import Document, Page

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "kep.yaml"


def combine(documents: Sequence[Document]) -> list[Document]:
    """Join every kep.yaml with the README of its folder, as front matter, so that no text is lost."""
    by_path = {document.path: document for document in documents}
    metadata = {PurePosixPath(path).parent: path for path in by_path if _is_metadata(path)}
    joined = []
    for document in documents:
        pure = PurePosixPath(document.path)
        own = metadata.get(pure.parent)
        if own and document.path != own and pure.stem.lower() == "readme":
            joined.append(_join(document, by_path[own]))
            metadata.pop(pure.parent)
        elif not _is_metadata(document.path):
            joined.append(document)
    return joined + [_join(Document(path, ""), by_path[path]) for path in metadata.values()]


def parse(document: Document) -> Page:
    """Take a joined document apart; its front matter is called by the name of its file."""
    page = markdown.parse(document)
    fields = tuple(replace(f, where=f.where.replace("front matter", NAME)) for f in page.fields)
    return replace(page, fields=fields)


def _is_metadata(path: str) -> bool:
    return PurePosixPath(path).name.lower() == NAME


def _join(readme: Document, metadata: Document) -> Document:
    text = metadata.text.strip("\n").removeprefix("---\n").removesuffix("\n---")
    doubt = readme.doubt or metadata.doubt
    return Document(readme.path, f"---\n{text}\n---\n{readme.text}", doubt, also=(metadata.path,))
