import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.importers import naming

VALID = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"


@pytest.mark.parametrize(
    ("path", "number", "slug"),
    [
        ("0001-record-decisions.md", "0001", "record-decisions"),
        ("adr-002-docs-structure.md", "002", "docs-structure"),
        ("ADR025-remove-it.md", "025", "remove-it"),
        ("ADR 039 - Paths & integrity.md", "039", "Paths & integrity"),
        ("DR001:-a-template.md", "001", "a-template"),
        ("deep/0012_under_scores.md", "0012", "under_scores"),
        ("12.md", "12", ""),
        ("0012a-second-try.md", "0012a", "second-try"),
        ("20200924-use-lunr.md", "20200924", "use-lunr"),
        ("2020-09-24-use-lunr.md", "2020-09-24", "use-lunr"),
        ("0007-folder/README.md", "0007", "folder"),
        ("use-2-databases.md", "", "use-2-databases"),
        ("3d-rendering.md", "", "3d-rendering"),
        ("ADR00TBD-use-rust.md", "", "ADR00TBD-use-rust"),
        ("plain.md", "", "plain"),
    ],
)
def test_number_and_slug(path: str, number: str, slug: str) -> None:
    """The number is exactly as in the file name, behind a known label or none; other digits are words."""
    name = naming.read_name(path)
    assert (name.number, name.slug) == (number, slug)


def test_a_folder_can_have_its_own_label() -> None:
    """A label on three files and half of all is the folder's; on one file it is a word."""
    labels = naming.shared_labels([f"arc-{n}-x.md" for n in range(3)])
    assert naming.read_name("arc-12-x.md", labels).number == "12"
    assert naming.shared_labels(["arc-1-x.md", "a.md", "b.md"]) == frozenset()


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "index.md",
        "0000-index.md",
        "template.md",
        "000-template.md",
        "adr-template.md",
        "0000-adr-template.md",
        "template-madr-minimal.md",
        "ADRXXX-architecture-decision-record-template.md",
        "_templates/a.md",
        "CHANGELOG.md",
        "decision-log.md",
        "YYYYMMDD-template.md",
        "nnnn-template.md",
        "adr-template copy.md",
        "NNNN-adr-template/README.md",
    ],
)
def test_skipped_by_name(path: str) -> None:
    """READMEs, indexes and templates are known by their names, numbered or not."""
    assert naming.skip_reason(path, naming.read_name(path))


@pytest.mark.parametrize(
    "path",
    [
        "0001-record-architecture-decisions.md",
        "003-templating-languages.md",
        "0004-use-template-engine.md",
        "0005-log.md",
        "0006-email-templates-in-html.md",
        "0007-index-by-date-in-search.md",
        "0008-folder/README.md",
        "0009-process.md",
    ],
)
def test_not_skipped_by_name(path: str) -> None:
    """A decision about templates, logs or indexes is a decision."""
    assert naming.skip_reason(path, naming.read_name(path)) == ""


def test_ids() -> None:
    """Prefix and number, else the slug; a clash: the slug appended, then the folder, ignoring case."""
    paths = ["0001-a.md", "0001-b.md", "0002-A.md", "sub/0001-a.md", "words.md", "Words.md", "sub/words.md"]
    ids = naming.assign_ids("x", [(path, naming.read_name(path)) for path in paths])
    assert list(ids.values())[:5] == ["x-0001", "x-0001-b", "x-0002", "x-0001-a", "x-words"]
    assert len({identifier.lower() for identifier in ids.values()}) == len(paths)


@given(st.lists(st.text(min_size=1, max_size=200), unique=True, max_size=12))
def test_ids_are_always_valid_and_unique(stems: list[str]) -> None:
    """Any file names give ids that a record may have, unique ignoring case."""
    names = [(f"{stem}.md", naming.Name("", stem)) for stem in stems]
    ids = list(naming.assign_ids("x", names).values())
    assert len({identifier.lower() for identifier in ids}) == len(stems)
    for identifier in ids:
        assert len(identifier) <= naming.MAX_ID
        assert ".." not in identifier
        assert identifier[-1] != "."
        assert not identifier.lower().endswith(".lock")
