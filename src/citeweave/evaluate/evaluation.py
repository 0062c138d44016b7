"""All measures of a model that can be computed without bias, in one call."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from citeweave.corpus import Corpus, Split
from citeweave.errors import ParameterError
from citeweave.evaluate import measuring
from citeweave.evaluate._arrays import check_integer
from citeweave.evaluate.new_documents import NewDocuments, find_new_documents
from citeweave.evaluate.perplexity import perplexity
from citeweave.evaluate.report import Evaluation, Measure
from citeweave.evaluate.words import (
    Scored,
    completion_words,
    in_sample_perplexity,
    plain_perplexity,
    without_words,
)
from citeweave.model import SCNTM
from citeweave.model.fold_in import choose_words
from citeweave.model.topic_model import PlacingModel, TopicModel
from citeweave.model.unseen import translate
from citeweave.naming import choice, option

__all__ = ["evaluate"]

TRAIN = "training documents"
TEST = "test documents"
_SHARES = {"title": "title words", "none": "no words", "all": "all words"}


def evaluate(
    model: TopicModel,
    test: Corpus | Split | str | os.PathLike[str] | None = None,
    *,
    links: Any = None,
    categories: bool = True,
    labels: str = "hidden",
    words: str | float | None = None,
    method: str = "paper",
    samples: int = 500,
    k: Sequence[int] = (10, 50),
    negatives: int = 10,
    seed: int = 0,
    threads: int | None = None,
) -> Evaluation:
    """Compute every measure of a fitted model that its corpus and the test documents allow.

    Nothing is used twice: words and citations that are scored were not used to estimate what they
    are scored with, unless the measure says "in sample". A measure that cannot be computed is
    listed with the reason.

    Parameters
    ----------
    model : SCNTM or baseline
        Fitted, or loaded with `citeweave.load`.
    test : Corpus, Split or path, optional
        Documents that the model has not seen, see `find_new_documents`.
    links : array-like of int, shape (n, 2), optional
        Citations as rows (test document, training document).
    categories : bool
        Compare with categories if documents have them.
    labels : {"hidden", "seen"}
        Whether categories of test documents are hidden while topics are estimated; "seen" is the
        paper's protocol, and results that depend on it say so.
    words : "all", "title", "none" or float, optional
        Words of test documents that topics are estimated from. If not given: all of them for
        clusters, labels and links; for perplexity the title words where documents have titles,
        otherwise half of each document's words.
    method : {"paper", "gibbs"}
        How an SCNTM estimates topics of test documents, see `SCNTM.fold_in`.
    samples : int
        Number of its samples.
    k : sequence of int
        Depths of precision and recall of links.
    negatives : int
        Number of pairs drawn for each scored citation.
    seed : int
        Seed of all random draws.
    threads : int, optional
        Threads for estimating the topics of test documents.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from citeweave import SCNTM, simulate
    >>> corpus = simulate(documents=80, vocabulary=80, topics=3, citations=90, seed=1).corpus
    >>> parts = corpus.split(test=0.25, seed=0)
    >>> model = SCNTM(topics=4, iterations=20, chains=2, seed=1).fit(parts.train)
    >>> found = evaluate(model, parts)
    >>> 1 < found["perplexity", "test documents"] < 80, 0 <= found["NPMI coherence"] <= 1
    (True, True)
    """
    if labels not in {"hidden", "seen"}:
        raise ParameterError(
            f"{option('labels')} must be 'hidden' or 'seen'. Got {labels!r} instead."
        )
    if not isinstance(model, TopicModel):
        raise ParameterError(
            f"'model' must be a fitted SCNTM or baseline. Got {type(model).__name__}, which is not "
            "fitted or lacks what docs/understand/baselines.md lists, instead."
        )
    depth_name = choice("k", "at")  # the Python name of --at
    for name, value in (("negatives", negatives), *((depth_name, depth) for depth in k)):
        check_integer(value, name, lowest=1)
    task = _Task(model, labels, words, method, samples, seed, threads)
    rows: list[Measure] = []
    if categories:
        rows += _training_clusters(model) + measuring.measure_hidden_labels(model)
    else:
        rows += measuring.missing("clusters", measuring.CLUSTER_NAMES, TRAIN, "not asked for")
    new = None if test is None else find_new_documents(test, model.corpus_, links=links)
    if new is not None and words is not None:
        choose_words(new.corpus, words, seed=seed)  # refuses what documents do not allow
    if new is not None and categories:
        rows += task.clusters(new)
    rows += _training_perplexity(model)
    if new is None:
        why = f"no test documents given; {choice('test=', '--test ')}CORPUS"
        rows += measuring.missing("words", ("perplexity",), TEST, why)
    else:
        rows += task.perplexity(new)
    rows += measuring.measure_topics(model)
    if new is None or "citations" in model.held_out_:
        rows += measuring.measure_held_out_links(model, k=k, negatives=negatives, seed=seed)
    if new is not None:
        rows += task.links(new, k=k, negatives=negatives)
    chains, verdict = measuring.measure_chains(model)
    return Evaluation(
        model=model.spec_.name if isinstance(model, SCNTM) else _name(model),
        measures=tuple(rows + chains),
        verdict=verdict,
        protocol=_protocol(model, new, task, negatives=negatives, k=k),
    )


def _name(model: TopicModel) -> str:
    return model.name if isinstance(model, PlacingModel) else type(model).__name__


def _reads(model: TopicModel) -> frozenset[str]:
    """Return the data (words, links) from which topics of new documents are estimated."""
    if isinstance(model, SCNTM):
        linked = model.spec_.citations is not None
        return frozenset({"words", "links"} if linked else {"words"})
    return model.reads if isinstance(model, PlacingModel) else frozenset({"words"})


def _protocol(
    model: TopicModel, new: NewDocuments | None, task: "_Task", **settings: Any
) -> dict[str, Any]:
    out: dict[str, Any] = {
        "training_documents": model.corpus_.n_documents,
        "labels_used_in_training": measuring.uses_labels(model),
        "seed": task.seed,
        "negatives": settings["negatives"],
        "k": list(settings["k"]),
        "notes": list(model.notes_) if isinstance(model, SCNTM) else [],
    }
    if new is not None:
        out["test"] = {
            "documents": new.corpus.n_documents,
            "citations_of_training_documents": len(new.links),
            "training_documents_left_out": new.known,
            "labels": task.labels,
            "words": "as each measure says" if task.words is None else task.words,
            "method": task.method if isinstance(model, SCNTM) else "transform",
        }
    return out


def _training_clusters(model: TopicModel) -> list[Measure]:
    how = "labels never seen"
    if measuring.uses_labels(model):
        how = "labels were used in training, so this does not test them"
    if isinstance(model, SCNTM) and model.spec_.draws_categories:
        found, what = model.category_, "drawn category"
        return measuring.measure_clusters(found, model.corpus_, TRAIN, how, what=what)
    return measuring.measure_clusters(model.labels_, model.corpus_, TRAIN, how)


def _training_perplexity(model: TopicModel) -> list[Measure]:
    """Return the in-sample perplexity, named so, and that of held-out words if there are any."""
    rows = []
    if model.corpus_.n_tokens:
        scored = in_sample_perplexity(model)
        how = "scored with estimates from the same words: not a test"
        rows.append(Measure("words", "perplexity, in sample", TRAIN, scored.value, how))
    else:
        why = "the corpus has no words"
        rows += measuring.missing("words", ("perplexity, in sample",), TRAIN, why)
    name, where = "perplexity, held-out words", TRAIN
    if "words" not in model.held_out_:
        how = choice("hold_out(corpus, words=0.1)", "--hold-out-words 0.1")
        why = f"all words were used in training; fit with {how}"
        return rows + measuring.missing("words", (name,), where, why)
    document, word = np.asarray(model.held_out_["words"]).T
    share = len(word) / (len(word) + model.corpus_.n_tokens)
    how = f"{len(word):,} words ({share:.0%} of all) held out before the fit"
    scored = plain_perplexity(model.doc_topic_, model.topic_word_, document, word)
    return [*rows, Measure("words", name, where, scored.value, scored.explain(how))]


class _Task:
    """Topics of test documents under one protocol, and the measures based on them."""

    def __init__(
        self,
        model: TopicModel,
        labels: str,
        words: str | float | None,
        method: str,
        samples: int,
        seed: int,
        threads: int | None,
    ) -> None:
        self.model = model
        self.labels = labels
        self.words = words
        self.method = method
        self.samples = samples
        self.seed = seed
        self.threads = threads

    def _options(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "labels": self.labels,
            "samples": self.samples,
            "seed": self.seed,
            "threads": self.threads,
        }

    def _how(self, words: str | float) -> str:
        used = _SHARES[words] if isinstance(words, str) else f"{words:.0%} of each document's words"
        parts = {"words": used, "links": "citations of training documents"}
        reads = _reads(self.model)
        text = f"topics from {' and '.join(parts[name] for name in parts if name in reads)}"
        if not isinstance(self.model, SCNTM):
            return f"{text}, by transform"
        if measuring.uses_labels(self.model):
            text += {
                "hidden": ", labels of test documents hidden",
                "seen": ", labels of test documents SEEN (the paper's protocol)",
            }[self.labels]
        for level in self.model.spec_.paper_levels:
            text += f", {level.name} of test documents read"
        return f"{text}, {self.method} fold-in"

    def topics(self, new: NewDocuments, *, citations: bool) -> np.ndarray:
        """Estimate topics from the words that are not scored."""
        words = "all" if self.words is None else self.words
        links = new.links if citations else new.links[:0]
        if isinstance(self.model, SCNTM):
            return self.model.transform(
                new.corpus, words=words, citations=citations, links=links, **self._options()
            )
        used = choose_words(new.corpus, words, seed=self.seed)
        return _transform(self.model, without_words(new.corpus, ~used), links)

    def clusters(self, new: NewDocuments) -> list[Measure]:
        """Compare topics, and inferred categories if the model has them, with the true ones."""
        words = "all" if self.words is None else self.words
        how = self._how(words)
        names = ("accuracy", "macro F1")
        if not isinstance(self.model, SCNTM):
            found = self.topics(new, citations=True).argmax(axis=1)
            rows = measuring.measure_clusters(found, new.corpus, TEST, how)
            if measuring.uses_labels(self.model):  # its topics are the categories
                return rows + self._inferred(found, new.corpus, how)
            why = "the model does not infer categories"
            return rows + measuring.missing("labels", names, TEST, why)
        folded = self.model.fold_in(new.corpus, words=words, links=new.links, **self._options())
        rows = measuring.measure_clusters(folded.labels, new.corpus, TEST, how)
        if folded.category is None:
            why = "the model is not supervised (eta = 0), so it infers no categories"
            return rows + measuring.missing("labels", names, TEST, why)
        if self.labels == "seen":
            why = "the labels were seen; with labels hidden they are inferred"
            return rows + measuring.missing("labels", names, TEST, why)
        return rows + self._inferred(folded.category, new.corpus, how)

    def _inferred(self, category: np.ndarray, corpus: Corpus, how: str) -> list[Measure]:
        """Compare inferred categories, by the training corpus's table, with the true ones."""
        if not (corpus.categories >= 0).any():
            why = "the documents have no categories"
            return measuring.missing("labels", ("accuracy", "macro F1"), TEST, why)
        theirs = translate(corpus, self.model.corpus_).category
        known = corpus.categories >= 0
        true = np.full(corpus.n_documents, -1, dtype=np.int64)
        # a category that is not in the training corpus is always wrong, so it gets its own number
        unseen = self.model.corpus_.n_categories + np.arange(len(theirs))
        numbers = np.where(theirs >= 0, theirs, unseen)
        true[known] = numbers[corpus.categories[known]]
        return measuring.measure_labels(category, true, TEST, how)

    def perplexity(self, new: NewDocuments) -> list[Measure]:
        """Estimate topics from some words of each document and score the others."""
        words = completion_words(new.corpus) if self.words is None else self.words
        if words == "all":
            other = choice("words='title' or 0.5", "--words title or 0.5")
            why = f"all words were used for the estimates, so none are left to score; {other}"
            return measuring.missing("words", ("perplexity",), TEST, why)
        if isinstance(self.model, SCNTM):
            found = perplexity(
                self.model, new.corpus, words=words, links=new.links, **self._options()
            )
            scored, count, unseen = Scored(found.value, 0), found.n_scored, found.n_unseen
        else:
            scored, count, unseen = self._plain(new, words)
        how = f"{count:,} words scored ({unseen:,} unseen ones are not); {self._how(words)}"
        return [Measure("words", "perplexity", TEST, scored.value, scored.explain(how))]

    def links(self, new: NewDocuments, *, k: Sequence[int], negatives: int) -> list[Measure]:
        """Score citations of training documents with topics estimated without them."""
        if "words" not in _reads(self.model):
            why = "the model places new documents by the citations that are to be predicted"
            return measuring.missing("links", ("AUC",), f"citations of {TEST}", why)
        theta = self.topics(new, citations=False)
        return measuring.measure_new_links(
            self.model, new.corpus, new.links, theta, k=k, negatives=negatives, seed=self.seed
        )

    def _plain(self, new: NewDocuments, words: str | float) -> tuple[Scored, int, int]:
        used = choose_words(new.corpus, words, seed=self.seed)
        theta = _transform(self.model, without_words(new.corpus, ~used), new.links)
        word = translate(new.corpus, self.model.corpus_).word[new.corpus.tokens]
        document = np.repeat(np.arange(new.corpus.n_documents), new.corpus.lengths)
        left = ~used & (word >= 0)
        scored = plain_perplexity(theta, self.model.topic_word_, document[left], word[left])
        return scored, int(left.sum()), int(np.count_nonzero(word < 0))


def _transform(model: TopicModel, corpus: Corpus, links: np.ndarray) -> np.ndarray:
    """Place documents; models from outside this package may not accept links."""
    if isinstance(model, PlacingModel):
        return model.transform(corpus, links=links)
    return model.transform(corpus)
