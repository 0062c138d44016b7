"""citeweave: topics, authors, labels and citations of research literature in one model."""

__all__ = ["__version__"]

__version__ = "0.1.0"
