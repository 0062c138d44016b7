"""Small excerpts of EndNote, PubMed XML, Crossref and ProQuest, written for these tests.

As in `reader_excerpts`, three invented papers a file, the second of them the odd one.
"""

from __future__ import annotations

from typing import Any

ENDNOTE = """\
%0 Journal Article
%A Lim, Kar Wai
%A Wray Buntine
%A The Topic Group,
%T Bayesian models of text
%J Journal of Made-up Learning
%V 103
%D 2016
%8 May 1
%R https://doi.org/10.1234/ABC.1
%X An abstract that goes on
over a second line.
%K topic models
citations
%+ ANU, Canberra, Australia
Monash University, Clayton, Australia
%G English
%M 26999999
%U http://example.org

%0 Conference Proceedings
%T Second paper
%A Müller, Jürgen; Gödel, K.
%B Proceedings of Tests
%D 2011
%U https://doi.org/10.1234/abc.2

%0 Thesis
%A Du, Lan
%T Third paper
%9 PhD thesis
%D 1999
%+ ANU, Canberra, Australia
"""

ENDNOTE_XML = """\
<?xml version="1.0" encoding="UTF-8" ?>
<xml><records>
<!-- a <record> in a comment is none -->
<record><database name="My.enl" path="C:\\My.enl">My.enl</database>\
<source-app name="EndNote" version="20.6">EndNote</source-app><rec-number>7</rec-number>\
<foreign-keys><key app="EN" db-id="x">7</key></foreign-keys>\
<ref-type name="Journal Article">17</ref-type><contributors><authors>\
<author><style face="normal" font="default" size="100%">Lim, Kar Wai</style></author>\
<author><style face="normal" font="default" size="100%">Buntine, Wray</style></author>\
</authors><secondary-authors><author>Editor, An</author></secondary-authors></contributors>\
<auth-address><style>ANU, Canberra, Australia&#xD;Monash, Clayton, Australia</style></auth-address>\
<titles><title><style face="normal">Bayesian models of </style><style face="italic">text</style>\
</title><secondary-title>J Made Up</secondary-title></titles>\
<periodical><full-title>Journal of Made-up Learning</full-title></periodical>\
<keywords><keyword>topic models</keyword><keyword>citations</keyword></keywords>\
<dates><year><style>2016</style></year><pub-dates><date>May</date></pub-dates></dates>\
<accession-num>26999999</accession-num><abstract><style>An abstract of R&amp;D.</style></abstract>\
<electronic-resource-num>10.1234/ABC.1</electronic-resource-num><language>eng</language></record>
<record><ref-type name="Conference Proceedings">10</ref-type><contributors><authors>\
<author>M&uuml;ller, J&#252;rgen</author></authors></contributors>\
<titles><title>Second & paper</title><secondary-title>Proceedings of Tests</secondary-title>\
</titles>\
<dates><pub-dates><date>12 May 2011</date></pub-dates></dates>\
<urls><related-urls><url>https://doi.org/10.1234/abc.2</url></related-urls></urls></record>
<record><ref-type name="Thesis">32</ref-type><contributors><authors><author>Du, Lan</author>\
</authors></contributors><titles><title>Third paper</title></titles>\
<dates><year>1999</year></dates>\
<work-type>PhD thesis</work-type></record>
</records></xml>
"""

PUBMED_XML = """\
<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" \
"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">
<PubmedArticleSet>
<PubmedArticle>
  <MedlineCitation Status="MEDLINE" Owner="NLM">
    <PMID Version="1">10000001</PMID>
    <Article PubModel="Print-Electronic">
      <Journal><JournalIssue CitedMedium="Internet"><Volume>103</Volume>
        <PubDate><Year>2016</Year><Month>May</Month></PubDate></JournalIssue>
        <Title>Journal of made-up medicine</Title><ISOAbbreviation>J Made Up</ISOAbbreviation>
      </Journal>
      <ArticleTitle>Models of CO<sub>2</sub> &amp; <i>text</i>.</ArticleTitle>
      <ELocationID EIdType="pii" ValidYN="Y">S1</ELocationID>
      <ELocationID EIdType="doi" ValidYN="Y">10.1234/ABC.1</ELocationID>
      <Abstract>
        <AbstractText Label="BACKGROUND" NlmCategory="BACKGROUND">It rises.</AbstractText>
        <AbstractText Label="UNLABELLED">Not named.</AbstractText>
        <AbstractText Label="RESULTS">It fell, p &lt; 0.05.</AbstractText>
        <CopyrightInformation>© 2016</CopyrightInformation>
      </Abstract>
      <AuthorList CompleteYN="Y">
        <Author ValidYN="Y"><LastName>Lim</LastName><ForeName>Kar Wai</ForeName>
          <Initials>KW</Initials>
          <Identifier Source="ORCID">https://orcid.org/0000-0002-1825-0097</Identifier>
          <AffiliationInfo><Affiliation>ANU, Canberra, Australia. lim@anu.edu.au.</Affiliation>
            <Identifier Source="ROR">https://ror.org/019wvm592</Identifier></AffiliationInfo>
          <AffiliationInfo><Affiliation>NICTA, Sydney, Australia; Data61, Canberra, Australia.\
</Affiliation></AffiliationInfo></Author>
        <Author ValidYN="N"><LastName>Buntin</LastName><ForeName>Wray</ForeName></Author>
        <Author ValidYN="Y"><CollectiveName>The Test Group</CollectiveName></Author>
        <Author ValidYN="Y"><LastName>Buntine</LastName><ForeName>Wray</ForeName>
          <Initials>W</Initials><Suffix>Jr</Suffix></Author>
      </AuthorList>
      <Language>eng</Language>
      <GrantList CompleteYN="Y"><Grant><GrantID>R01 1</GrantID><Acronym>EB</Acronym>
        <Agency>NIBIB NIH HHS</Agency><Country>United States</Country></Grant>
        <Grant><Agency>Wellcome Trust</Agency><Country>United Kingdom</Country></Grant></GrantList>
      <PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType>
        <PublicationType UI="D013485">Research Support, Non-U.S. Gov't</PublicationType>
        <PublicationType UI="D016454">Review</PublicationType></PublicationTypeList>
    </Article>
    <MeshHeadingList><MeshHeading><DescriptorName UI="D1" MajorTopicYN="Y">Stroke</DescriptorName>
      <QualifierName>therapy</QualifierName></MeshHeading></MeshHeadingList>
    <KeywordList Owner="NOTNLM"><Keyword MajorTopicYN="N">topic models</Keyword>
      <Keyword MajorTopicYN="N">citations</Keyword></KeywordList>
  </MedlineCitation>
  <PubmedData>
    <ArticleIdList><ArticleId IdType="pubmed">10000001</ArticleId>
      <ArticleId IdType="doi">10.1234/abc.1</ArticleId></ArticleIdList>
    <ReferenceList><Title>References</Title>
      <Reference><Citation>Chen C. Second paper. J Made Up. 2011;1:2.</Citation>
        <ArticleIdList><ArticleId IdType="pubmed">10000002</ArticleId></ArticleIdList></Reference>
      <ReferenceList><Reference><Citation>Blei D. Topics. (2003) doi: 10.1234/xyz.</Citation>
        </Reference></ReferenceList>
      <Reference><ArticleIdList><ArticleId IdType="doi">10.1234/ABC.3</ArticleId></ArticleIdList>
        </Reference>
      <Reference><Citation/></Reference></ReferenceList>
  </PubmedData>
</PubmedArticle>
<PubmedArticle><MedlineCitation><PMID>10000002</PMID><Article>
  <Journal><JournalIssue><PubDate><MedlineDate>2011 Dec-2012 Jan</MedlineDate></PubDate>
  </JournalIssue><ISOAbbreviation>J Made Up</ISOAbbreviation></Journal>
  <ArticleTitle>[Deuxi&#xE8;me article].</ArticleTitle>
  <AuthorList><Author><LastName>Chen</LastName><Initials>CC</Initials></Author></AuthorList>
  <Language>fre</Language></Article>
  <MeshHeadingList><MeshHeading><DescriptorName MajorTopicYN="N">Humans</DescriptorName>
  </MeshHeading></MeshHeadingList></MedlineCitation></PubmedArticle>
<PubmedBookArticle><BookDocument><PMID>10000003</PMID>
  <ArticleIdList><ArticleId IdType="bookaccession">NBK1</ArticleId></ArticleIdList>
  <Book><BookTitle>StatPearls of Tests</BookTitle><PubDate><Year>1999</Year></PubDate>
    <AuthorList Type="editors"><Author><LastName>Editor</LastName></Author></AuthorList></Book>
  <ArticleTitle>Third paper</ArticleTitle><Language>eng</Language>
  <AuthorList Type="authors"><Author><LastName>Du</LastName><ForeName>Lan</ForeName></Author>
  </AuthorList><PublicationType>Study Guide</PublicationType>
  <Abstract><AbstractText>A chapter.</AbstractText></Abstract></BookDocument></PubmedBookArticle>
</PubmedArticleSet>
"""

CROSSREF_WORKS: list[dict[str, Any]] = [
    {
        "indexed": {"date-parts": [[2024, 1, 2]]},
        "reference-count": 3,
        "content-domain": {"domain": [], "crossmark-restriction": False},
        "DOI": "10.1234/ABC.1",
        "type": "journal-article",
        "created": {"date-parts": [[2015, 12, 30]]},
        "issued": {"date-parts": [[2016, 5]]},
        "title": ["Bayesian models of CO<sub>2</sub>"],
        "subtitle": ["a study"],
        "container-title": ["Journal of Made-up Learning"],
        "abstract": "<jats:title>Abstract</jats:title><jats:sec><jats:title>Aim</jats:title>"
        "<jats:p>Of H<jats:sub>2</jats:sub>O, p &lt; 0.05.</jats:p></jats:sec>",
        "author": [
            {
                "ORCID": "https://orcid.org/0000-0002-1825-0097",
                "given": "Kar Wai",
                "family": "Lim",
                "sequence": "first",
                "affiliation": [
                    {
                        "name": "Australian National University",
                        "id": [
                            {
                                "id": "https://ror.org/019wvm592",
                                "id-type": "ROR",
                                "asserted-by": "publisher",
                            }
                        ],
                        "place": ["Canberra, Australia"],
                    },
                    {"name": "NICTA", "place": ["Sydney, Australia"]},
                ],
            },
            {"name": "The Test Group", "sequence": "additional", "affiliation": []},
            {"given": "Wray", "family": "Buntine", "suffix": "Jr", "affiliation": []},
        ],
        "reference": [
            {"key": "r1", "doi-asserted-by": "publisher", "DOI": "10.1234/ABC.2"},
            {"key": "r2", "author": "Blei", "year": "2003", "article-title": "Latent things"},
            {"key": "r3", "unstructured": "Teh Y. Processes (2006). doi:10.1234/xyz"},
            {"key": "r4"},
        ],
        "funder": [
            {"DOI": "10.13039/501100000923", "name": "Australian Research Council", "award": ["1"]}
        ],
        "is-referenced-by-count": 21,
        "subject": ["Software", "Statistics"],
        "language": "en",
    },
    {
        "DOI": "10.1234/abc.2",
        "type": "proceedings-article",
        "title": [],
        "abstract": "<p>Second paper</p>",
        "published-print": {"date-parts": [[2011]]},
        "issued": {"date-parts": [[None]]},
        "event": {"name": "Conference of Tests"},
        "container-title": [],
        "is-referenced-by-count": 0,
        "reference-count": 0,
        "content-domain": {"domain": []},
    },
    {
        "DOI": "10.1234/abc.3",
        "type": "dissertation",
        "title": ["Third paper"],
        "issued": {"date-parts": [[1999, 1]]},
        "author": [{"given": "Lan", "family": "Du", "affiliation": []}],
        "is-referenced-by-count": 1,
        "reference-count": 0,
        "content-domain": {"domain": []},
    },
]

PROQUEST = """\
____________________________________________________________

Report Information from ProQuest

May 10 2016 10:33
____________________________________________________________

Table of contents

1. Bayesian models of text
____________________________________________________________

Document 1 of 3

Bayesian models of text

Author: Lim, Kar Wai 1 ; Buntine, Wray 1, 2 1 ANU, Canberra, Australia 2 Monash, Clayton, Australia

Publication info: Journal of Made-up Learning 103.2 (May 2016): 1-20.

Links: http://linksource.example.org/

Abstract: An abstract in two parts.

Methods: we counted.

Subject: Statistics; Citations;

Identifier / keyword: topic models; citation networks

Title: Bayesian models of text

Publication title: Journal of Made-up Learning

Volume: 103

Publication year: 2016

Publication date: May 2016

Publication subject: Computers

Language of publication: English

Document type: Journal Article

DOI: http://dx.doi.org/10.1234/ABC.1

ProQuest document ID: 1789000001

Document URL: https://search.proquest.com/docview/1789000001

Cited by: 4

____________________________________________________________

Document 2 of 3

Second paper

Author: Müller, Jürgen

Subject: Statistics

Title: Second paper

Publication title: Proceedings of Tests

Publication date: Jan 5, 2011

ProQuest document ID: 1789000002

____________________________________________________________

Document 3 of 3

Third paper

Author: Du, Lan

Title: Third paper

School: Australian National University

Degree date: 1999

Source type: Dissertations & Theses

Accession number: 1789000003
____________________________________________________________

Contact us at: http://www.proquest.com Copyright 2016
"""
