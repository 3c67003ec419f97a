"""Regenerate every table and figure: papermill over the notebooks, only what is stale, in parallel."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from icgkit.compare import TOLERANCE, Difference, compare_folders
from icgkit.errors import SchemaError
from icgkit.load import sha256_of
from icgkit.notebooks import Fingerprint, Notebook, find_notebooks, share_parameters
from icgkit.outputs import write_whole
from icgkit.paths import project_root

CELL_SECONDS = 600
"""Longest time for one cell."""


class Run(NamedTuple):
    """What became of one notebook."""

    name: str
    seconds: float
    error: str | None
    files: tuple[str, ...] = ()


@dataclass
class Report:
    """What a call of `reproduce` did."""

    out: Path
    ran: list[Run] = field(default_factory=list)
    fresh: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def failed(self) -> list[Run]:
        """The notebooks that failed."""
        return [run for run in self.ran if run.error]

    def __str__(self) -> str:
        lines = [f"{run.name} failed: {run.error}" for run in self.failed]
        if self.failed:
            lines.append(f"partial notebooks: {self.out / '.reproduce' / 'notebooks'}")
        lines.append(
            f"{len(self.ran) - len(self.failed)} notebooks run, {len(self.fresh)} up to date, "
            f"{len(self.failed)} failed in {self.seconds:.1f} s; gallery: {self.out / 'index.html'}"
        )
        return "\n".join(lines)


def reproduce(
    *,
    only: Iterable[str] = (),
    parameters: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    notebooks: str | Path | None = None,
    force: bool = False,
    jobs: int | None = None,
    cell_seconds: int = CELL_SECONDS,
) -> Report:
    """Run the notebooks whose results are stale and write the gallery.

    A notebook is stale if its source, the package's code, the lock file, a dataset or cache that a
    parameter names, or a parameter has changed since its results were written, or if one of them
    has changed or is gone. Each one runs in a kernel of its own and writes to a folder of its own; its results
    are moved to `out` when it has come to its end, so that a failure leaves the old ones whole.

    Parameters
    ----------
    only : iterable of str
        Names, or parts of names, of notebooks.
    parameters : mapping, optional
        Parameters for the notebooks that have them.
    out : str or Path, optional
        Folder of the results; `figures/` of the project where None.
    notebooks : str or Path, optional
        Folder of the notebooks; `notebooks/` of the project where None.
    force : bool
        Run what is not stale as well.
    jobs : int, optional
        Notebooks at the same time; the number of processors where None.
    cell_seconds : int
        Longest time for one cell.

    Returns
    -------
    Report
        What ran, what was up to date and what failed; failing does not raise.

    Raises
    ------
    UnknownName, SchemaError
        For a parameter that no notebook has, and for notebooks without proper parameters.
    """
    start = time.monotonic()
    out = Path(out).resolve() if out else project_root() / "figures"
    chosen = find_notebooks(notebooks, only)
    shared = share_parameters(chosen, parameters or {})
    for notebook in chosen:
        if "out" not in notebook.parameters:
            raise SchemaError(f"{notebook.name}: no parameter 'out'", remedy='add out = "" to its parameters')
    fingerprint = Fingerprint()
    state = State(out)
    keys = {n.name: fingerprint.of(n, shared[n.name]) for n in chosen}
    stale = [n for n in chosen if force or not state.holds(n.name, keys[n.name])]
    report = Report(out, fresh=[n.name for n in chosen if n not in stale])
    if stale:
        workers = Workers(out, jobs or os.cpu_count() or 1, cell_seconds)
        longest_first = sorted(stale, key=lambda n: -state.seconds(n.name))
        for run in workers.run(longest_first, shared):
            report.ran.append(run)
            state.record(run, keys[run.name])
    if stale or not (out / "index.html").is_file():
        from icgkit.gallery import write_gallery

        write_gallery(out)
    report.seconds = time.monotonic() - start
    return report


def check(
    *,
    only: Iterable[str] = (),
    committed: str | Path | None = None,
    tolerance: float = TOLERANCE,
    **options: Any,
) -> tuple[Report, list[Difference]]:
    """Regenerate everything elsewhere and compare it with what is committed.

    Parameters
    ----------
    only : iterable of str
        As for `reproduce`; results of other notebooks are not looked at.
    committed : str or Path, optional
        Folder to compare with; `figures/` of the project where None.
    tolerance : float
        Relative difference up to which two numbers are the same.
    **options
        Further arguments of `reproduce`.

    Returns
    -------
    tuple of Report and list of Difference
        A failed notebook is in the report; its results count as absent.
    """
    committed = Path(committed) if committed else project_root() / "figures"
    only = tuple(only)
    with tempfile.TemporaryDirectory(prefix="icgkit-check-") as folder:
        report = reproduce(only=only, out=folder, force=True, **options)
        ids = {Path(f).stem for run in report.ran for f in run.files if f.endswith(".csv")} if only else None
        return report, compare_folders(committed, Path(folder), ids=ids, tolerance=tolerance)


def check_text(
    report: Report, differences: list[Difference], tolerance: float = TOLERANCE, most: int = 300
) -> str:
    """Say what a check found, one line a difference, at most `most` of them."""
    lines = [f"{run.name} failed: {run.error}" for run in report.failed]
    lines += [str(d) for d in differences[:most]]
    if len(differences) > most:
        lines.append(f"... and {len(differences) - most} more")
    verdict = f"{len(differences)} values differ" if differences else "no value differs"
    lines.append(
        f"{len(report.ran)} notebooks run, {len(report.failed)} failed in {report.seconds:.1f} s; {verdict} "
        f"from what is committed (relative tolerance {tolerance:g})"
    )
    return "\n".join(lines)


class State:
    """What was run when, in `.reproduce/state.json` of the results' folder."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.path = out / ".reproduce" / "state.json"
        self.rows: dict[str, dict[str, Any]] = {}
        with contextlib.suppress(OSError, ValueError):
            self.rows = json.loads(self.path.read_bytes())

    def holds(self, name: str, key: str) -> bool:
        """Return whether a notebook's results are there and rest on what `key` stands for."""
        row = self.rows.get(name, {})
        if row.get("key") != key:
            return False
        files = [(self.out / f, digest) for f, digest in row["files"].items()]
        return all(path.is_file() and sha256_of(path) == digest for path, digest in files)

    def seconds(self, name: str) -> float:
        """Return how long a notebook took last time; infinity if that is not known."""
        return float(self.rows.get(name, {}).get("seconds", "inf"))

    def record(self, run: Run, key: str) -> None:
        """Note a run at once, so that an interruption loses nothing that is finished."""
        if run.error:
            self.rows.pop(run.name, None)
        else:
            for gone in set(self.rows.get(run.name, {}).get("files", {})) - set(run.files):
                (self.out / gone).unlink(missing_ok=True)
            files = {f: sha256_of(self.out / f) for f in run.files}
            self.rows[run.name] = {"key": key, "seconds": round(run.seconds, 2), "files": files}
        write_whole(self.path, json.dumps(self.rows, indent=1, sort_keys=True).encode())


class Workers:
    """Runs notebooks with papermill in threads, each in a kernel of its own."""

    def __init__(self, out: Path, jobs: int, cell_seconds: int) -> None:
        self.out = out
        self.jobs = jobs
        self.cell_seconds = cell_seconds
        self.work = out / ".reproduce"
        self._stop = threading.Event()
        self._moving = threading.Lock()
        self._owner: dict[str, str] = {}

    def run(self, notebooks: list[Notebook], shared: Mapping[str, dict[str, Any]]) -> Iterator[Run]:
        """Yield what became of each notebook as it ends; end every kernel whatever happens."""
        from tqdm import tqdm

        from icgkit.kernel import end_kernels, warm_server

        (self.work / "notebooks").mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self.work / "stage", ignore_errors=True)
        threads = max(1, (os.cpu_count() or 1) // self.jobs)
        with (
            _terminable(),
            warm_server(POLARS_MAX_THREADS=str(threads)),
            ThreadPoolExecutor(self.jobs) as pool,
            tqdm(total=len(notebooks), unit="notebook", disable=None) as bar,
        ):
            _import_papermill()
            futures: list[Future[Run]] = [pool.submit(self._one, n, shared[n.name]) for n in notebooks]
            try:
                for future in as_completed(futures):
                    run = future.result()
                    word = f"failed: {run.error}" if run.error else "done"
                    tqdm.write(f"{run.name} {word} ({run.seconds:.1f} s)", file=sys.stderr)
                    bar.update()
                    yield run
            finally:
                self._stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                end_kernels()
        shutil.rmtree(self.work / "stage", ignore_errors=True)

    def _one(self, notebook: Notebook, given: dict[str, Any]) -> Run:
        start = time.monotonic()
        stage = self.work / "stage" / notebook.name
        try:
            stage.mkdir(parents=True)
            self._execute(notebook, {**given, "out": str(stage)})
            files = self._move(notebook.name, stage)
            return Run(notebook.name, time.monotonic() - start, None, files)
        except Exception as exc:
            return Run(notebook.name, time.monotonic() - start, _short(exc))
        finally:
            from jupyter_core.utils import ensure_event_loop

            ensure_event_loop().close()  # The loop that jupyter_client made for this thread.

    def _execute(self, notebook: Notebook, parameters: dict[str, Any]) -> None:
        import papermill

        from icgkit.kernel import WarmKernelManager

        papermill.execute_notebook(
            notebook.path,
            self.work / "notebooks" / notebook.path.name,
            parameters=parameters,
            kernel_name="python3",
            language="python",
            progress_bar=False,
            execution_timeout=self.cell_seconds,
            kernel_manager_class=WarmKernelManager,
            shutdown_kernel="immediate",
            resources={"metadata": {"path": str(project_root())}},
        )

    def _move(self, name: str, stage: Path) -> tuple[str, ...]:
        files = sorted(p for p in stage.iterdir() if p.is_file())
        if not files:
            raise SchemaError("it saved nothing", remedy="end it with ig.save(..., out=out)")
        with self._moving:
            if self._stop.is_set():
                raise SchemaError("interrupted")
            for path in files:
                other = self._owner.setdefault(path.name, name)
                if other != name:
                    raise SchemaError(
                        f"{path.name} is also written by {other}", remedy="give each result one id"
                    )
            for path in files:
                path.replace(self.out / path.name)
        return tuple(p.name for p in files)


def _short(exc: Exception) -> str:
    """Say in one line why a notebook failed."""
    name, value = getattr(exc, "ename", None), getattr(exc, "evalue", None)
    if name:  # papermill's report of an error inside a cell
        cell = getattr(exc, "exec_count", None)
        return f"{name} in cell [{cell}]: {value}".replace("\n", " ")[:500]
    lines = [line for line in str(exc).splitlines() if line.strip()]
    return f"{type(exc).__name__}: {lines[0] if lines else 'no message'}"[:500]


def _import_papermill() -> None:
    """Import papermill without the grammar of internationalised addresses.

    jsonschema compiles that grammar for a format check that notebooks have no use for, which takes
    longer than running one; it does without where the module is not there.
    """
    absent = "rfc3987_syntax" not in sys.modules
    if absent:
        sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    try:
        import papermill  # noqa: F401
    finally:
        if absent:
            del sys.modules["rfc3987_syntax"]


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Let a polite request to end (SIGTERM) unwind like Ctrl-C, in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(signum: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
