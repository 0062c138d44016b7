"""Downloads: tables as CSV, JSON, Parquet or Excel; pictures as SVG, PNG and other formats."""

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from citeweave.errors import NotFoundError
from citeweave.explore import graphs, to_xlsx
from citeweave.explore.graphs.image import to_image
from citeweave.web.kept import KeptFiles
from citeweave.web.maps import QUERY, read_options
from citeweave.web.pages.papers import read_filters
from citeweave.web.pictures import PICTURES
from citeweave.web.routes import Endpoint, QueryField
from citeweave.web.site import Site
from citeweave.web.tables import FRAMES, all_tables, with_mark

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ENTRIES", "KeptFiles"]

_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
ALL = "all-tables"
"""File name of the workbook with all tables."""


def _papers(site: Site, wanted: Mapping[str, str]) -> "pl.DataFrame":
    """Return the papers that match the filters of the page."""
    import polars as pl  # noqa: PLC0415 (heavy)

    table: pl.DataFrame = site.paper_table()
    chosen = pl.DataFrame({"paper": site.papers.select(wanted)}, schema={"paper": pl.Int64})
    return chosen.join(table, on="paper", how="left", maintain_order="left")


def table(site: Site, request: Request) -> Response:
    """Return a table as a file."""
    name, form = request.path_params["table"], request.path_params["format"]
    if form not in _TYPES or not (name in FRAMES or (name == ALL and form == "xlsx")):
        raise NotFoundError(
            f"There is no table {name}.{form}. Available: {', '.join(FRAMES)}, each as "
            f"{', '.join(_TYPES)}, and all of them as {ALL}.xlsx."
        )
    # only papers have filters; other query strings must not fill the cache
    wanted = read_filters(request) if name == "papers" else {}
    key = repr((site.names, name, form, sorted(wanted.items())))
    with site.files.making:
        content = site.files.get(key)
        if content is None:
            if name == ALL:
                content = to_xlsx(all_tables(site.view))
            else:
                frame = _papers(site, wanted) if name == "papers" else FRAMES[name](site.view)
                content = _write(frame, form, name)
            site.files.put(key, content)
    return _file(content, f"{name}.{form}", _TYPES[form])


def _write(frame: "pl.DataFrame", form: str, name: str) -> bytes:
    if form == "csv":
        return with_mark(frame)
    if form == "json":
        return frame.write_json().encode()
    if form == "xlsx":
        return to_xlsx({name: frame})
    place = io.BytesIO()
    frame.write_parquet(place)
    return place.getvalue()


def picture(site: Site, request: Request) -> Response:
    """Return a picture as a file."""
    kind, form = request.path_params["kind"], request.path_params["format"]
    if form == "csv" and kind.endswith(".nodes"):
        kind, form = kind.removesuffix(".nodes"), "nodes.csv"
    if kind not in PICTURES or form not in _WRITERS:
        raise NotFoundError(
            f"There is no picture {kind}.{form}. Available: {', '.join(PICTURES)}, each as "
            f"{', '.join(_WRITERS)}."
        )
    media, write = _WRITERS[form]
    with site.pictures.drawing_alone:
        content = write(*site.pictures.graph(kind, read_options(request, kind)))
    content = content if isinstance(content, bytes) else content.encode()
    return _file(content, f"{kind}.{form}", media)


def plot(site: Site, request: Request) -> Response:
    """Return a plot as a file."""
    from citeweave.explore.plots import KINDS, write_plot  # noqa: PLC0415 (needs the extra 'plot')

    kind, form = request.path_params["kind"], request.path_params["format"]
    if kind not in KINDS or form not in _PLOTS:
        raise NotFoundError(
            f"There is no plot {kind}.{form}. Available: {', '.join(KINDS)}, each as "
            f"{', '.join(_PLOTS)}."
        )
    with site.pictures.drawing_alone, TemporaryDirectory(prefix="citeweave-") as folder:
        content = write_plot(site.view, kind, Path(folder) / f"plot.{form}").read_bytes()
    return _file(content, f"{kind}.{form}", _PLOTS[form])


_PLOTS = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
_WRITERS: dict[str, tuple[str, Callable[[graphs.Graph, graphs.GraphLayout], str | bytes]]] = {
    "svg": ("image/svg+xml", graphs.to_svg),
    "png": ("image/png", to_image),
    "pdf": ("application/pdf", lambda graph, places: to_image(graph, places, kind="pdf")),
    "dot": ("text/vnd.graphviz; charset=utf-8", graphs.to_dot),
    "graphml": ("application/graphml+xml", graphs.to_graphml),
    "gexf": ("application/gexf+xml", graphs.to_gexf),
    "json": ("application/json", graphs.to_vosviewer),
    "net": ("text/plain; charset=utf-8", graphs.to_pajek),
    "csv": ("text/csv; charset=utf-8", graphs.edges_csv),
    "nodes.csv": ("text/csv; charset=utf-8", graphs.nodes_csv),
}


def report(site: Site, _: Request) -> Response:
    """Return the report: the run as one self-contained page."""
    from citeweave.web.report import report_html  # noqa: PLC0415 (rarely needed)

    # downloaded, not shown: its inline styles and script would violate our policy
    return _file(report_html(site.view, title=site.title).encode(), "report.html", "text/html")


def _file(content: bytes, name: str, media: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media, headers=headers)


ENTRIES = (
    Endpoint(
        "/report.html",
        report,
        "The report: the run as one self-contained page.",
        tag="files",
        media="text/html",
    ),
    Endpoint(
        "/download/{table}.{format}",
        table,
        "A table (topics, authors, papers, citations, categories, flow, institutions, countries, "
        "venues, funders; authors-network and so on) as csv, json, parquet or xlsx; {ALL}.xlsx "
        "holds all of them.",
        tag="files",
        query=(QueryField("q", "For papers: the same filters as /api/papers."),),
        media="*/*",
    ),
    Endpoint(
        "/picture/{kind}.{format}",
        picture,
        f"A picture ({', '.join(PICTURES)}) as svg, png, pdf, csv or another format.",
        tag="files",
        query=QUERY,
        media="*/*",
    ),
    Endpoint(
        "/plot/{kind}.{format}",
        plot,
        "A plot (convergence, time, similarity, ...) as svg, png or pdf.",
        tag="files",
        media="*/*",
    ),
)
