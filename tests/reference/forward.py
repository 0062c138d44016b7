"""The model run forwards: Chinese restaurants in plain Python, for joint-distribution tests."""

import numpy as np


def draw_dish(node, parent, counts, discount, beta, rng, root_draw):
    """Seat one customer at a node and, where it opens a table, at its parents; return its dish.

    ``counts`` maps a node to its dictionaries of customers and tables by dish.
    """
    customers, tables = counts[node]
    total = sum(customers.values())
    u = rng.random() * (beta[node] + total)
    for dish, c in customers.items():
        u -= c - discount[node] * tables[dish]
        if u < 0:
            customers[dish] += 1
            return dish
    if parent[node] is None:
        dish = root_draw()
    else:
        dish = draw_dish(parent[node], parent, counts, discount, beta, rng, root_draw)
    customers[dish] = customers.get(dish, 0) + 1
    tables[dish] = tables.get(dish, 0) + 1
    return dish


def redraw_words(chain, rng):
    """Draw all words and word-side tables anew given z: p(w, t | z, beta), in place."""
    layout, state = chain.layout, chain.state
    words, parameters = state.words, state.parameters
    n_words = words.customers.shape[0]
    n_documents = len(layout.document_start) - 1
    names = ("gamma", "phi", "burst")
    alpha = dict(zip(names, parameters.word_discount, strict=True))
    parent, counts, discount, beta = {}, {}, {}, {}

    def node(key, above, concentration):
        if key not in counts:
            counts[key] = ({}, {})
            parent[key] = above
            discount[key] = alpha[key[0]]
            beta[key] = concentration
        return key

    gamma = node(("gamma",), None, parameters.word_concentration[0])
    new_words = np.zeros_like(layout.word)
    for d in range(n_documents):
        for i in range(layout.document_start[d], layout.document_start[d + 1]):
            k = int(state.assignments.topic[i])
            phi = node(("phi", k), gamma, parameters.topic_word_concentration[k])
            burst = node(("burst", d, k), phi, parameters.word_concentration[1])
            new_words[i] = draw_dish(
                burst, parent, counts, discount, beta, rng, lambda: int(rng.integers(n_words))
            )
    for array in words:
        array[...] = 0
    for d in range(n_documents):
        part = slice(layout.document_start[d], layout.document_start[d + 1])
        order = np.argsort(new_words[part], kind="stable")
        layout.word[part] = new_words[part][order]
        state.assignments.topic[part] = state.assignments.topic[part][order]
        left = {}
        for i in range(part.start, part.stop):
            k, w = int(state.assignments.topic[i]), int(layout.word[i])
            if (k, w) not in left:
                left[k, w] = counts["burst", d, k][1][w]
            state.assignments.burst_table[i] = 1 if left[k, w] > 0 else 0
            left[k, w] -= 1
    for key, (customers, tables) in counts.items():
        for w, c in customers.items():
            if key[0] == "phi":
                words.customers[w, key[1]] = c
                words.tables[w, key[1]] = tables[w]
            elif key[0] == "gamma":
                words.background_customers[w] = c
                words.background_tables[w] = tables[w]
    words.total_customers[:] = words.customers.sum(axis=0)
    words.total_tables[:] = words.tables.sum(axis=0)
    words.background_totals[:] = (
        words.background_customers.sum(),
        words.background_tables.sum(),
    )
