"""The parts of an evaluation: clusters, labels, topics, links and chains as rows of measures."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from citeweave.corpus import Corpus
from citeweave.evaluate.classification import accuracy, expected_calibration_error, macro_f1
from citeweave.evaluate.clustering import clustering_scores
from citeweave.evaluate.coherence import npmi_coherence, topic_diversity
from citeweave.evaluate.diagnostics import judge_chains, kept_traces
from citeweave.evaluate.link_scores import LinkScores, model_scores, tfidf_scores
from citeweave.evaluate.links import auc, link_prediction, negative_pairs, new_negative_pairs
from citeweave.evaluate.report import Measure
from citeweave.model import SCNTM
from citeweave.model.convergence import FEWEST_DRAWS, convergence
from citeweave.model.groups import KINDS, Groups
from citeweave.model.topic_model import PlacingModel, TopicModel
from citeweave.naming import choice

__all__ = [
    "measure_chains",
    "measure_clusters",
    "measure_held_out_links",
    "measure_hidden_labels",
    "measure_labels",
    "measure_new_links",
    "measure_topics",
    "missing",
    "uses_labels",
]

CLUSTER_NAMES = ("purity", "NMI", "adjusted Rand", "adjusted mutual information")
COHERENCE_WORDS = 10
DIVERSITY_WORDS = 25


def missing(part: str, names: Sequence[str], where: str, why: str) -> list[Measure]:
    """List measures that cannot be computed, with the reason."""
    return [Measure(part, name, where, None, why) for name in names]


def uses_labels(model: TopicModel) -> bool:
    """Return whether the model has seen the categories of documents, as groups or as targets.

    It has also seen them if a level divides documents in the same way, as venues may.
    """
    if not isinstance(model, SCNTM):
        return isinstance(model, PlacingModel) and "labels" in model.reads
    category = np.asarray(model.corpus_.categories)
    return any(
        bool((groups.kind == KINDS.index("category")).any()) or _are_categories(groups, category)
        for groups in model.levels_.values()
    )


def _are_categories(groups: Groups, category: np.ndarray) -> bool:
    """Whether the values of a level that divides documents are their categories by other names."""
    known = (groups.kind[groups.of_document] == KINDS.index("value")) & (category >= 0)
    values = groups.label[groups.of_document[known]]
    pairs = np.unique(np.stack([values, category[known]], axis=1), axis=0)
    whole = [len(np.unique(column)) for column in pairs.T]
    return bool(groups.column) and len(pairs) > 1 and whole == [len(pairs)] * 2


def measure_clusters(
    labels: np.ndarray, corpus: Corpus, where: str, how: str, *, what: str = "dominant topic"
) -> list[Measure]:
    """Compare dominant topics, or other labels, with categories if there are any."""
    known = int(np.count_nonzero(np.asarray(corpus.categories) >= 0))
    if not known:
        why = "the documents have no categories"
        return missing("clusters", CLUSTER_NAMES, where, why)
    scores = clustering_scores(labels, np.asarray(corpus.categories))
    text = f"{what} against category, {known:,} documents; {how}"
    values = (
        scores.purity,
        scores.nmi,
        scores.adjusted_rand,
        scores.adjusted_mutual_information,
    )
    return [
        Measure("clusters", name, where, value, text)
        for name, value in zip(CLUSTER_NAMES, values, strict=True)
    ]


def measure_labels(predicted: np.ndarray, true: np.ndarray, where: str, how: str) -> list[Measure]:
    """Compare inferred categories with the true ones; -1 stands for none in either.

    The model assigns no category to a document of a significant author: such documents are left
    out, and the number that remain is reported.
    """
    known = true >= 0
    both = known & (predicted >= 0)
    names = ("accuracy", "macro F1")
    if not both.any():
        why = "no document has both a category and an inferred one"
        return missing("labels", names, where, why)
    text = f"inferred category, {both.sum():,} of {known.sum():,} documents have one; {how}"
    return [
        Measure("labels", "accuracy", where, accuracy(predicted[both], true[both]), text),
        Measure("labels", "macro F1", where, macro_f1(predicted[both], true[both]), text),
    ]


def measure_hidden_labels(model: TopicModel) -> list[Measure]:
    """Compare inferred categories with the labels held out before the fit, if any."""
    if "labels" not in model.held_out_:
        return []
    where = "held-out labels"
    names = ("accuracy", "macro F1", "calibration error")
    if not (isinstance(model, SCNTM) and model.spec_.draws_categories):
        why = "the model has no latent categories, so it infers no labels of its own documents"
        return missing("labels", names, where, why)
    document, true = np.asarray(model.held_out_["labels"]).T
    groups = model.groups_
    named = np.flatnonzero(groups.kind == KINDS.index("category"))
    if len(named) == 0:
        why = "the model has not seen labels; fit with " + choice("labels='some'", "--labels some")
        return missing("labels", names, where, why)
    sure = np.zeros((len(document), model.corpus_.n_categories + 1))
    shares = model.category_probability_[document]
    sure[:, groups.label[named]] = shares[:, named]
    sure[:, -1] = np.maximum(1.0 - sure.sum(axis=1), 0.0)  # categories that no label names
    told = sure.argmax(axis=1)
    where = f"{len(document):,} held-out labels"
    how = "most probable category; these labels were held out before the fit"
    values = (
        accuracy(told, true),
        macro_f1(told, true),
        expected_calibration_error(sure, true.astype(np.int64)),
    )
    return [
        Measure("labels", name, where, value, how)
        for name, value in zip(names, values, strict=True)
    ]


def measure_topics(model: TopicModel) -> list[Measure]:
    """Judge the topics in use by their words."""
    corpus = model.corpus_
    used = np.asarray(model.topic_word_)[np.asarray(model.topic_samples_) > 0]
    where = f"{len(used)} topics in use"
    rows = [Measure("topics", "topics in use", "model", float(len(used)), "in any kept sample")]
    for name, top in (("NPMI coherence", COHERENCE_WORDS), ("diversity", DIVERSITY_WORDS)):
        count = min(top, corpus.vocabulary_size)
        if count < 2 or corpus.n_tokens == 0 or len(used) == 0:
            rows += missing("topics", (name,), where, "the corpus has too few words")
            continue
        if name == "diversity":
            text = f"share of different words among the {count} most probable of each topic"
            rows.append(Measure("topics", name, where, topic_diversity(used, top=count), text))
            continue
        text = f"mean over topics, {count} most probable words, counted in the training documents"
        value = float(npmi_coherence(used, corpus, top=count).mean())
        rows.append(Measure("topics", name, where, value, text))
    return rows


def measure_held_out_links(
    model: TopicModel, *, k: Sequence[int], negatives: int, seed: int
) -> list[Measure]:
    """Score the citations held out before the fit, if any."""
    where = "held-out citations"
    if "citations" not in model.held_out_:
        why = (
            f"all citations were used in training; fit with "
            f"{choice('hold_out(corpus, citations=0.1)', '--hold-out-citations 0.1')}, or give "
            f"{choice('test', '--test')} documents"
        )
        return missing("links", ("AUC",), where, why)
    train = model.corpus_
    pairs = np.asarray(model.held_out_["citations"])
    citations = np.concatenate([train.citations, pairs])
    whole = dataclasses.replace(
        train,
        citations=citations[np.lexsort((citations[:, 1], citations[:, 0]))],
        _stored_fingerprint=None,
    )
    bad = negative_pairs(whole, pairs, each=negatives, seed=seed)
    where = f"{len(pairs):,} held-out citations"
    scored = model_scores(model), model_scores(model, propensities=False)
    return _link_rows(scored, tfidf_scores(train), train, pairs, bad, where, k, negatives)


def measure_new_links(
    model: TopicModel,
    test: Corpus,
    links: np.ndarray,
    doc_topic: np.ndarray,
    *,
    k: Sequence[int],
    negatives: int,
    seed: int,
) -> list[Measure]:
    """Score citations of new documents to training documents, not used for `doc_topic`."""
    train = model.corpus_
    where = f"{len(links):,} citations of test documents"
    if not len(links):
        why = (
            "no citation of a test document leads to a training document (give "
            f"{choice('test=', '--test ')}the whole corpus that the training documents are part of)"
        )
        return missing("links", ("AUC",), "citations of test documents", why)
    bad = new_negative_pairs(
        links, citing=test.n_documents, cited=train.n_documents, each=negatives, seed=seed
    )
    apart = "; topics of test documents from their words alone"
    rates, text = model_scores(model, doc_topic)
    topical, alike = model_scores(model, doc_topic, propensities=False)
    scored = (rates, text + apart), (topical, alike + apart)
    return _link_rows(scored, tfidf_scores(train, test), None, links, bad, where, k, negatives)


def _link_rows(
    scored: tuple[tuple[LinkScores, str], tuple[LinkScores, str]],
    words: LinkScores,
    train: Corpus | None,
    pairs: np.ndarray,
    bad: np.ndarray,
    where: str,
    k: Sequence[int],
    negatives: int,
) -> list[Measure]:
    """Return the measures of a model's scores, and those of tf-idf for comparison.

    `scored` holds the full rates of the model, which rank all documents, and those by topics alone,
    which are compared between pairs of matched degrees.
    """
    rows = []
    plain = (words, "similarity of words alone, for comparison")
    for (rates, text), (topical, alike), suffix in (
        (*scored, ""),
        (plain, plain, ", tf-idf cosine"),
    ):
        found = link_prediction(rates, train, pairs, bad, k=k)
        area = auc(topical.pairs(pairs), topical.pairs(bad))
        matched = f"{alike}; {negatives} degree-matched negatives each"
        rows.append(Measure("links", f"AUC{suffix}", where, area, matched))
        for depth in k:
            for name, values in (("precision", found.precision), ("recall", found.recall)):
                title = f"{name} at {depth}{suffix}"
                among = f"{text}; among all documents, mean over citing documents"
                rows.append(Measure("links", title, where, values[depth], among))
    return rows


def measure_chains(model: TopicModel) -> tuple[list[Measure], str]:
    """Return R-hat and effective sample sizes of traces after burn-in, and the verdict."""
    if not isinstance(model, SCNTM):
        why = "the model has no chains: it was not fitted by sampling"
        return missing("chains", ("R-hat",), "traces", why), ""
    rows: list[Measure] = []
    judged = kept_traces(
        model.traces_,
        burn_in=model.burn_in_,
        level_names=model.level_names_,
        names=("topics",),
    )
    for name, trace in judged:
        chains, draws = trace.shape
        where = f"trace of {name}"
        if draws < FEWEST_DRAWS:
            why = f"{draws} iterations after burn-in; at least {FEWEST_DRAWS} are needed"
            rows += missing("chains", ("R-hat", "bulk ESS", "tail ESS"), where, why)
            continue
        found = convergence(trace)
        count = "1 chain" if chains == 1 else f"{chains} chains"
        text = f"{count} of {draws} iterations after burn-in"
        for title, value in (
            ("R-hat", found.rhat),
            ("bulk ESS", found.bulk),
            ("tail ESS", found.tail),
        ):
            if math.isnan(value):
                rows += missing("chains", (title,), where, "all draws are equal")
            else:
                rows.append(Measure("chains", title, where, value, text))
    return rows, judge_chains(model).verdict.text
