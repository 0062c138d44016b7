"""One run as the explorer shows it: shared state and caches kept between requests."""

import secrets
import threading
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import HTMLResponse

import citeweave
from citeweave.explore import Exploration, Hit, TopicPage
from citeweave.explore.contributors import KINDS
from citeweave.explore.levels import paper_levels
from citeweave.web.kept import KeptFiles
from citeweave.web.listing import AuthorList, PaperList
from citeweave.web.pictures import Pictures
from citeweave.web.placing import Placer
from citeweave.web.routes import own_path
from citeweave.web.security import check_intent, read_form
from citeweave.web.templating import make_environment

__all__ = ["Site", "WayBack"]


class WayBack(NamedTuple):
    """A link out of the explorer: its text and path."""

    name: str
    path: str


class Site:
    """The state passed to all handlers.

    Parameters
    ----------
    view : Exploration
        The fitted run.
    title : str
        Name of the literature on the pages.
    token : str, optional
        Secret token included in the forms of our own pages (default: random).
    base : str
        Path prefix under which the explorer is mounted, without a trailing slash.
    home : WayBack, optional
        A page outside the explorer that the header links to.
    """

    def __init__(
        self,
        view: Exploration,
        *,
        title: str,
        token: str | None = None,
        base: str = "",
        home: WayBack | None = None,
    ) -> None:
        self.title = title
        self.base = base
        self.home = home
        self.version = citeweave.__version__
        self.token = secrets.token_urlsafe(24) if token is None else token
        self.files = KeptFiles()
        self._lock = threading.Lock()
        self._searching = threading.Lock()
        self._topics: list[dict[str, Any]] | None = None
        self._topic_pages: dict[int, TopicPage] = {}
        self._paper_table: Any = None
        self._show(view)

    def _show(self, view: Exploration) -> None:
        """Set the run to show, with everything derived from it."""
        self.view = view
        self.papers = PaperList(view)
        self.authors = AuthorList(view)
        self.pictures = Pictures(view, self.base)
        self.placer = Placer(view)
        self._names = view.names.revision
        self._people = view.people.revision
        self._environment = make_environment(view, self.base)
        self._environment.globals |= {"site": self}

    @property
    def missing(self) -> Mapping[str, str]:
        """Missing parts of the run or its corpus, with reasons."""
        return self.view.missing

    @property
    def has_years(self) -> bool:
        """Whether papers have years."""
        return bool(self.view.has_years)

    @property
    def has_citations(self) -> bool:
        """Whether there are citations between papers of the corpus."""
        return bool(self.view.corpus.n_citations)

    @property
    def has_influence(self) -> bool:
        """Whether the model estimates influence (propensity to be cited)."""
        return self.view.cited_propensity is not None

    @property
    def all_authors(self) -> bool:
        """Whether the model uses all authors of a paper, each with a share."""
        return self.view.contribution is not None

    @property
    def has_authors(self) -> bool:
        """Whether the corpus names authors."""
        return bool(self.view.corpus.n_authors)

    @cached_property
    def corpus_summary(self) -> dict[str, Any]:
        """Size of the corpus and what is missing from it."""
        return self.view.corpus.summary()

    @cached_property
    def navigation(self) -> list[tuple[str, str]]:
        """Names and paths of the main pages that have something to show."""
        pages = [("Topics", "/topics"), *self.people[:1], ("Papers", "/papers")]
        pages += [("Network", "/network"), ("Map", "/map"), ("Bibliometrics", "/bibliometrics")]
        pages += [("Place a paper", "/place")]
        pages += [("Diagnostics", "/diagnostics"), ("About", "/about")]
        return pages

    @cached_property
    def people(self) -> list[tuple[str, str]]:
        """Names and paths of the lists of authors, institutions, ... and of the model's levels."""
        missing = self.view.literature.missing
        pages = [(kind.capitalize(), f"/{kind}") for kind in KINDS if kind not in missing]
        return [*pages, ("Levels", "/levels")] if paper_levels(self.view) else pages

    error_template = "error.html"

    picture_formats = (
        ("svg", "SVG"),
        ("png", "PNG"),
        ("pdf", "PDF"),
        ("graphml", "GraphML"),
        ("gexf", "GEXF"),
        ("json", "VOSviewer"),
        ("dot", "DOT"),
        ("net", "Pajek"),
        ("csv", "CSV of links"),
        ("nodes.csv", "CSV of nodes"),
    )

    @property
    def names(self) -> tuple[int, int]:
        """A value that changes whenever names of topics or people change."""
        return self._names, self._people

    def topics(self) -> list[dict[str, Any]]:
        """Return the topics as dictionaries, largest first; rebuilt after a renaming."""
        with self._lock:
            if self._topics is None:
                rows: list[dict[str, Any]] = self.view.topics(words=10).to_dicts()
                for row in rows:
                    row["words"] = row["distinctive"]
                    row["trend"] = row["trend"] or []
                self._topics = rows
            return self._topics

    def paper_table(self) -> Any:
        """Return the cached table of all papers, from which filtered downloads take their rows.

        For tens of thousands of papers, building it takes seconds, and memory that is not fully
        released.
        """
        names, table = self.names, self._paper_table
        if table is None:
            table = self.view.papers()
            with self._lock:
                if names == self.names:
                    self._paper_table = table
        return table

    def topic(self, number: int) -> TopicPage:
        """Return the details of one topic; cached, because there are few topics and many visits."""
        found = self._topic_pages.get(number)
        if found is None:
            names = self.names
            found = self.view.topic(number)
            with self._lock:
                if names == self.names:  # otherwise it may contain an outdated name
                    self._topic_pages[found.topic] = found
        return found

    def search(self, text: str, limit: int) -> list[Hit]:
        """Find papers, authors, topics, institutions, countries, venues and funders.

        Searches run one at a time: each takes a few milliseconds, but the first one builds an
        index, which should not be built twice.
        """
        with self._searching:
            return self.view.search(text, limit=limit)

    def rename(self, topic: int, name: str) -> None:
        """Rename a topic and save the name in the run; an empty name restores the automatic one."""
        with self._searching:
            self.view.name_topic(topic, name.strip() or None)
        self.refresh()

    def join_authors(self, author: int, other: int) -> None:
        """Merge two authors and save this in the run."""
        self.view.people.join(self.view.check_author(author), self.view.check_author(other))
        self.refresh()

    def separate_authors(self, author: int) -> None:
        """Undo the merging of an author with others."""
        self.view.people.separate(self.view.check_author(author))
        self.refresh()

    def refresh(self) -> None:
        """Discard cached names of topics and people if they have changed."""
        names, people = self.view.names.revision, self.view.people.revision
        with self._lock:
            if (names, people) == (self._names, self._people):
                return
            if people != self._people:
                self._show(self.view.renewed())
                self._people = people
            self._names = names
            self._topics = None
            self._topic_pages.clear()
            self._paper_table = None
        self.papers.forget()
        self.pictures.forget()
        self.files.forget()

    def page(
        self, request: Request, template: str, values: Mapping[str, Any], *, status: int = 200
    ) -> HTMLResponse:
        """Render a template; the first part of the path determines the current navigation entry."""
        section = "/" + own_path(request).strip("/").split("/", maxsplit=1)[0]
        if any(path == section for _, path in self.people):
            section = self.people[0][1]  # they share one navigation entry
        text = self._environment.get_template(template).render(section=section, **values)
        return HTMLResponse(text, status_code=status)

    def read_form(self, request: Request, body: bytes) -> dict[str, str]:
        """Read a form sent by one of our own pages; reject it if the token is wrong."""
        return read_form(request, body, self.token)

    def check_intent(self, request: Request) -> None:
        """Reject a call that changes or computes something unless it carries the intent header."""
        check_intent(request)

    def warm_up(self) -> None:
        """Prepare in the background what the first visitors would otherwise have to wait for."""
        threading.Thread(target=self._prepare, name="citeweave-warm-up", daemon=True).start()

    def _prepare(self) -> None:
        self.search("a", 1)
        self.topics()
        self.papers.select({})
        if self.has_authors:
            self.authors.select({})
        self.view.paper(0)
        self.view.topic(self.view.order[0])
        self.pictures.paper_map()
        if self.has_authors:
            self.pictures.graph("authors")
