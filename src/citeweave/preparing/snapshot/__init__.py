"""Import an OpenAlex snapshot into a sharded corpus, out of core."""

from citeweave.preparing.snapshot.run import import_snapshot

__all__ = ["import_snapshot"]
