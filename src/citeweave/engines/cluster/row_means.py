"""Means over the samples of a chain, written by its workers: one file per range of rows.

The documents of a range are spread over all parts, so one worker per file collects the rows from
the others and writes the file. A worker holds one range at a time.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from citeweave.checksums import checksum
from citeweave.engines.cluster.exchanges import PartExchange
from citeweave.engines.core.estimates import Sums
from citeweave.engines.core.range_files import rows_per_file, write_range
from citeweave.engines.core.row_files import BY_ROW, RowMean, Rows

__all__ = ["is_spread_known", "write_means"]


def is_spread_known(sums: Sums, exchange: PartExchange) -> bool:
    """Return whether standard deviations over samples are available; the same in all parts."""
    unknown = sums.samples[0] < 2 or bool(np.isnan(sums.nodes_squared).any())
    return not exchange.sum(np.array([int(unknown)]))[0]


def write_means(
    folder: Path,
    wanted: Sequence[RowMean],
    owned: Rows,
    places: Rows,
    exchange: PartExchange,
    sums: Sums,
) -> dict[str, str]:
    """Write means of rows together with all other parts, and return checksums by file.

    Parameters
    ----------
    folder : Path
        Folder in which each mean gets a folder of its own name.
    wanted : sequence of RowMean
    owned, places : Rows
        Indices of the rows that the part owns, in the whole chain and in this part.
    exchange : PartExchange
    sums : Sums
        Sums of the part.
    """
    files: dict[str, str] = {}
    spread = is_spread_known(sums, exchange)
    for mean in wanted:
        if mean.spread and not spread:
            continue
        kind, _ = BY_ROW[f"sums.{mean.field}"]
        number, place = getattr(owned, kind), getattr(places, kind)
        inside = slice(*np.searchsorted(number, [mean.first, mean.last]))
        files |= _write(folder, mean, number[inside] - mean.first, place[inside], exchange, sums)
    return files


def _write(
    folder: Path,
    mean: RowMean,
    number: np.ndarray,
    place: np.ndarray,
    exchange: PartExchange,
    sums: Sums,
) -> dict[str, str]:
    like = _means(mean, sums, place[:0])
    row_bytes = like.dtype.itemsize * int(np.prod(like.shape[1:]))
    size, rows = rows_per_file(mean.rows, row_bytes), mean.last - mean.first
    files: dict[str, str] = {}
    for base in range(0, -(-rows // size), exchange.size):
        outgoing = []
        for writer in range(exchange.size):
            begin = (base + writer) * size
            chosen = slice(*np.searchsorted(number, [begin, begin + size]))
            outgoing.append((number[chosen] - begin, _means(mean, sums, place[chosen])))
        found = exchange.swap_all(outgoing)
        mine = base + exchange.rank
        length = min(size, rows - mine * size)
        if length <= 0:
            continue
        array = np.zeros((length, *like.shape[1:]), like.dtype)
        for there, values in found:
            array[there] = values
        path = folder / mean.name / f"{mine:05d}.npy"
        path.parent.mkdir(exist_ok=True)
        write_range(path, array)
        files[f"{mean.name}/{path.name}"] = checksum(path)
    return files


def _means(mean: RowMean, sums: Sums, place: np.ndarray) -> np.ndarray:
    """Divide rows by the number of samples, like `citeweave.engines.core.estimates.take_means`."""
    array = getattr(sums, mean.field)
    if mean.layer is not None:
        array = array[mean.layer]
    samples = int(sums.samples[0])
    found = np.divide(array[place], array.dtype.type(samples))
    if mean.spread:
        squares = np.divide(sums.nodes_squared[place], samples)
        variance = squares - np.square(found)
        found = np.sqrt(np.maximum(variance, 0.0) * (samples / (samples - 1)))
    return np.asarray(found)
