"""Regenerate every table and figure: papermill over the notebooks, only what is stale, in parallel."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from icgkit.compare import TOLERANCE, Difference, compare_folders
from icgkit.errors import SchemaError
from icgkit.execute import Run, Workers
from icgkit.load import sha256_of
from icgkit.notebooks import Fingerprint, find_notebooks, share_parameters
from icgkit.outputs import write_whole
from icgkit.paths import project_root

CELL_SECONDS = 600
"""Longest time for one cell."""
SETS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "": ({}, ()),
    "simulated": ({"cache": "simulated"}, ()),
    "icg-teb": ({"cache": "offline-teb"}, ("T1_", "T2_", "T3_", "F3_", "T4_", "ST1_")),
}
"""The galleries of the project: folder below `figures/`, parameters, parts of notebooks' names (all if none)."""


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
        Notebooks at the same time; one more than processors where None.
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
        # One more than processors: a kernel that starts waits for messages half of the time.
        workers = Workers(out, jobs or (os.cpu_count() or 1) + 1, cell_seconds)
        longest_first = sorted(stale, key=lambda n: -state.seconds(n.name))
        resting = Counter(d for n in stale for d in fingerprint.datasets(n, shared[n.name]))
        several = [dataset for dataset, times in resting.items() if times > 1]
        for run in workers.run(longest_first, shared, datasets=several):
            report.ran.append(run)
            state.record(run, keys[run.name])
    if stale or not (out / "index.html").is_file():
        from icgkit.gallery import write_gallery

        write_gallery(out)
    report.seconds = time.monotonic() - start
    return report


def reproduce_sets(*, out: str | Path | None = None, **options: Any) -> list[Report]:
    """Make every gallery of the project: the shipped outputs, the simulated cache, the real cases.

    A set that needs a cache which is not there is left out; notebooks without a set's parameters
    belong to the first one only. Arguments are those of `reproduce`.
    """
    from icgkit.gallery import write_gallery

    base = Path(out).resolve() if out else project_root() / "figures"
    wanted = tuple(options.pop("only", ()))
    reports = []
    for name, (parameters, parts) in _present_sets().items():
        only = _of_set(options.get("notebooks"), wanted, parameters, parts)
        if only:
            reports.append(reproduce(only=only, out=base / name, parameters=parameters, **options))
    if any(r.ran for r in reports):
        write_gallery(base)
    return reports


def _present_sets() -> dict[str, tuple[dict[str, Any], tuple[str, ...]]]:
    caches = project_root() / "data" / "cache"
    return {n: s for n, s in SETS.items() if "cache" not in s[0] or (caches / s[0]["cache"]).is_dir()}


def _of_set(
    folder: str | Path | None, wanted: tuple[str, ...], parameters: Mapping[str, Any], parts: tuple[str, ...]
) -> list[str]:
    """Return the notebooks that have a set's parameters and belong to it by name."""
    having = [n.name for n in find_notebooks(folder, wanted) if set(parameters) <= set(n.parameters)]
    return [n for n in having if not parts or n.startswith(parts)]


def check_sets(*, tolerance: float = TOLERANCE, **options: Any) -> list[tuple[Report, list[Difference]]]:
    """Check every gallery of the project against what is committed; see `check`."""
    wanted = tuple(options.pop("only", ()))
    found = []
    for name, (parameters, parts) in _present_sets().items():
        only = _of_set(options.get("notebooks"), wanted, parameters, parts)
        if only:
            committed = project_root() / "figures" / name
            found.append(
                check(only=only, committed=committed, tolerance=tolerance, parameters=parameters, **options)
            )
    return found


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
        for run in report.failed:  # What a reader needs to see why outlives the temporary folder.
            kept = committed / ".reproduce" / "notebooks" / f"{run.name}.ipynb"
            kept.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(OSError):
                shutil.copyfile(Path(folder, ".reproduce", "notebooks", kept.name), kept)
        ids = {Path(f).stem for run in report.ran for f in run.files if f.endswith(".csv")} if only else None
        return report, compare_folders(committed, Path(folder), ids=ids, tolerance=tolerance)


def check_text(
    report: Report, differences: list[Difference], tolerance: float = TOLERANCE, most: int = 300
) -> str:
    """Say what a check found, one line a difference, at most `most` of them."""
    lines = [f"{run.name} failed: {run.error}" for run in report.failed]
    lines += ["partial notebooks: .reproduce/notebooks in the committed folder"] if lines else []
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
