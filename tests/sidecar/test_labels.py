from __future__ import annotations

import pytest

from seed.facets import facet
from sidecar.labels import Labels


def labels(*tags: tuple[str, ...]) -> Labels:
    return Labels(facet(tags))


@pytest.mark.parametrize(
    ("tags", "asked", "share"),
    [
        (("billing", "search"), "billing search", 1.0),
        (("billing", "search"), "the billing of searches", 1.0),  # stems meet, stop words do not count
        (("billing",), "billing page layout", 1 / 3),
        (("v0.7",), "v0.7.0", 0.0),  # versions are whole tokens
        (("v0.7",), "0.7", 1.0),  # a leading v is ignored on both sides
        (("v0.7.2发版",), "0.7.2 发版", 1.0),  # split where the script changes
        (("发版",), "发版流程", 1.0),  # CJK by prefix
        ((), "billing", 0.0),
    ],
)
def test_tags_say_a_share_of_the_question(tags: tuple[str, ...], asked: str, share: float) -> None:
    """Tag tokens meet whole, by stem, without a leading v, and for CJK at either end."""
    assert labels(tags, ("other",)).share(asked).tolist() == pytest.approx([share, 0.0])


def test_a_question_without_words_is_said_by_no_tag() -> None:
    """Punctuation and stop words alone give every record nothing."""
    assert not labels(("a", "the")).share("the ?!").any()
