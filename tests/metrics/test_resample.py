"""The bootstrap's fast product: as a plain float64 product has it, in bounded memory."""

from __future__ import annotations

import tracemalloc
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from icgkit.metrics import _packed, _resample


def plain(sums: NDArray[Any], n_resamples: int, seed: int) -> NDArray[np.float64]:
    counts = np.concatenate(list(_resample._draw(sums.shape[1], n_resamples, seed)))
    assert (counts.sum(axis=1, dtype=np.int64) == sums.shape[1]).all()
    return (counts.astype(np.float64) @ sums.T.astype(np.float64)).T


def nested(cells: int, clusters: int, nodes: int, missing: float, seed: int) -> NDArray[np.float64]:
    """Stack numerators and denominators, macro and micro, of cells of which some lack some cases."""
    rng = np.random.default_rng(seed)
    n = np.minimum(rng.integers(1, nodes + 1, clusters), rng.integers(1, nodes + 1, clusters))
    scored = np.where(
        rng.random((cells, clusters)) < missing, rng.integers(0, nodes + 1, (cells, clusters)), n
    )
    found = rng.binomial(scored, 0.4)
    share = np.divide(found, scored, out=np.zeros(found.shape), where=scored > 0)
    return np.concatenate([share, scored > 0, found, scored])


def check(sums: NDArray[Any], n_resamples: int = 60, seed: int = 7) -> None:
    got = _resample.draw_sums(sums, n_resamples, seed)
    np.testing.assert_allclose(got, plain(sums, n_resamples, seed), rtol=1e-12, atol=1e-300)


AWKWARD: dict[str, NDArray[Any]] = {
    "missing verdicts": nested(5, 40, 7, 0.3, 1),
    "many clusters": nested(4, 5000, 7, 0.0, 2),
    "many clusters, missing verdicts": nested(3, 4999, 7, 0.2, 3),
    "one cluster": nested(3, 1, 4, 0.0, 4),
    "two clusters": nested(3, 2, 7, 0.5, 5),
    "a cell that no case has": np.concatenate([np.zeros((2, 30)), nested(2, 30, 3, 0.1, 6)]),
    "weights": nested(2, 50, 5, 0.0, 7) * np.random.default_rng(7).random(50),
    "tiny weights": nested(2, 50, 5, 0.0, 8) * 1e-13,
    "negative and whole": np.random.default_rng(9).integers(-9, 9, (4, 30)),
    "beside large numbers": np.vstack([np.arange(30) * 1e9, nested(1, 30, 7, 0.0, 10), np.arange(30) * 1e14]),
    "fractions of eleven": np.random.default_rng(11).integers(0, 12, (3, 25)) / 11,
    "no measure": np.zeros((0, 5)),
    "no cluster": np.zeros((3, 0)),
}


@pytest.mark.parametrize("name", AWKWARD)
def test_equals_a_plain_product(name: str) -> None:
    check(AWKWARD[name])


@settings(deadline=None, max_examples=40)
@given(
    st.integers(1, 6),
    st.integers(1, 60),
    st.integers(1, 7),
    st.sampled_from([0.0, 0.2, 1.0]),
    st.integers(0, 99),
)
def test_equals_a_plain_product_for_any_study(
    cells: int, clusters: int, nodes: int, gaps: float, seed: int
) -> None:
    check(nested(cells, clusters, nodes, gaps, seed), 20, seed)


def test_whole_numbers_and_their_fractions_are_exact() -> None:
    # Shares of at most four nodes are whole in units of 1/12, so that no order of adding matters.
    sums = nested(6, 4500, 4, 0.1, 12)
    got = np.rint(_resample.draw_sums(sums, 30, 1) * 12)
    assert (got == plain(np.rint(sums * 12), 30, 1)).all()
    assert (_resample.draw_sums(sums, 30, 1) == got / 12).all()


def test_classes_of_clusters_share_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    # With n nodes in a case, a share is the count over n: 8 shares and 8 counts are 8 products of up to
    # 13 + 3 bits, three to a column. Without classes every share takes a field of its own.
    sums = nested(8, 5000, 3, 0.0, 13)
    whole, scale = _resample._whole(sums[(sums != sums[:, :1]).any(axis=1)])
    factors, order = _packed.pack(whole, scale)
    assert order is not None
    assert sorted(order.tolist()) == list(range(5000))
    assert [f.columns.shape[1] for f in factors] == [3, 3, 3]
    monkeypatch.setattr(_packed, "_PART_FROM", 10_000)
    (factor,), order = _packed.pack(whole, scale)
    assert order is None
    assert factor.columns.shape[1] > 4
    check(sums)


def test_fields_keep_room_for_the_largest_sum() -> None:
    # Every resample could draw one cluster only: 1000 clusters of 7 make 7000, which takes 13 bits.
    rows = np.full((4, 1000), 7.0)
    rows[:, 0] = np.arange(4)
    (factor,), _ = _packed.pack(rows, np.ones(4, dtype=np.int64))
    assert factor.columns.shape[1] == 1
    counts = np.zeros((2, 1000), dtype=np.uint8)
    counts[0, 1:5] = 250
    counts[1, 0] = 255
    out = np.empty((4, 2))
    _packed.product(counts, [factor], None, out, np.arange(4))
    assert out.tolist() == [[7000, 0], [7000, 255], [7000, 510], [7000, 765]]


def test_repeated_rows_are_found_although_hashes_clash(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.array([[1, 2], [3, 4], [1, 2], [3, 4]])
    monkeypatch.setattr(_packed, "hash", lambda _: 0, raising=False)
    distinct, index = _packed.unique_rows(rows)
    assert (distinct[index] == rows).all()


@pytest.mark.parametrize(("n_clusters", "dtype"), [(300, np.uint16), (5001, np.uint32)])
def test_counts_follow_the_stream_of_the_generator(n_clusters: int, dtype: Any) -> None:
    # Committed figures hang on this stream; cases of the 16-bit one come in calls of 2^17 numbers.
    rng = np.random.Generator(np.random.SFC64(5))
    rows = (1 << 17) // n_clusters if dtype is np.uint16 else 20
    picks = rng.integers(0, n_clusters, size=(min(rows, 20), n_clusters), dtype=dtype)
    (counts,) = _resample._draw(n_clusters, 20, 5)
    assert all((np.bincount(p, minlength=n_clusters) == c).all() for p, c in zip(picks, counts, strict=True))


def test_blocks_do_not_change_the_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = nested(2, 4200, 3, 0.0, 14)
    want = _resample.draw_sums(sums, 300, 3)
    monkeypatch.setattr(_resample, "_CHUNK", 4200 * 130)
    monkeypatch.setattr(_resample, "_KEEP", 0)
    assert (_resample.draw_sums(sums, 300, 3) == want).all()


class _AtOnce(ThreadPoolExecutor):
    """An executor that runs what it is given before it returns."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


def test_memory_does_not_grow_with_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_resample, "_KEEP", 0)
    monkeypatch.setattr(_resample, "_CHUNK", 1)
    monkeypatch.setattr(_resample, "ThreadPoolExecutor", _AtOnce)  # how blocks overlap is up to the system
    sums = nested(2, 8000, 3, 0.0, 15)
    peaks = []
    _resample.draw_rows(sums, 10, 1)
    for n_resamples in (1000, 3000):
        tracemalloc.start()
        _resample.draw_rows(sums, n_resamples, 1)
        peaks.append(tracemalloc.get_traced_memory()[1] - n_resamples * 8 * 8)
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
    assert peaks[1] < 60e6


def test_long_runs_show_their_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    class Bar:
        def update(self, n: int) -> None:
            seen.append(n)

        def close(self) -> None:
            seen.append(-1)

    monkeypatch.setattr(_resample, "_bar", lambda *_: Bar())
    _resample.draw_rows(np.arange(9.0)[None], 50, 1, progress=True)
    assert seen == [50, -1]


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 80), st.floats(0.01, 0.99), st.integers(1, 20), st.integers(0, 99))
def test_percentiles_are_those_of_numpy_to_the_last_bit(n: int, level: float, kinds: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    draws = rng.integers(0, kinds, (3, n)) / 7 * rng.choice([1.0, np.pi])
    draws[1, rng.random(n) < 0.3] = np.nan
    kept = draws.copy()
    low, high, undefined = _resample.percentile(draws, level)
    np.testing.assert_array_equal(draws, kept)
    assert undefined.tolist() == np.isnan(draws).sum(axis=1).tolist()
    for i, row in enumerate(draws):
        whole = row[~np.isnan(row)]
        want = np.quantile(whole, [(1 - level) / 2, (1 + level) / 2]) if len(whole) else [np.nan, np.nan]
        np.testing.assert_array_equal([low[i], high[i]], want)


def test_wilson_interval_against_a_published_value() -> None:
    # Newcombe (1998), Table I: 15 of 148 gives 0.0624 to 0.1605.
    low, high = _resample.wilson(15 / 148, 148, 0.95)
    assert (round(low, 4), round(high, 4)) == (0.0624, 0.1605)
