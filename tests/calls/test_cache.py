from __future__ import annotations

import errno
import itertools
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from icgkit.calls import cache as cache_module
from icgkit.calls import ledger as ledger_module
from icgkit.calls.cache import Cache, merge
from icgkit.calls.record import Record
from icgkit.errors import CacheError, SchemaError

WEIRD = "line\u2028sep\u0085arated \U0001f600 \x00 \r\n end"


def record(number: int, **change: Any) -> Record:
    base = {"key": f"k{number}", "kind": "elicit", "dataset": "d", "case_id": f"c{number}", "condition": "direct",
            "model": "m", "text": f"answer {number}"}  # fmt: skip
    return Record(**{**base, **change})


def test_what_is_put_comes_back(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "x")
    full = record(
        1, text=WEIRD, raw='{"a":1}', cost=0.5, latency=1.5, created=3.0, extra='{"b":2}', attempts=2
    )
    cache.put(full)
    assert cache.get("k1") == full
    assert cache.get("k2") is None
    assert Cache(cache.folder).get("k1") == full
    cache.pack()
    assert Cache(cache.folder).get("k1") == full
    assert [p.name for p in cache.folder.iterdir()] == ["calls.parquet"]
    assert list(cache.records()) == [full]


def test_a_torn_last_line_loses_one_record_and_glues_onto_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "x")
    for number in range(3):
        cache.put(record(number, text=WEIRD))
    cache.close()
    (file,) = cache.folder.glob("*.jsonl")
    file.write_bytes(file.read_bytes()[:-10])
    again = Cache(cache.folder)
    assert [again.get(f"k{n}") is not None for n in range(3)] == [True, True, False]
    again.put(record(2))
    assert len(Cache(cache.folder)) == 3
    assert again.frame().height == 3
    again.pack()
    assert Cache(cache.folder).frame().height == 3


def test_a_damaged_line_is_counted_and_ignored(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "x")
    for number in range(3):
        cache.put(record(number))
    cache.close()
    (file,) = cache.folder.glob("*.jsonl")
    lines = file.read_bytes().split(b"\n")
    file.write_bytes(b"\n".join([lines[0], b"\x00\x00{", b"[1]", *lines[2:]]))
    with pytest.warns(UserWarning, match="2 damaged lines"):
        again = Cache(cache.folder)
    assert len(again) == 2


def test_a_planted_pickle_is_never_loaded(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return (os.system, (f"touch {tmp_path / 'boom'}",))

    folder = tmp_path / "x"
    folder.mkdir()
    for name in ("calls.pkl", "calls-1-x.jsonl", "cache.db"):
        (folder / name).write_bytes(pickle.dumps(Bomb()) + b"\n")
    with pytest.warns(UserWarning, match="damaged"):
        cache = Cache(folder)
    cache.frame()
    assert len(cache) == 0
    assert not (tmp_path / "boom").exists()


def test_a_good_answer_wins_over_an_earlier_and_a_later_failure(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "x")
    cache.put(record(1, status="error", text=None, refusal="HTTP 500"))
    assert cache.status("k1") == "error"
    cache.put(record(1, text="good"))
    cache.put(record(1, status="error", text=None))
    for view in (cache, Cache(cache.folder)):
        assert text_of(view, "k1") == "good"
        assert view.frame()["text"].to_list() == ["good"]
    cache.pack()
    assert text_of(Cache(cache.folder), "k1") == "good"


def test_one_call_may_serve_two_cases(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "x")
    cache.put(record(1))
    cache.put(record(1, case_id="other"))
    assert len(cache) == 1
    assert sorted(cache.frame()["case_id"]) == ["c1", "other"]


def test_replay_writes_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "x", mode="replay")
    with pytest.raises(SchemaError, match="read only"):
        cache.put(record(1))
    assert not (tmp_path / "x").exists()
    with pytest.raises(SchemaError, match="mode"):
        Cache(tmp_path / "x", mode="write")  # type: ignore[arg-type]


def test_packing_gives_the_same_bytes_for_the_same_answers(tmp_path: Path) -> None:
    packed = []
    for name, order in (("a", range(50)), ("b", reversed(range(50)))):
        cache = Cache(tmp_path / name)
        for number in order:
            cache.put(
                record(number, model="offline/priors", created=float(os.getpid()), latency=number + len(name))
            )
            if number == 25:
                cache.close()
        packed.append(cache.pack().read_bytes())
        assert cache.pack().read_bytes() == packed[-1]
    assert packed[0] == packed[1]


def text_of(cache: Cache, key: str) -> str | None:
    found = cache.get(key)
    assert found is not None
    return found.text


def _write(folder: str, worker: int) -> None:
    cache = Cache(folder)
    for number in range(50):
        cache.put(record(number * 100 + worker))


def test_sixteen_processes_lose_no_record(tmp_path: Path) -> None:
    context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    workers = [context.Process(target=_write, args=(str(tmp_path / "x"), n)) for n in range(16)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    cache = Cache(tmp_path / "x")
    assert len(cache) == 800
    assert cache.frame().height == 800


def test_packing_leaves_the_file_of_a_live_writer(tmp_path: Path) -> None:
    code = (
        "import sys; from icgkit.calls.cache import Cache; from icgkit.calls.record import Record\n"
        "c = Cache(sys.argv[1]); c.put(Record('live', 'elicit', 'd', 'c', 'x', 'm', text='1'))\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "c.put(Record('late', 'elicit', 'd', 'c', 'x', 'm', text='2'))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "x")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        cache = Cache(tmp_path / "x")
        cache.put(record(1))
        cache.pack()
        assert len(list(cache.folder.glob("*.jsonl"))) == 1
        process.communicate("\n")
    again = Cache(tmp_path / "x")
    assert {r.key for r in again.records()} == {"k1", "live", "late"}
    again.pack()
    assert {r.key for r in again.records()} == {"k1", "live", "late"}
    assert not list(cache.folder.glob("*.jsonl"))


def test_a_paid_answer_with_odd_numbers_is_kept_without_them(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "x")
    odd = {"cost": float("nan"), "input_tokens": 2**70, "output_tokens": 10**400, "latency": float("inf"),
           "reasoning_tokens": 1.5, "raw": 7, "attempts": True, "refusal": "\ud800!"}  # fmt: skip
    for number, (name, value) in enumerate(odd.items()):
        cache.put(record(number, **{name: value}))
    with pytest.raises(SchemaError, match="status"):
        cache.put(record(99, status="fine"))
    with pytest.raises(SchemaError, match="sample cannot be float"):
        cache.put(record(99, sample=1.5))
    for _ in range(2):
        for view in (cache, Cache(cache.folder)):
            assert [text_of(view, f"k{n}") for n in range(len(odd))] == [
                f"answer {n}" for n in range(len(odd))
            ]
            assert [getattr(view.get(f"k{n}"), name) for n, name in enumerate(odd)] == [*[None] * 6, 1, "?!"]
            assert view.frame().height == len(odd)
        cache.pack()


def _planted(folder: Any, *lines: str) -> Cache:
    """Return a cache with one good record and these lines after it, as a dead process left them."""
    cache = Cache(folder)
    cache.put(record(1))
    cache.close()
    (file,) = cache.folder.glob("*.jsonl")
    with open(file, "a", encoding="utf-8") as stream:
        stream.writelines(line + "\n" for line in lines)
    return cache


_GOOD = {"key": "k2", "kind": "elicit", "dataset": "d", "case_id": "c2", "condition": "direct", "model": "m",
         "sample": 0, "status": "ok", "text": "two", "attempts": 1, "params": "{}"}  # fmt: skip


@pytest.mark.parametrize("change", [{"input_tokens": 2**70}, {"cost": "dear"}, {"raw": [1]}, {"latency": True},
                                    {"sample": None}, {"params": None, "attempts": None}, {"new_field": {"a": 1}},
                                    {"extra": "\ud800"}, {"sample": 1.0}], ids=str)  # fmt: skip
def test_a_line_of_another_version_or_with_an_odd_value_keeps_its_answer(tmp_path: Path, change: Any) -> None:
    row = {k: v for k, v in {**_GOOD, **change}.items() if v is not None}
    cache = _planted(tmp_path / "x", json.dumps(row))
    for _ in range(2):
        again = Cache(cache.folder)
        assert text_of(again, "k2") == "two"
        assert again.frame()["text"].to_list() == ["answer 1", "two"]
        assert [r.sample for r in again.records()] == [0, int(change.get("sample") or 0)]
        assert again.pack().is_file()
    assert not list(cache.folder.glob("*.jsonl"))


@pytest.mark.parametrize("line", ["[" * 100_000, '{"a":' * 50_000, "7", "null", '{"key":' + "1" * 5000 + "}",
                                  *(json.dumps({**_GOOD, **c}) for c in ({"sample": 1.5}, {"sample": "x"},
                                    {"sample": 2**70}, {"text": 5}, {"status": "fine"}, {"key": None},
                                    {"case_id": ["c"]})),
                                  json.dumps({k: v for k, v in _GOOD.items() if k != "case_id"})],
                         ids=lambda line: line[:12] + line[-12:])  # fmt: skip
def test_a_damaged_line_is_named_counted_and_kept_when_packed(tmp_path: Path, line: Any) -> None:
    cache = _planted(tmp_path / "x", line, json.dumps({**_GOOD, "key": "k3"}))
    (file,) = cache.folder.glob("*.jsonl")
    with open(file, "a", encoding="utf-8") as stream:
        stream.write('{"torn')
    for view in ("frame", "pack"):
        with pytest.warns(UserWarning, match=rf"{file.name}: 1 damaged lines ignored \(line 2: "):
            again = Cache(cache.folder)
        assert len(again) == 2
        getattr(again, view)()
    assert [p.name for p in sorted(cache.folder.iterdir())] == ["calls.parquet", "damaged.jsonl"]
    assert Cache(cache.folder).frame()["key"].to_list() == ["k1", "k3"]
    kept = [json.loads(x) for x in (cache.folder / "damaged.jsonl").read_text().splitlines()]
    assert [(k["file"], k["line"], k["bytes"]) for k in kept] == [
        (file.name, 2, line),
        (file.name, 4, '{"torn'),
    ]


def test_packed_records_of_another_version_can_be_read(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "x")
    for number in range(3):
        cache.put(record(number))
    path = cache.pack()
    frame = pl.read_parquet(path)
    null = pl.lit(None)
    frame.drop("attempts", "endpoint").with_columns(
        pl.lit("later").alias("new"),
        pl.lit(float("nan")).alias("cost"),
        pl.lit(None, pl.Int64).alias("sample"),
        pl.when(pl.col("key") == "k2").then(null).otherwise(pl.col("model")).alias("model"),
    ).write_parquet(path)
    with pytest.warns(UserWarning, match="1 damaged rows"):
        again = Cache(cache.folder)
    assert list(again.records()) == [record(0), record(1)]
    again.put(record(7))
    again.pack()
    assert [r.key for r in Cache(cache.folder).records()] == ["k0", "k1", "k7"]
    assert json.loads(json.loads((cache.folder / "damaged.jsonl").read_text())["bytes"])["text"] == "answer 2"


def test_a_broken_packed_file_is_named_with_a_remedy(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "x")
    cache.put(record(1))
    path = cache.pack()
    for data in (b"", path.read_bytes()[:300]):
        path.write_bytes(data)
        with pytest.raises(CacheError, match=r"calls\.parquet.*restore the file"):
            Cache(cache.folder)
    path.unlink()
    os.mkfifo(cache.folder / "calls-1-x.jsonl")
    with pytest.raises(CacheError, match="no regular file"):
        Cache(cache.folder)


def test_threads_that_share_a_cache_get_their_own_answers(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "x")
    texts = {f"k{n}": WEIRD * (n % 7 + 1) + str(n) for n in range(800)}

    def work(worker: int) -> list[bool]:
        found = []
        for number in range(worker, 800, 8):
            cache.put(record(number, text=texts[f"k{number}"]))
            if number % 50 == 3:
                cache.pack()
            found.append(text_of(cache, f"k{number}") == texts[f"k{number}"])
        return found

    with ThreadPoolExecutor(8) as pool:
        assert all(itertools.chain.from_iterable(pool.map(work, range(8))))
    for view in (cache, Cache(cache.folder)):
        assert {k: text_of(view, k) for k in texts} == texts
    # were the lock gone, the key would still be looked at
    cache.put(record(1, key="a", text="1"))
    cache.put(record(1, key="b", text="2"))
    (file,) = cache.folder.glob("*.jsonl")
    *lines, first, second = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines, second, first]))
    assert text_of(cache, "a") == "1"


def test_a_full_disk_costs_one_record_and_not_the_next(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    cache = Cache(tmp_path / "x")
    cache.put(record(1))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(
            resource.RLIMIT_FSIZE, (4000, hard)
        )  # the file may grow to 4,000 bytes: half a line
        with pytest.raises(CacheError, match="cannot be written to: File too large"):
            cache.put(record(2, text="x" * 8000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    cache.put(record(3))
    for view in (cache, Cache(cache.folder)):
        assert [found and found.text for found in (view.get(f"k{n}") for n in (1, 2, 3))] == [
            "answer 1",
            None,
            "answer 3",
        ]
        assert view.frame()["key"].to_list() == ["k1", "k3"]


def test_a_place_that_cannot_be_written_to_is_known_before_the_first_record(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CacheError, match=r"cannot be written to: .*run again"):
        Cache(tmp_path / "file" / "x").ready()
    cache = Cache(tmp_path / "x")
    cache.ready()
    assert len(list(cache.folder.iterdir())) == 1
    cache.close()
    assert not list(cache.folder.iterdir())


def test_what_is_put_is_brought_to_the_disk_within_a_second_or_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced, real = [], os.fdatasync

    def seen(fd: int) -> None:
        real(fd)
        synced.append(os.fstat(fd).st_size)

    monkeypatch.setattr(os, "fdatasync", seen)
    cache = Cache(tmp_path / "x")
    for number in range(20):
        cache.put(record(number))
    size = sum(p.stat().st_size for p in cache.folder.iterdir())
    for _ in range(600):
        if synced:
            break
        time.sleep(0.05)
    assert synced == [size]  # by itself, without a further record
    cache.put(record(20))
    cache.flush()
    assert synced[-1] > size


def test_without_locks_records_are_kept_and_nothing_is_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")

    def none(fd: int, how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", none)
    cache = Cache(tmp_path / "x")
    cache.ready()
    cache.put(record(1))
    with pytest.warns(UserWarning, match="has no locks"):
        cache.pack()
    cache.put(record(2))
    assert [r.key for r in Cache(cache.folder).records()] == ["k1", "k2"]
    assert not (cache.folder / "calls.parquet").exists()


def test_a_file_that_is_just_being_opened_is_not_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = Cache(tmp_path / "x"), Cache(tmp_path / "x")
    second.put(record(1))
    real = ledger_module.lock
    packed: list[str] = []

    def slow(fd: int) -> bool:
        if not packed:
            packed.append(cache_module.PACKED)  # once: packing holds files as well
            second.pack()  # between making and locking the first one's file
        return real(fd)

    monkeypatch.setattr(cache_module, "lock", slow)
    for number in range(2, 50):
        first.put(record(number))
    assert packed
    assert len(Cache(tmp_path / "x")) == 49
    second.pack()
    first.put(record(50))
    assert len(Cache(tmp_path / "x")) == 50


def test_packing_checks_its_own_file_before_lines_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path / "x")
    for number in range(5):
        cache.put(record(number))
    real = pl.DataFrame.write_parquet
    monkeypatch.setattr(pl.DataFrame, "write_parquet", lambda self, *a, **k: real(self.head(4), *a, **k))
    with pytest.raises(CacheError, match="does not hold what was written"):
        cache.pack()
    monkeypatch.undo()
    assert [p.suffix for p in cache.folder.iterdir()] == [".jsonl"]
    assert len(Cache(cache.folder)) == 5


def test_packing_with_nothing_new_writes_nothing_and_tidies_nothing_away(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "x")
    cache.put(record(1))
    (cache.folder / ".calls.parquet.123").write_bytes(b"left by a kill")
    stamp = cache.pack().stat()
    assert [p.name for p in cache.folder.iterdir()] == ["calls.parquet"]
    again = Cache(cache.folder)
    again.ready()
    assert again.pack().stat() == stamp
    assert [p.name for p in cache.folder.iterdir()] == ["calls.parquet"]


def _pack_for_ever(folder: str, done: Any) -> None:
    cache = Cache(folder)
    for number in range(1_000_000):
        if done.is_set():
            return
        cache.put(record(number % 40, key=f"p{number % 40}"))
        cache.pack()


def test_readers_see_everything_while_another_process_packs(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "x")
    for number in range(200):
        cache.put(record(number))
    cache.pack()
    context: Any = multiprocessing.get_context("spawn")
    done = context.Event()
    packer = context.Process(target=_pack_for_ever, args=(str(tmp_path / "x"), done))
    packer.start()
    try:
        while not any(k.startswith("p") for k in Cache(tmp_path / "x").frame()["key"]):
            assert packer.exitcode is None
        for number in range(40):
            fresh = Cache(tmp_path / "x")
            assert sum(key.startswith("k") for key in fresh.frame()["key"]) == 200 + number
            assert text_of(fresh, "k5") == "answer 5"
            fresh.put(record(200 + number))
            fresh.close()
    finally:
        done.set()
        packer.join()
    assert packer.exitcode == 0


def test_caches_are_merged(tmp_path: Path) -> None:
    parts = [Cache(tmp_path / name) for name in "abc"]
    for number, part in enumerate(parts):
        part.put(record(number))
        part.put(record(9, status="ok" if number == 1 else "error", text=None))
        part.pack()
    assert merge(parts[0], parts[1:]) == 3
    assert [(r.key, r.status) for r in Cache(tmp_path / "a").records()] == [
        ("k0", "ok"), ("k1", "ok"), ("k2", "ok"), ("k9", "ok")
    ]  # fmt: skip
    assert len(Cache(tmp_path / "b")) == 2
    with pytest.raises(SchemaError, match="into itself"):
        merge(parts[0], [Cache(tmp_path / "a")])


def test_a_cache_goes_with_a_fork_and_a_pickle(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "x")
    cache.put(record(1))
    assert pickle.loads(pickle.dumps(cache)).get("k1") == record(1)
    if hasattr(os, "fork"):
        child = multiprocessing.get_context("fork").Process(target=cache.put, args=(record(2),))
        child.start()
        child.join()
        assert child.exitcode == 0
        cache.put(record(3))
        assert [text_of(cache, f"k{n}") for n in (1, 3)] == ["answer 1", "answer 3"]
        assert len(Cache(cache.folder)) == 3


def test_other_processes_are_seen_on_refresh(tmp_path: Path) -> None:
    first, second = Cache(tmp_path / "x"), Cache(tmp_path / "x")
    first.put(record(1))
    assert "k1" not in second
    second.refresh()
    assert "k1" in second
    assert json.loads(next(iter(first.folder.glob("*.jsonl"))).read_text())["key"] == "k1"


@pytest.mark.parametrize("name", ["spending.jsonl", "damaged.jsonl"])
def test_no_file_of_a_cache_is_a_way_out(name: str, tmp_path: Path) -> None:
    """A stranger's cache may hold links where icgkit appends."""
    victim = tmp_path / "thesis.txt"
    victim.write_text("mine")
    folder = tmp_path / "cache"
    folder.mkdir()
    (folder / name).symlink_to(victim)
    (folder / "calls-1.jsonl").write_text("no record\n")
    with warnings.catch_warnings(), suppress(CacheError, OSError):
        warnings.simplefilter("ignore")
        cache = Cache(folder)
        cache.put(record(1))
        cache.ledger.begin(1.0)
    with warnings.catch_warnings(), suppress(CacheError, OSError):
        warnings.simplefilter("ignore")
        Cache(folder).pack()
    assert victim.read_text() == "mine"
