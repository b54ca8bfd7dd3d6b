from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import JSONRPCNotification, JSONRPCRequest, jsonrpc_message_adapter
from pydantic import ValidationError

from sidecar.server import wire
from sidecar.server.stdio import Lines
from sidecar.server.wire import MAX_LINE_BYTES, judged, too_long

PARSE, INVALID, PARAMS = -32700, -32600, -32602


def request(ident: Any, **params: Any) -> bytes:
    """Return a call as a line."""
    return json.dumps({"jsonrpc": "2.0", "id": ident, "method": "tools/call", "params": params}).encode()


def deep(levels: int, *, first: bool = True) -> bytes:
    """Return a request whose params are nested, with its id before or after them."""
    params = b'"params":{"a":' + b"[" * levels + b"]" * levels + b"}"
    rest = b'"jsonrpc":"2.0","method":"ping","id":"seven"'
    return b"{" + (rest + b", " + params if first else params + b" ,\t" + rest) + b"}\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"hello", [(None, PARSE)]),
        (b'{"jsonrpc":"2.0","id":13,"method":"tools/call","par', [(None, PARSE)]),
        (b"\x00", [(None, PARSE)]),
        ('{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"), [(None, PARSE)]),
        (b'{"jsonrpc":"2.0","id":14,"method":"ping","params":{"q":"\xff"}}', [(14, PARSE)]),
        (request(10, question="a \ud800 b"), [(10, PARAMS)]),
        (request(11, **{"\udc00": 1}), [(11, PARAMS)]),
        (request("x\udc00"), [(None, INVALID)]),
        (deep(300), [("seven", INVALID)]),
        (deep(100_000), [("seven", INVALID)]),
        (deep(100_000, first=False), [("seven", INVALID)]),
        (b"[" + request(15) + b"," + request(16) + b"]", [(15, INVALID), (16, INVALID)]),
        (b"[]", [(None, INVALID)]),
        (b'"text"', [(None, INVALID)]),
        (b"5", [(None, INVALID)]),
        (b'{"jsonrpc":"2.0","id":18}', [(18, INVALID)]),
        (b'{"jsonrpc":"2.0","id":19,"method":5}', [(19, INVALID)]),
        (b'{"jsonrpc":"1.0","id":21,"method":"ping"}', [(21, INVALID)]),
        (b'{"jsonrpc":"2.0","id":20,"method":"ping","params":[1]}', [(20, PARAMS)]),
        (b'{"jsonrpc":"2.0","id":22,"method":"ping","params":{"n":' + b"9" * 5000 + b"}}", [(22, PARAMS)]),
        *(
            (b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % i, [(None, INVALID)])
            for i in (b"null", b"1.5", b"true", b"{}")
        ),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}', [(None, INVALID)]),
        (b'{"jsonrpc":"2.0","method":1}', [(None, INVALID)]),
    ],
    ids=lambda value: repr(value[:40]) if isinstance(value, bytes) else "",
)
def test_a_line_that_cannot_be_taken_is_answered(line: bytes, expected: list[tuple[Any, int]]) -> None:
    """Every line that is no message gets an error: by the id of its request, by null where there is none to find."""
    message, found = judged(line)
    assert message is None
    assert [(refusal.ident, refusal.code) for refusal in found] == expected
    assert all(" - " in refusal.text for refusal in found)


@pytest.mark.parametrize(
    "line",
    [
        request(1, name="recall", arguments={"question": "a 🦀 \ud83e\udd80"}),
        b"\xef\xbb\xbf" + request(2),
        deep(100),
        b'{"jsonrpc":"2.0",\r"id":3,"method":"ping"}\r\n',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"id":5,"reason":"\\"id\\""}}',
        b'{"jsonrpc":"2.0","id":99,"result":{}}',
        b'{"jsonrpc":"2.0","id":99,"result":5}',
        b'{"jsonrpc":"2.0","id":99,"error":"x"}',
        b"",
        b" \t\r\n",
    ],
)
def test_a_message_and_a_response_are_not_refused(line: bytes) -> None:
    """What the server can work on passes, and neither a blank line nor a response, broken or not, is ever answered."""
    assert judged(line)[1] == ()


@given(st.binary(max_size=60) | st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=4).map(
    lambda value: json.dumps({"jsonrpc": "2.0", "id": value, "method": "ping"}).encode()
))  # fmt: skip
def test_no_request_is_left_without_an_answer(line: bytes) -> None:
    """Whatever is sent, it is refused, or the SDK takes it, or it is blank or a response."""
    line = line.replace(b"\n", b" ")
    message, found = judged(line)
    assert (message is None) == bool(found) or not line.removeprefix(b"\xef\xbb\xbf").strip()
    assert message is None or isinstance(message, JSONRPCRequest | JSONRPCNotification)


def test_the_sdk_alone_would_drop_them() -> None:
    """Negative control: the SDK's reader raises on a lone surrogate, and takes a null id for a notification."""
    with pytest.raises(ValidationError):
        jsonrpc_message_adapter.validate_json(request(10, question="\ud800"))
    message = jsonrpc_message_adapter.validate_json(b'{"jsonrpc":"2.0","id":null,"method":"ping"}')
    assert isinstance(message, JSONRPCNotification)


@pytest.mark.parametrize("first", [True, False])
def test_a_line_over_the_bound_is_never_held(monkeypatch: pytest.MonkeyPatch, *, first: bool) -> None:
    """Of a huge line only the ends are kept; its request is refused by its id, and the next line is read as usual."""
    huge = deep(MAX_LINE_BYTES, first=first)
    lines = Lines(io.BytesIO(huge + b'{"jsonrpc":"2.0","id":2,"method":"ping"}\n'))
    (refusal,) = lines._read()
    assert (refusal.ident, refusal.code) == ("seven", INVALID)
    assert lines._read().startswith(b'{"jsonrpc":"2.0","id":2')
    assert lines._read() == b""
    monkeypatch.setattr(wire, "_ID", wire.re.compile("(never)"))
    assert too_long(huge[:100], huge[-100:]).ident is None
