from seed.importers.exchange import Kept
from seed.importers.restore import restore
from seed.reader import build_record


def test_a_superseder_that_was_edited_here_revives_nothing() -> None:
    """A record superseded at export keeps that status where the file of its superseder stays as it was edited here."""
    old: dict[str, object] = {"id": "q-1", "kind": "adr", "title": "Quay", "status": "accepted"}
    new: dict[str, object] = {**old, "id": "q-2", "title": "Pier", "supersedes": ["q-1"]}
    here = build_record({key: value for key, value in new.items() if key != "supersedes"}).record
    assert here is not None
    kept = [
        Kept(old, "a", "knowledge/q-1.yaml", "superseded"),
        Kept(new, "b", "knowledge/q-2.yaml", "accepted"),
    ]
    (first, _) = restore(kept, [("knowledge/q-2.yaml", here)]).records
    assert first.record["status"] == "superseded"
    (first, _) = restore(kept, []).records
    assert first.record["status"] == "accepted"  # its superseder comes along
