"""A short summary of the topics of a running fit."""

from pathlib import Path
from typing import Any

from citeweave.cli.show import pick_words
from citeweave.errors import CiteweaveError
from citeweave.model import load
from citeweave.model.describing import topic_order, topic_shares

__all__ = ["latest_topics"]

MOST = 12
WORDS = 6


def latest_topics(folder: Path) -> list[dict[str, Any]]:
    """Return the share and words of the largest topics in the latest checkpoints."""
    try:
        model = load(folder)
        share = topic_shares(model.doc_topic_)
        words = pick_words(model, WORDS)
    except (CiteweaveError, OSError):
        return []  # no samples yet, or a checkpoint was replaced while being read
    order = topic_order(share, share > 0)[:MOST]
    return [{"share": round(float(share[k]), 4), "words": words[k]} for k in order]
