"""Small literatures whose strings are as nasty as bibliographies get, and models of them."""

from pathlib import Path

import numpy as np

from citeweave import SCNTM, Corpus

WORDS = [
    ["soil", "crop", "harvest", "water_table", "seed"],
    ["star", "orbit", "magnetism", "plasma", "comet"],
    ["court", "law", "treaty", "judge", "appeal"],
]
NASTY = "<script>alert('title')</script> & \"soil\" — a study of ü and 土"
NASTY_PLACE = "<script>alert('place')</script> & Sons"
NASTY_AUTHOR = '"><img src=x onerror=alert(1)>, Ann'


def literature(
    *,
    papers: int = 60,
    years: bool = True,
    authors: bool = True,
    citations: bool = True,
    titles: bool = True,
    places: bool = False,
    seed: int = 3,
) -> Corpus:
    """Make papers of three areas that cite within their area mostly."""
    rng = np.random.default_rng(seed)
    area = np.arange(papers) % 3
    tokens = [
        [WORDS[a][i] for i in rng.integers(0, 5, 12)] + [WORDS[(a + 1) % 3][0]]
        for a in area.tolist()
    ]
    links = [
        (d, int(e))
        for d in range(3, papers)
        for e in rng.choice(np.flatnonzero(area[:d] == area[d]), min(3, (d - 1) // 3 + 1))
    ] + [(d, d - 1) for d in range(5, papers, 7)]
    metadata: dict[str, list[object]] = {
        "venue": [f"Journal of <b>{WORDS[a][0]}</b>" for a in area.tolist()]
    }
    if places:
        names = [f"University of <i>{word}</i>" for word in ("Oslo", "Oz")]
        metadata["institutions"] = [
            names[:1] if d % 3 else [*names, NASTY_PLACE] for d in range(papers)
        ]
        metadata["institution_countries"] = [
            ["NO"] if d % 3 else ["NO", "AU", ""] for d in range(papers)
        ]
        metadata["author_institutions"] = [["0", "" if d % 3 else "1 2"] for d in range(papers)]
        metadata["countries"] = [["NO"] if d % 3 else ["NO", "AU"] for d in range(papers)]
        metadata["funders"] = [["<u>Fund</u>"] if d % 4 == 0 else None for d in range(papers)]
        metadata["cited_by"] = [d % 11 for d in range(papers)]
        metadata["outside_references"] = [
            [f"Elder {d % 3}, 1990, <b>J OLD</b>", f"Elder {d % 5}, 1980, J OLD"]
            for d in range(papers)
        ]
    if years:
        metadata["year"] = [2000 + d // 8 for d in range(papers)]
    people = [
        [NASTY_AUTHOR if d == 0 else f"Author {a}{d % 4}", f"Reader {d % 5}"]
        for d, a in enumerate(area.tolist())
    ]
    return Corpus.from_lists(
        tokens=tokens,
        authors=people if authors else None,
        categories=[["Farming", "Sky", "Justice & Law"][a] for a in area.tolist()],
        citations=links if citations else None,
        titles=[NASTY if d == 0 else f"Paper {d} on {WORDS[a][0]}" for d, a in enumerate(area)]
        if titles
        else None,
        metadata=metadata,
    )


def fit(corpus: Corpus, *, out: Path | None = None, chains: int = 1, **options: object) -> SCNTM:
    settings: dict[str, object] = {"topics": 4, "iterations": 120, "seed": 1, "chains": chains}
    return SCNTM(**(settings | options)).fit(corpus, out=out)  # type: ignore[arg-type]
