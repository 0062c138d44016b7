"""Corpora of a few tokens, as the sampler takes them."""

import numpy as np

import citeweave.engines.core.word_side as word_side_module
import citeweave.engines.dense.chain as chain_module
from citeweave.engines.core.data import NO_SERVERS, ChainSettings, Data, Servers
from citeweave.engines.core.spec import preset

FIXED = {"sample_concentrations": False, "sample_propensities": False, "self_citations": "zero"}


def tiny_data(
    spec,
    *,
    documents=((0, 0, 1), (0, 1)),
    groups=(0, 0),
    citations=((0, 1),),
    n_words=2,
    unlabelled=(),
    servers=(),
):
    """Two papers of one author, a repeated word and a citation between them, by default.

    ``servers`` are the groups that share each paper, none for papers of one alone.
    """
    n = len(documents)
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents])]).astype(np.int64)
    tokens = np.array([w for d in documents for w in d], np.int32)
    places = np.arange(n)
    groups = np.asarray(groups)
    if spec.words_choose_author:  # the first paper has a coauthor
        leaf = np.concatenate([[0], 1 + groups])
        start = np.concatenate([[0], np.arange(2, n + 2)])
        parents = (np.zeros(groups.max() + 2, int),)
    else:
        leaf, start = places, np.arange(n + 1)
        above = groups if spec.n_shared > 1 else np.zeros(n, int)
        last = max(groups.max(), *(group for paper in servers for group in paper), 0)
        shared = (np.zeros(last + 1, int),) if spec.n_shared > 1 else ()
        parents = (*shared, above, *(places,) * (spec.n_document - 1))
    pairs = np.array(citations, np.int32).reshape(-1, 2)
    drawn = np.array(unlabelled, np.int32)
    several = _servers(servers) if servers else NO_SERVERS
    return Data(
        tokens, offsets, n_words, parents, leaf, start, pairs[:, 0], pairs[:, 1], drawn, several
    )


def _servers(papers):
    """List who shares papers; the second author of each counts twice, as if it were two."""
    counts = [len(paper) for paper in papers]
    authors = [[2.0 if i == 1 else 1.0] for paper in papers for i in range(len(paper))]
    groups = [group for paper in papers for group in paper]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Servers(starts, np.array(groups, np.int32), np.array(authors))


def tiny_chain(spec, *, topics=2, seed=3, modules=None, self_citations="zero", scale=1.0, **corpus):
    """Make a chain with uneven, fixed parameters, its network on, ready to sweep.

    ``modules`` replaces the sampler's own modules by those of a broken variant; ``scale`` is a
    factor of all lambdaT.
    """
    modules = modules or {"chain": chain_module, "word_side": word_side_module}
    spec = preset(spec) if isinstance(spec, str) else spec
    fixed = FIXED | {"self_citations": self_citations}
    settings = ChainSettings(topics=topics, concentration=1.0, **fixed)
    chain = modules["chain"].DenseChain(spec, tiny_data(spec, **corpus), settings, seed=seed)
    chain.start()
    parameters = chain.state.parameters
    if spec.citations is not None:
        chain.switch_network_on()
        parameters.cite[:] = np.linspace(1.5, 0.7, len(parameters.cite))
        parameters.cited[:] = np.linspace(0.8, 2.0, len(parameters.cited))
        parameters.topic_scale[:] = scale * np.linspace(0.5, 1.5, topics)
    parameters.topic_concentration[:] = np.linspace(0.5, 1.5, len(parameters.topic_concentration))
    parameters.word_concentration[:] = [1.2, 0.6]
    parameters.topic_word_concentration[:] = 0.9
    if hasattr(chain, "cache"):  # a chain on a device renews its own when it is uploaded
        refresh = modules["word_side"].refresh_word_cache
        refresh(chain.tables, chain.state.words, parameters, chain.cache)
    return chain
