"""The words of all documents, drawn with theta and phi' summed out (subsec:topic_model)."""

import numpy as np

from citeweave.compiled import kernel
from citeweave.simulate._random import find, uniform

__all__ = ["draw_words"]


@kernel
def draw_words(
    offsets: np.ndarray,
    doc_topic: np.ndarray,
    running_words: np.ndarray,
    topic_pyp: tuple[float, float],
    word_pyp: tuple[float, float],
    bursty: bool,  # noqa: FBT001 (kernels take positional arguments)
    state: np.ndarray,
    topics: np.ndarray,
    words: np.ndarray,
) -> None:
    """Fill in topics z and words w of every token by two Chinese restaurants per document.

    A token's topic joins a table of theta_d or opens one, whose dish is drawn from theta'_d. Its
    word then joins a table of phi'_dk or opens one, whose dish is drawn from phi_k. This draws
    from the Pitman-Yor processes exactly, without forming theta_d or phi'_dk.

    Parameters
    ----------
    offsets
        Token offsets of documents, shape (D + 1,).
    doc_topic
        theta', shape (D, K).
    running_words
        Running sums of phi along the vocabulary, shape (K, V).
    topic_pyp, word_pyp
        Discount and concentration of theta and of phi'.
    bursty
        If false, words are drawn from phi_k itself.
    state
        Random state.
    topics, words
        Filled in: z and w of all tokens.
    """
    a, b = topic_pyp
    word_a, word_b = word_pyp
    n_topics = doc_topic.shape[1]
    longest = 1
    for d in range(len(offsets) - 1):
        longest = max(longest, offsets[d + 1] - offsets[d])
    running_topics = np.empty(n_topics)
    customers = np.zeros(n_topics, dtype=np.int64)
    tables = np.zeros(n_topics, dtype=np.int64)
    used = np.empty(n_topics, dtype=np.int64)
    # Tables of phi'_dk: a linked list per topic, because a topic's tables are scanned often.
    first_table = np.empty(n_topics, dtype=np.int64)
    next_table = np.empty(longest, dtype=np.int64)
    table_word = np.empty(longest, dtype=np.int64)
    table_size = np.empty(longest, dtype=np.int64)
    word_tables = np.zeros(n_topics, dtype=np.int64)

    for d in range(len(offsets) - 1):
        total = 0.0
        for k in range(n_topics):
            total += doc_topic[d, k]
            running_topics[k] = total
        n_used = 0
        n_tables = 0
        n_word_tables = 0
        for n in range(offsets[d + 1] - offsets[d]):
            rest = uniform(state) * (b + n) - (n - a * n_tables)
            if rest < 0.0:  # join a table of theta_d: topic k with weight c_k - a t_k
                rest += n - a * n_tables
                topic = used[n_used - 1]
                for i in range(n_used):
                    k = used[i]
                    rest -= customers[k] - a * tables[k]
                    if rest < 0.0:
                        topic = k
                        break
            else:
                topic = find(running_topics, uniform(state) * total)
                tables[topic] += 1
                n_tables += 1
                if customers[topic] == 0:
                    used[n_used] = topic
                    n_used += 1
                    first_table[topic] = -1
            before = customers[topic]
            customers[topic] += 1
            position = offsets[d] + n
            topics[position] = topic

            rest = uniform(state) * (word_b + before) - (before - word_a * word_tables[topic])
            if bursty and rest < 0.0:  # join a table of phi'_dk with weight size - a
                rest += before - word_a * word_tables[topic]
                table = first_table[topic]
                while True:
                    rest -= table_size[table] - word_a
                    if rest < 0.0 or next_table[table] < 0:
                        break
                    table = next_table[table]
                table_size[table] += 1
                words[position] = table_word[table]
            else:
                row = running_words[topic]
                word = find(row, uniform(state) * row[-1])
                words[position] = word
                if bursty:
                    table_word[n_word_tables] = word
                    table_size[n_word_tables] = 1
                    next_table[n_word_tables] = first_table[topic]
                    first_table[topic] = n_word_tables
                    n_word_tables += 1
                    word_tables[topic] += 1
        for i in range(n_used):
            customers[used[i]] = 0
            tables[used[i]] = 0
            word_tables[used[i]] = 0
