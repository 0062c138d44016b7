"""Records of publications: what readers give and preparation takes."""

from citeweave.records.record import Author, Record, Reference, Source, WordsKind

__all__ = ["Author", "Record", "Reference", "Source", "WordsKind"]
