"""PubMed XML (``PubmedArticleSet``) from E-utilities and the yearly baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citeweave.reading.affiliations import addresses, funder_names, share_out
from citeweave.reading.formats import Format, Sample, convert
from citeweave.reading.identifiers import normalise_doi, normalise_orcid, normalise_ror, parse_year
from citeweave.reading.medline import addresses_in, telling_type
from citeweave.reading.names import parse_name
from citeweave.reading.record import Affiliation, Author, Record, Reference
from citeweave.reading.references import free_reference
from citeweave.reading.xmlrecords import begins_as_xml, text_of, texts_of, xml_records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from citeweave.reading.problems import FileContext
    from citeweave.reading.streams import ByteStream

__all__ = ["FORMAT"]

_RECORDS = ("PubmedArticle", "PubmedBookArticle")
_UNSTATED = ("unlabelled", "unassigned")


def _abstract(article: Element) -> str | None:
    """Return the abstract; sections of a structured one keep their labels, as in MEDLINE."""
    parts = []
    for part in article.iterfind("Abstract/AbstractText"):
        text = text_of(part)
        label = (part.get("Label") or "").strip(" :")
        if text:
            told = label and label.lower() not in _UNSTATED
            parts.append(f"{label}: {text}" if told else text)
    return " ".join(parts) or None


def _places(author: Element) -> tuple[Affiliation, ...]:
    """Return the affiliations of an author, with the ROR id if there is one."""
    found: list[Affiliation] = []
    for info in author.iterfind("AffiliationInfo"):
        places = addresses(addresses_in(text_of(info.find("Affiliation")) or ""))
        rors = [
            ror
            for one in info.iterfind("Identifier")
            if (one.get("Source") or "").upper() == "ROR" and (ror := normalise_ror(text_of(one)))
        ]
        if len(places) == 1 and rors:
            places = (places[0]._replace(ror=rors[0]),)
        found += places
    # before 2015 the affiliation was a direct child of the author
    found += addresses(addresses_in(text_of(author.find("Affiliation")) or ""))
    return tuple(dict.fromkeys(found))


def _author(author: Element) -> Author | None:
    orcid = next(
        (
            found
            for one in author.iterfind("Identifier")
            if (one.get("Source") or "").upper() == "ORCID"
            and (found := normalise_orcid(text_of(one)))
        ),
        None,
    )
    places = _places(author)
    group = text_of(author.find("CollectiveName"))
    if group is not None:
        return Author(group, affiliations=places)
    family = text_of(author.find("LastName"))
    given = text_of(author.find("ForeName")) or text_of(author.find("Initials"))
    if family is None or given is None:
        alone = family or given
        return Author(alone, family=alone, orcid=orcid, affiliations=places) if alone else None
    suffix = text_of(author.find("Suffix"))
    name = ", ".join(part for part in (family, suffix, given) if part)
    return parse_name(name, family_first=True, orcid=orcid, affiliations=places)


def _authors(
    article: Element, line: int, context: FileContext
) -> tuple[tuple[Author, ...], tuple[Affiliation, ...]]:
    """Return people first, then groups, as in MEDLINE."""
    people: list[Author] = []
    groups: list[Author] = []
    for team in article.iterfind("AuthorList"):
        if (team.get("Type") or "authors") != "authors":
            continue
        for one in team.iterfind("Author"):
            author = _author(one)
            if author is None:
                context.nameless_author(line)
            # ValidYN="N" marks a name before correction
            if author is not None and one.get("ValidYN") != "N":
                (groups if one.find("CollectiveName") is not None else people).append(author)
    return share_out(people + groups, addresses(texts_of(article, "Affiliation")))


def _ids(item: Element | None) -> dict[str, str]:
    """Return the identifiers of an article or a reference by type."""
    if item is None:
        return {}
    ids = item.iterfind("ArticleIdList/ArticleId")
    return {one.get("IdType") or "": text for one in ids if (text := text_of(one))}


def _references(data: Element | None) -> tuple[Reference, ...]:
    """Return the references; reference lists may be nested."""
    references = []
    for one in data.iterfind("ReferenceList//Reference") if data is not None else ():
        ids = _ids(one)
        citation = text_of(one.find("Citation"))
        told = free_reference(citation) if citation else Reference()
        made = told._replace(id=ids.get("pubmed"), doi=normalise_doi(ids.get("doi")) or told.doi)
        if any(made):
            references.append(made)
    return tuple(references)


def _year(article: Element, book: Element | None) -> int | None:
    dates = ["Journal/JournalIssue/PubDate", "ArticleDate", "ContributionDate"]
    found = [article.find(date) for date in dates]
    found.append(book.find("PubDate") if book is not None else None)
    for date in found:
        # "1998 Dec-1999 Jan" is given as MedlineDate
        for part in ("Year", "MedlineDate", "Season"):
            year = parse_year(text_of(date.find(part))) if date is not None else None
            if year is not None:
                return year
    return None


def _record(item: Element, line: int, context: FileContext) -> Record | None:
    citation = item.find("MedlineCitation")
    book = None
    if citation is None:
        citation = item.find("BookDocument")
        book = citation.find("Book") if citation is not None else None
    if citation is None:
        return None
    article = citation if book is not None else citation.find("Article")
    if article is None:
        article = citation
    data = item.find("PubmedData")
    ids = {**_ids(citation), **_ids(data)}
    doi = normalise_doi(ids.get("doi"))
    for place in article.iterfind("ELocationID"):
        if place.get("EIdType") == "doi":
            doi = doi or normalise_doi(text_of(place))
    authors, rest = _authors(article, line, context)
    venue = text_of(article.find("Journal/Title")) or text_of(
        article.find("Journal/ISOAbbreviation")
    )
    title = text_of(article.find("ArticleTitle")) or text_of(article.find("VernacularTitle"))
    if book is not None:
        whole = text_of(book.find("BookTitle"))
        title, venue = title or whole, whole if title else None
    keywords = texts_of(citation, "KeywordList/Keyword")
    headings = texts_of(citation, "MeshHeadingList/MeshHeading/DescriptorName")
    types = texts_of(article, "PublicationTypeList/PublicationType") or texts_of(
        article, "PublicationType"
    )
    return Record(
        id=text_of(citation.find("PMID")) or ids.get("pubmed") or context.fallback_id(doi, line),
        source=context.source(line),
        doi=doi,
        title=title,
        abstract=_abstract(article) or next(iter(texts_of(citation, "OtherAbstract")), None),
        keywords=tuple(dict.fromkeys(keywords or headings)),
        authors=authors,
        year=_year(article, book),
        venue=venue,
        references=_references(data),
        language=text_of(article.find("Language")),
        affiliations=rest,
        document_type=telling_type(types),
        funders=funder_names(texts_of(article, "GrantList/Grant/Agency")),
    )


def _read(stream: ByteStream, context: FileContext) -> Iterator[Record]:
    return convert(xml_records(stream, context, *_RECORDS), _record, context)


def _sniff(sample: Sample) -> int:
    if not begins_as_xml(sample.text):
        return 0
    marks = ("<PubmedArticleSet", "<PubmedArticle>", "<PubmedBookArticle>", "<MedlineCitation")
    return 95 if any(mark in sample.text for mark in marks) else 0


FORMAT = Format(
    name="pubmed-xml",
    label="PubMed XML (PubmedArticleSet)",
    sniff=_sniff,
    read=_read,
    suffixes=(".xml",),
    gives="id doi title abstract keywords authors author_ids affiliations year venue references "
    "language document_type funders",
)
