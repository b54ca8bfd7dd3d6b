from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seed.transcript import screen
from seed.transcript.screen import Screen

TOKEN = b"ghp" + b"_" + b"a8Zk3Qw9Xr2Lm5Tn7Yp1Vb4Hc6Jd0Fg8Se2U"
PIECES = st.lists(st.sampled_from([b"\n", b"abc ", b"  ", b'"' + TOKEN + b'"', b"x" * 30]), max_size=12).map(b"".join)


@given(PIECES, st.integers(1, 40), st.integers(90, 200), st.booleans())
def test_windows_change_nothing(data: bytes, step: int, window: int, redact: bool) -> None:
    """Whatever the chunks and windows, the bytes pass and each secret is found at its turn and place."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screen, "WINDOW", window)
        patch.setattr(screen, "OVERLAP", 60)
        one = Screen(redact=redact)
        out = b"".join(one.feed(data[at : at + step] for at in range(0, len(data), step)))
    lines = data.split(b"\n")
    whole = Screen()
    assert b"".join(whole.feed([data])) == data
    assert len(out) == len(data)
    assert one.findings() == whole.findings()
    for finding in one.findings():
        assert lines[finding.turn][finding.start : finding.end] == TOKEN
    assert out == (data.replace(TOKEN, b"*" * len(TOKEN)) if redact else data)
