"""Run notebooks with papermill, several at a time, each in a kernel of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, NamedTuple

from icgkit.errors import CallError, SchemaError
from icgkit.files import project_root
from icgkit.reproduce.notebooks import Notebook, shared_imports


class Run(NamedTuple):
    """What became of one notebook."""

    name: str
    seconds: float
    error: str | None
    files: tuple[str, ...] = ()


class Workers:
    """Runs notebooks with papermill in threads, each in a kernel of its own."""

    def __init__(
        self, out: Path, jobs: int, cell_seconds: int, made_before: Mapping[str, Iterable[str]] | None = None
    ) -> None:
        self.out = out
        self.made_before = made_before or {}
        self.jobs = jobs
        self.cell_seconds = cell_seconds
        self.work = out / ".reproduce"
        self._stop = threading.Event()
        self._moving = threading.Lock()
        self._owner: dict[str, str] = {}

    def run(
        self, notebooks: list[Notebook], shared: Mapping[str, dict[str, Any]], *, datasets: Iterable[str] = ()
    ) -> Iterator[Run]:
        """Yield what became of each notebook as it ends; end every kernel whatever happens."""
        from tqdm import tqdm

        from icgkit.reproduce.kernel import end_kernels, warm_server

        for folder in (self.work, self.work / "notebooks"):
            _own_folder(folder)
        if (self.work / "stage").is_symlink():
            raise _foreign(self.work / "stage")
        threads = max(1, (os.cpu_count() or 1) // self.jobs)
        with (
            _alone(self.work / "lock"),
            _terminable(),
            warm_server(*shared_imports(notebooks), *datasets, POLARS_MAX_THREADS=str(threads)),
            ThreadPoolExecutor(self.jobs) as pool,
            tqdm(total=len(notebooks), unit="notebook", disable=None) as bar,
        ):
            shutil.rmtree(self.work / "stage", ignore_errors=True)
            _import_papermill()
            futures: list[Future[Run]] = [pool.submit(self._one, n, shared[n.name]) for n in notebooks]
            try:
                for future in _as_completed(futures):
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
            try:
                self._execute(notebook, {**given, "out": str(stage)}, stage.with_suffix(".ipynb"))
            finally:
                with contextlib.suppress(FileNotFoundError):
                    stage.with_suffix(".ipynb").replace(self.work / "notebooks" / notebook.path.name)
            files = self._move(notebook, stage)
            return Run(notebook.name, time.monotonic() - start, None, files)
        except Exception as exc:
            return Run(notebook.name, time.monotonic() - start, _short(exc))
        finally:
            _close_loop()

    def _execute(self, notebook: Notebook, parameters: dict[str, Any], target: Path) -> None:
        """Run a notebook to its last cell; papermill alone takes `sys.exit(0)` for its end."""
        import papermill

        from icgkit.reproduce.kernel import WarmKernelManager

        done = papermill.execute_notebook(
            notebook.path,
            target,
            parameters=parameters,
            kernel_name="python3",
            language="python",
            progress_bar=False,
            execution_timeout=self.cell_seconds,
            kernel_manager_class=WarmKernelManager,
            shutdown_kernel="immediate",
            resources={"metadata": {"path": str(project_root())}},
        )
        code = [c for c in done.cells if c.cell_type == "code" and c.source.strip()]
        for number, cell in enumerate(code, 1):
            left = any(o.output_type == "error" for o in cell.outputs)
            if left or cell.execution_count is None:
                raise SchemaError(
                    f"it ended early, in code cell {number if left else max(number - 1, 1)} of {len(code)}",
                    allowed="every cell runs",
                    remedy="take exit() or sys.exit() out of the notebook",
                )

    def _move(self, notebook: Notebook, stage: Path) -> tuple[str, ...]:
        name = notebook.name
        files = sorted(p for p in stage.iterdir() if p.is_file() and not p.is_symlink())
        if not files:
            raise SchemaError("it saved nothing", remedy="end it with ig.save(..., out=out)")
        made = {p.name for p in files}
        due = {f for f in self.made_before.get(name, ()) if f.partition(".")[0] in notebook.ids}
        if absent := sorted(due - made):
            raise SchemaError(
                f"it did not make {', '.join(absent[:5])} again, though it names the result",
                remedy=f"delete {self.out}/.reproduce/state.json if that is meant",
            )
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


def _as_completed(futures: Iterable[Future[Run]]) -> Iterator[Future[Run]]:
    """Yield futures as they end, and look up now and then.

    polars puts a handler of its own before Python's, which lets the system call go on that a Ctrl-C
    should break off: a main thread that waits for a lock without an end would never hear of it.
    """
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
        yield from done


def _short(exc: Exception) -> str:
    """Say in one line why a notebook failed."""
    name, value = getattr(exc, "ename", None), getattr(exc, "evalue", None)
    if name:  # papermill's report of an error inside a cell
        cell = getattr(exc, "exec_count", None)
        return f"{name} in cell [{cell}]: {value}".replace("\n", " ")[:500]
    lines = [line for line in str(exc).splitlines() if line.strip()]
    return f"{type(exc).__name__}: {lines[0] if lines else 'no message'}"[:500]


def _close_loop() -> None:
    """End the event loop that jupyter_client made for this thread, with what still waits in it."""
    from jupyter_core.utils import ensure_event_loop

    loop = ensure_event_loop()
    waiting = asyncio.all_tasks(loop)
    for task in waiting:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*waiting, return_exceptions=True))
    loop.close()


def _import_papermill() -> None:
    """Import papermill without a grammar of addresses, whose compilation takes longer than to run a notebook."""
    absent = "rfc3987_syntax" not in sys.modules
    if absent:
        sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    forbidden, sys.dont_write_bytecode = sys.dont_write_bytecode, False  # As for the kernels.
    try:
        import papermill  # noqa: F401
    finally:
        sys.dont_write_bytecode = forbidden
        if absent:
            del sys.modules["rfc3987_syntax"]


def _own_folder(path: Path) -> None:
    """Make a scratch folder; a link in its place could lead anywhere."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        path.mkdir()
    if path.is_symlink() or not path.is_dir():
        raise _foreign(path)


def _foreign(path: Path) -> SchemaError:
    return SchemaError(
        f"{path} was not made by icgkit: it is a link, or no plain file or folder",
        remedy=f"look at it, then: rm {shlex.quote(str(path))}",
    )


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold a lock on the results' folder; the system lets go of it if we are killed."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    try:
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    except OSError:
        raise _foreign(path) from None
    with open(number, "rb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CallError(
                f"another icgkit reproduce is writing to {path.parent.parent}",
                remedy="wait for it, or give another --out",
            ) from None
        yield


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Let a polite request to end (SIGTERM) unwind like Ctrl-C, in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
