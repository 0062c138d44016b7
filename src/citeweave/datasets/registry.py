"""The registry of data sets: their contents, sources and preparation settings."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from citeweave.errors import ParameterError
from citeweave.preparing import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DATASETS", "DataFile", "Dataset", "PaperFigures", "find_dataset"]


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """One file of a data set.

    Attributes
    ----------
    path : str
        Path relative to ``CITEWEAVE_DATA`` and to the cache, with slashes.
    size : int
        Bytes.
    sha256 : str
        SHA-256 of the file.
    url : str or None
        URL of the file or of an archive that contains it; None if exactly this file is not public.
    member : str or None
        Name of the file in the archive at `url`.
    citations : bool
        Whether it is a list of citations that must be passed to the reader separately.

    Examples
    --------
    >>> from citeweave.datasets import find_dataset
    >>> file = find_dataset("cora").holdings[-1][0]
    >>> file.size > 0, len(file.sha256)
    (True, 64)
    """

    path: str
    size: int
    sha256: str
    url: str | None = None
    member: str | None = None
    citations: bool = False


@dataclass(frozen=True, kw_only=True)
class PaperFigures:
    """A row of the paper's tbl:datasets; None where the paper prints a dash."""

    documents: int
    citations: int
    authors: int | None
    vocabulary: int
    words_per_document: float
    percent_repeat: float | None


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A data set.

    Attributes
    ----------
    name : str
        Name used in Python and on the command line.
    what : str
        Short description of its contents.
    documents : int
        Number of documents in its files.
    licence : str
        What is known about its licence.
    home : str
        Home page of its authors.
    source : str
        Where the files come from, and how they were processed.
    holdings : tuple of tuple of DataFile
        Alternative sets of files, each complete by itself; the last one is downloaded.
    settings : Settings
        Preparation settings.
    needs : tuple of str
        Other data sets from which it takes citations.
    categories : dict
        Names of labels that are only numbers in the files.
    columns : int
        Number of word columns in its files, if some of them may be unused.
    paper : PaperFigures or None
        Figures printed in the paper.
    remark : str
        Why its figures differ from those in the paper.

    Examples
    --------
    >>> from citeweave.datasets import find_dataset
    >>> cora = find_dataset("cora")
    >>> cora.documents, cora.size > 0
    (2708, True)
    """

    name: str
    what: str
    documents: int
    licence: str
    home: str
    source: str
    holdings: tuple[tuple[DataFile, ...], ...]
    settings: Settings = field(default_factory=Settings)
    needs: tuple[str, ...] = ()
    categories: Mapping[str, str] = field(default_factory=dict)
    columns: int = 0
    paper: PaperFigures | None = None
    remark: str = ""

    @property
    def size(self) -> int:
        """Bytes to download."""
        return sum(file.size for file in self.holdings[-1])

    @property
    def can_be_fetched(self) -> bool:
        """Whether every file has a public address."""
        return all(file.url is not None for file in self.holdings[-1])


_GITHUB = "https://raw.githubusercontent.com"
_CORA = f"{_GITHUB}/cdawei/tutorial_gml/46b27a5f7c9879135fe3f92320876e515888b754/data/cora.zip"
_CITESEER = (
    f"{_GITHUB}/paologentleman/Graph-Attention-Networks/"
    "e9aa51e3a8a08e783f2f7f4efd06ee6accd64d4f/data/citeseer.zip"
)
_M10 = f"{_GITHUB}/TrustAGI-Lab/TriDNR/a30857c67912db2c1e1e6b0310f047da4f9d53a1/data/M10"
_LINQS = "https://linqs.org/datasets/"
_LINQS_TERMS = "none stated; made for research, cite Sen et al. 2008"

_M10_CLASSES = (
    "Agriculture",
    "Archaeology",
    "Biology",
    "Computer Science",
    "Financial Economics",
    "Industrial Engineering",
    "Material Science",
    "Petroleum Chemistry",
    "Physics",
    "Social Science",
)

_ALL = (
    Dataset(
        name="cora",
        what="machine learning papers, numbered words, 7 classes, citations",
        documents=2708,
        licence=_LINQS_TERMS,
        home=_LINQS,
        source="the LINQS files cora.content and cora.cites",
        holdings=(
            (
                DataFile(
                    path="linqs/cora.tgz",
                    size=137225,
                    sha256="ce30b54fcbb134e463397d6310000b6c79387d22f4363047256c3550b703b996",
                ),
            ),
            (
                DataFile(
                    path="cora/cora.content",
                    size=7823427,
                    sha256="b8ebed0fd45e53995abafd1b70cf6a9fcc8f86abc5826d69b97fe6ca46e9c8ee",
                    url=_CORA,
                    member="cora.content",
                ),
                DataFile(
                    path="cora/cora.cites",
                    size=69928,
                    sha256="ec1a372391b7f0f60a6aff0084e8abd8f19f0faa7e1f2441a41c492042d5945e",
                    url=_CORA,
                    member="cora.cites",
                ),
            ),
        ),
        columns=1433,
        paper=PaperFigures(
            documents=2708,
            citations=5429,
            authors=None,
            vocabulary=1433,
            words_per_document=18.2,
            percent_repeat=None,
        ),
        remark="Same as in the paper. The files only record whether a word occurs.",
    ),
    Dataset(
        name="citeseer",
        what="computer science papers, numbered words, 6 classes, citations (the paper's CS)",
        documents=3312,
        licence=_LINQS_TERMS,
        home=_LINQS,
        source="the LINQS files citeseer.content and citeseer.cites",
        holdings=(
            (
                DataFile(
                    path="linqs/citeseer.tgz",
                    size=276287,
                    sha256="3c8160ca5b42e8db24a50c815aeee6ec94ac1942aa745968f864d2c2187c9df4",
                ),
            ),
            (
                DataFile(
                    path="citeseer/citeseer.content",
                    size=24589190,
                    sha256="de4a3ca98626d77193f27af5c976b981a56080e6273c4e1c05764a95d2143ff8",
                    url=_CITESEER,
                    member="citeseer.content",
                ),
                DataFile(
                    path="citeseer/citeseer.cites",
                    size=137062,
                    sha256="cd9730630eaaa745058c2cd2cce6b9afb79ca71278a479aebec55f4cf5eb7f30",
                    url=_CITESEER,
                    member="citeseer.cites",
                ),
            ),
        ),
        columns=3703,
        paper=PaperFigures(
            documents=3312,
            citations=4608,
            authors=None,
            vocabulary=3703,
            words_per_document=31.8,
            percent_repeat=None,
        ),
        remark="Of 4,732 citation lines, 124 are self-citations and 17 lead to papers that are not "
        "in the file, which leaves 4,591. The paper's 4,608 includes those 17.",
    ),
    Dataset(
        name="citeseer-text",
        what="titles and abstracts of citeseer's papers, with its labels and citations",
        documents=3186,
        licence="none stated for the texts (abstracts from the CiteSeer library)",
        home="https://github.com/ansegura7/TextProcessing_CiteSeerUMD",
        source="one text file per paper in data/citeseer.zip at the home page, merged into one "
        "table of id, label and text; citations from citeseer",
        holdings=(
            (
                DataFile(
                    path="citeseer_text/citeseer_text.tsv.gz",
                    size=1094436,
                    sha256="27649dcaa060ddc180d623696aaade02aac151088a8e43f8c0b5d00599167278",
                ),
            ),
        ),
        # the labels are known, so no document is dropped because of a guessed language
        settings=Settings(language=None),
        needs=("citeseer",),
        remark="Not in the paper: the texts behind CS. 126 papers of CS have no text.",
    ),
    Dataset(
        name="pubmed",
        what="papers on diabetes, numbered words with TF-IDF, 3 classes, citations",
        documents=19717,
        licence=_LINQS_TERMS,
        home=_LINQS,
        source="the LINQS citation file, and a node file rebuilt in its format from the same "
        "TF-IDF values; the words themselves are not available",
        holdings=(
            (
                DataFile(
                    path="linqs/Pubmed-Diabetes.tgz",
                    size=12900369,
                    sha256="6d722670a9dfb95dbd707bdc65e9f76a3a19b00a766bf882f0ab88faf45c43a4",
                ),
            ),
        ),
        paper=PaperFigures(
            documents=19717,
            citations=44335,
            authors=None,
            vocabulary=4209,
            words_per_document=67.6,
            percent_repeat=40.1,
        ),
        remark="The paper used a version with 4,209 words, which is no longer available; the "
        "public one has 500, with more of them per document.",
    ),
    Dataset(
        name="m10",
        what="titles from ten fields, labels, citations (the paper's M10 without abstracts)",
        documents=10310,
        licence="none stated; made for research, cite Lim & Buntine 2014 and Pan et al. 2016",
        home="https://github.com/TrustAGI-Lab/TriDNR",
        source="the files of TriDNR's data/M10",
        holdings=(
            (
                DataFile(
                    path="m10/docs.txt",
                    size=831696,
                    sha256="d26da5fbad3c6eefeb5a0fe8606890a6c6587a30496fa7b6f58d495f30af4ec8",
                    url=f"{_M10}/docs.txt",
                ),
                DataFile(
                    path="m10/labels.txt",
                    size=112086,
                    sha256="54bb8782049752257ab64e4a3f75dd09cd9b872b52ef643b0860002797a6e4a3",
                    url=f"{_M10}/labels.txt",
                ),
                DataFile(
                    path="m10/adjedges.txt",
                    size=782482,
                    sha256="4548d0f8b53a38c782a348f1465ab4ae8358f1a3b5ee1ecc69607c0cac292388",
                    url=f"{_M10}/adjedges.txt",
                ),
            ),
        ),
        settings=Settings(language=None),
        categories={str(number): name for number, name in enumerate(_M10_CLASSES)},
        paper=PaperFigures(
            documents=10310,
            citations=77222,
            authors=6423,
            vocabulary=2956,
            words_per_document=57.8,
            percent_repeat=24.3,
        ),
        remark="Titles only, without authors and abstracts. Of 77,218 citations, 71,295 lead to "
        "papers that are not in the set; the paper's 77,222 counts all of them.",
    ),
    Dataset(
        name="ieee-vis",
        what="IEEE VIS 1990 to 2023: titles, abstracts, keywords, authors, venues, citations",
        documents=3752,
        licence="no licence stated at the source; abstracts belong to IEEE",
        home="https://sites.google.com/site/vispubdata/home",
        source="the table of github.com/pisenberg/vispubdata at commit 2fb559aa4966, converted to "
        "JSON Lines",
        holdings=(
            (
                DataFile(
                    path="vispubdata/ieee_vis.jsonl.gz",
                    size=1811678,
                    sha256="2c37183ca3af0924b9834ec2f245edadab74fa7f54532d6aa91093fcda1c3593",
                ),
            ),
        ),
        settings=Settings(category_from="venue"),
        remark="Not in the paper. Two papers that occur twice in the table are merged.",
    ),
    Dataset(
        name="hep-th",
        what="arXiv hep-th 1992 to 2003: titles, abstracts, authors, citations (KDD Cup 2003)",
        documents=29555,
        licence="arXiv publishes its metadata, including abstracts, under CC0",
        home="https://www.cs.cornell.edu/projects/kddcup/datasets.html",
        source="the abstracts of KDD Cup 2003 converted to JSON Lines, and the citations to a "
        "table",
        holdings=(
            (
                DataFile(
                    path="hepth/hepth_papers.jsonl.gz",
                    size=8951954,
                    sha256="c2206162712dadff1add6c21e5380c402a8fbf1e7c51bf18b24dde273e7e2d01",
                ),
                DataFile(
                    path="hepth/hepth_cites.tsv.gz",
                    size=1279380,
                    sha256="8cc94ae1f291f2b372bf1631f14746dd3c90479632a27f44497253bb6d9b2bf3",
                    citations=True,
                ),
            ),
        ),
        settings=Settings(category_from="none"),
        remark="Not in the paper. Duplicate papers are merged, and two papers in French are "
        "dropped.",
    ),
)

DATASETS: dict[str, Dataset] = {dataset.name: dataset for dataset in _ALL}


def find_dataset(name: str) -> Dataset:
    """Return the data set of this name, or raise an error that lists the available ones.

    Examples
    --------
    >>> find_dataset("m10").documents
    10310
    """
    if name in DATASETS:
        return DATASETS[name]
    near = difflib.get_close_matches(name.lower(), DATASETS, 1)
    hint = f"Did you mean {near[0]!r}?" if near else f"Available: {', '.join(DATASETS)}."
    raise ParameterError(f"There is no data set {name!r}. {hint}")
