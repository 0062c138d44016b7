"""How a chain lays its tokens out."""

import numpy as np
import pytest

from citeweave.engines.core.data import Data
from citeweave.engines.core.setting_up import sort_by_word


@pytest.mark.parametrize(("tokens", "documents", "words"), [(0, 3, 2), (1, 1, 1), (900, 40, 7)])
def test_tokens_are_sorted_by_word_inside_documents(tokens, documents, words):
    rng = np.random.default_rng(tokens)
    ends = np.sort(rng.integers(tokens + 1, size=documents - 1))  # some documents are empty
    offsets = np.concatenate([[0], ends, [tokens]]).astype(np.int64)
    drawn = rng.integers(words, size=tokens).astype(np.int32)
    before = drawn.copy()
    places = np.arange(documents)
    data = Data(
        tokens=drawn,
        offsets=offsets,
        n_words=words,
        parents=(np.zeros(documents, np.int64), places, places),
        leaf=places,
        leaf_start=np.arange(documents + 1),
        citing=np.zeros(0, np.int32),
        cited=np.zeros(0, np.int32),
    )
    document = np.repeat(places, np.diff(offsets))
    np.testing.assert_array_equal(sort_by_word(data), np.lexsort((drawn, document)))
    np.testing.assert_array_equal(drawn, before)  # nothing was sorted in its place
