"""Arrays in ranges: one array to whoever reads them."""

import numpy as np
import pytest

from citeweave.engines.core.range_files import map_ranges, rows_per_file, write_range


@pytest.mark.parametrize("wanted", [1000, 2000, 10_000])  # not whole pages, whole pages, one file
@pytest.mark.parametrize("shape", [(5000,), (5000, 3)])
def test_ranges_are_one_array_of_the_same_bytes(tmp_path, wanted, shape):
    whole = np.random.default_rng(1).random(shape).astype(np.float32)
    rows = rows_per_file(wanted, whole[0].nbytes)
    paths = []
    for number, first in enumerate(range(0, len(whole), rows)):
        paths.append(tmp_path / f"{number:05d}.npy")
        write_range(paths[-1], whole[first : first + rows])
        assert np.load(paths[-1]).tobytes() == whole[first : first + rows].tobytes()
    found = map_ranges(paths)
    assert type(found) is np.ndarray
    assert found.shape == whole.shape
    assert found.tobytes() == whole.tobytes()
    assert not found.flags.writeable
    rest = found[4000:]
    del found
    assert rest.tobytes() == whole[4000:].tobytes()  # a view keeps what it needs


def test_an_empty_array_has_a_file(tmp_path):
    write_range(tmp_path / "a.npy", np.zeros((0, 4), np.float32))
    assert map_ranges([tmp_path / "a.npy"]).shape == (0, 4)


def test_ranges_of_different_shapes_are_refused(tmp_path):
    for name, columns in (("a.npy", 3), ("b.npy", 4)):
        write_range(tmp_path / name, np.zeros((2, columns)))
    with pytest.raises(ValueError, match="different types or shapes"):
        map_ranges([tmp_path / "a.npy", tmp_path / "b.npy"])
