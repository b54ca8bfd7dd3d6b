from collections.abc import Callable

import pytest

from seed.importers import adr
from seed.importers.model import Document, Imported, ImportReport

Import = Callable[..., dict[str, Imported]]


def read(files: dict[str, str], **options: str) -> ImportReport:
    documents = [Document(path, text) for path, text in files.items()]
    return adr.read_documents(documents, **{"prefix": "x", **options})


@pytest.fixture
def load() -> Import:
    """Import files given as path -> text, and return the records by id."""

    def run(files: dict[str, str], **options: str) -> dict[str, Imported]:
        return {item.id: item for item in read(files, **options).records}

    return run


@pytest.fixture
def one(load: Import) -> Callable[..., Imported]:
    """Import a single text as number 7, beside the records 1 to 3, and return it."""

    def run(text: str, **options: str) -> Imported:
        others = {f"000{n}-other-{n}.md": f"# Other {n}\n\n## Status\n\nAccepted\n" for n in (1, 2, 3)}
        return load({**others, "0007-this.md": text}, **options)["x-0007"]

    return run
