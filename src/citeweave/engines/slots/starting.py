"""The start of a snapshot chain over slots: as in `engines.threads.starting`, with marks."""

from citeweave.compiled import hot_kernel, index, inlined
from citeweave.engines.slots.change_lists import note_change
from citeweave.engines.slots.merge import mark
from citeweave.engines.threads.starting import open_paper

__all__ = ["open_marked_tables"]


@inlined
def _note_word(sharing, w, topic):
    """Add a customer of phi to the changes of a worker, and mark it."""
    sharing.changes.words[index(w), index(topic), 0] += 1
    mark(sharing.word_marks, w, topic)


@inlined
def _note_node(sharing, n, topic):
    """Note a customer of a node above documents."""
    note_change(sharing.noted, n, topic, 1, 0)


@hot_kernel
def open_marked_tables(shape, layout, state, work, sharing, docs):
    """Like ``open_tables`` of `engines.threads.starting`, with the worker's `Sharing`."""
    for place in range(docs.shape[0]):
        open_paper(shape, layout, state, work, _note_word, _note_node, sharing, docs[place, 0])
