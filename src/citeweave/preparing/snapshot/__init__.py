"""From an OpenAlex snapshot to a corpus of shards, without all of it in memory."""

from citeweave.preparing.snapshot.run import import_snapshot

__all__ = ["import_snapshot"]
