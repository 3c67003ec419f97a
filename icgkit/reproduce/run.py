"""Regenerate every table and figure: papermill over the notebooks, only what is stale, in parallel."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict, cast

from icgkit.cases.dataset import sha256_of
from icgkit.errors import SchemaError
from icgkit.files import project_root, read_file, write_whole
from icgkit.reproduce.compare import TOLERANCE, Difference, compare_folders
from icgkit.reproduce.execute import Run, Workers
from icgkit.reproduce.notebooks import Fingerprint, Notebook, find_notebooks, share_parameters
from icgkit.untrusted import json_value

CELL_SECONDS = 600
"""Longest time for one cell."""
SETS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "": ({}, ()),
    "simulated": ({"cache": "simulated"}, ()),
    "icg-teb": (
        {"cache": "icg-teb-mllm,offline-teb"},
        (
            "T1_",
            "T2_",
            "T3_",
            "F3_",
            "T4_",
            "ST1_",
            "ST9_",
            "ST10_",
            "ST11_",
            "S_precision",
            "S_status",
            "S_difficulty",
            "S_annotators",
            "M_pairs",
            "M_utility",
            "M_leaderboard",
        ),
    ),
}
"""The galleries of the project: folder below `figures/`, parameters, parts of notebooks' names (all if none)."""


@dataclass
class Report:
    """What a call of `reproduce` did, or would do."""

    out: Path
    ran: list[Run] = field(default_factory=list)
    fresh: list[str] = field(default_factory=list)
    apart: list[str] = field(default_factory=list)
    due: dict[str, list[str]] = field(default_factory=dict)
    seconds: float = 0.0
    dry: bool = False

    @property
    def failed(self) -> list[Run]:
        """The notebooks that failed."""
        return [run for run in self.ran if run.error]

    def __str__(self) -> str:
        apart = f", {len(self.apart)} left out (no such parameter)" if self.apart else ""
        if self.dry:
            lines = [f"{name}: {'; '.join(why)}" for name, why in self.due.items()]
            lines.append(
                f"{len(self.due)} notebooks would run, {len(self.fresh)} up to date{apart}; {self.out}"
            )
            return "\n".join(lines)
        lines = [f"{run.name} failed: {run.error}" for run in self.failed]
        if self.failed:
            lines.append(f"partial notebooks: {self.out / '.reproduce' / 'notebooks'}")
        what = f"{len(self.ran) - len(self.failed)} notebooks run"
        if not self.ran:
            what = (
                "nothing to do (--force runs all the same)"
                if self.fresh
                else "no notebook fits, nothing to do"
            )
        lines.append(
            f"{what}, {len(self.fresh)} up to date{apart}, "
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
    dry_run: bool = False,
    jobs: int | None = None,
    cell_seconds: int = CELL_SECONDS,
) -> Report:
    """Run the notebooks whose results are stale and write the gallery.

    A notebook is stale if its source, a function of the package that it can reach, a template, the
    lock file, a dataset or cache that a parameter names, or a parameter has changed since its results
    were written, or if one of them has changed or is gone. Each one runs in a kernel of its own and
    writes to a folder of its own; its results are moved to `out` when its last cell has run, so that
    a failure leaves the old ones whole.

    Parameters
    ----------
    only : iterable of str
        Names of notebooks, ids of results, or parts of names.
    parameters : mapping, optional
        Parameters for the notebooks that have them; the others are left out.
    out : str or Path, optional
        Folder of the results. Where None, `figures/` of the project, and a folder below it if a
        parameter differs from what is shipped (`figures/my-run` for `cache=my-run`).
    notebooks : str or Path, optional
        Folder of the notebooks; `notebooks/` of the project where None.
    force : bool
        Run what is not stale as well.
    dry_run : bool
        Run nothing; `due` of the report says what is stale and why.
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
    given = dict(parameters or {})
    found = find_notebooks(notebooks, only)
    shared = share_parameters(found, given)
    out = Path(out).resolve() if out else results_folder(found, given)
    chosen = [n for n in found if _rests_on(n, given)]
    for notebook in chosen:
        if "out" not in notebook.parameters:
            raise SchemaError(f"{notebook.name}: no parameter 'out'", remedy='add out = "" to its parameters')
    fingerprint = Fingerprint()
    state = State(out)
    keys = {n.name: fingerprint.of(n, shared[n.name]) for n in chosen}
    why = {n.name: state.reasons(n, keys[n.name], fingerprint) for n in chosen}
    stale = [n for n in chosen if force or why[n.name]]
    report = Report(out, fresh=[n.name for n in chosen if n not in stale], dry=dry_run)
    report.apart = [n.name for n in found if n not in chosen]
    report.due = {n.name: why[n.name] or ["--force"] for n in stale}
    if dry_run:
        return report
    if stale:
        # One more than processors: a kernel that starts waits for messages half of the time.
        workers = Workers(out, jobs or (os.cpu_count() or 1) + 1, cell_seconds, state.made())
        longest_first = sorted(stale, key=lambda n: -state.seconds(n.name))
        resting = Counter(d for n in stale for d in fingerprint.datasets(n, shared[n.name]))
        several = [dataset for dataset, times in resting.items() if times > 1]
        by_name = {n.name: n for n in stale}
        for run in workers.run(longest_first, shared, datasets=several):
            report.ran.append(run)
            state.record(run, by_name[run.name], keys[run.name], fingerprint)
    if chosen and (stale or not (out / "index.html").is_file()):
        from icgkit.report.gallery import write_gallery

        write_gallery(out)
        if (out.parent / "index.html").is_file():  # It names this one.
            write_gallery(out.parent)
    report.seconds = time.monotonic() - start
    return report


def results_folder(notebooks: Iterable[Notebook], given: Mapping[str, Any]) -> Path:
    """Return where results go that nobody gave a place: what is shipped is never overwritten by others."""
    figures = project_root() / "figures"
    for name, (parameters, _) in SETS.items():
        if parameters and dict(given) == parameters:
            return figures / name
    notebooks = list(notebooks)
    differs = [
        k for k, v in given.items() if any(k in n.parameters and n.parameters[k] != v for n in notebooks)
    ]
    words = []
    for name in sorted(differs, key=lambda k: (k != "cache", k)):
        text = (
            "+".join(Path(v).name for v in given[name].split(","))
            if name in ("cache", "dataset")
            else f"{name}-{given[name]}"
        )
        words.append(re.sub(r"[^\w.-]+", "-", text).strip(".-"))
    return (figures / "-".join(w for w in words if w)).resolve()


def _rests_on(notebook: Notebook, given: Mapping[str, Any]) -> bool:
    """Return whether a given parameter is one of the notebook's; a given cache has to be among them."""
    if "cache" in given:
        return "cache" in notebook.parameters
    return not given or any(name in notebook.parameters for name in given)


def reproduce_sets(*, out: str | Path | None = None, **options: Any) -> list[Report]:
    """Make every gallery of the project: the shipped outputs, the simulated cache, the real cases."""
    from icgkit.report.gallery import write_gallery

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
    return {
        n: s for n, s in SETS.items() if all((caches / c).is_dir() for c in s[0].get("cache", "").split(","))
    }


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
    """Regenerate everything elsewhere and compare it with what is committed; a failed notebook's results are absent."""
    only = tuple(only)
    given = options.get("parameters") or {}
    if not committed:
        committed = results_folder(find_notebooks(options.get("notebooks"), only), given)
    committed = Path(committed)
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
    values = sum(not d.order_only for d in differences)
    verdict = f"{values} values differ" if values else "no value differs"
    if others := len(differences) - values:
        verdict += f" ({others} tables: order only)"
    lines.append(
        f"{len(report.ran)} notebooks run, {len(report.failed)} failed in {report.seconds:.1f} s; {verdict} "
        f"from what is committed (relative tolerance {tolerance:g})"
    )
    return "\n".join(lines)


class State:
    """What was run when, in `.reproduce/state.json`; the file may come from elsewhere, so that rows are checked."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.path = out / ".reproduce" / "state.json"
        self.rows: dict[str, _Row] = {}
        with contextlib.suppress(SchemaError):
            rows = json_value(read_file(self.path, limit=LARGEST_STATE), "state.json")
            self.rows = {k: r for k, v in rows.items() if (r := _row(v))} if isinstance(rows, dict) else {}

    def reasons(self, notebook: Notebook, parts: Mapping[str, str], code: Fingerprint) -> list[str]:
        """Return why a notebook's results are stale; nothing if they are not."""
        row = self.rows.get(notebook.name)
        if row is None:
            return ["no results of it are known here"]
        files = [(f, self.out / f, digest) for f, digest in row["files"].items()]
        gone = [f"{f} is gone" for f, path, _ in files if not path.is_file()]
        other = [f"{f} has been changed" for f, p, digest in files if p.is_file() and sha256_of(p) != digest]
        changed = [
            f"{k} has changed" for k in {**row["parts"], **parts} if row["parts"].get(k) != parts.get(k)
        ]
        if row["package"] != code.package:
            was, now = row["code"], code.code(notebook)
            names = sorted(k for k in was | now if was.get(k) != now.get(k))
            changed += [f"{_function(name)} has changed" for name in names[:3]]
            changed += [f"{len(names) - 3} more functions have changed"] if len(names) > 3 else []
            if not names:
                row["package"] = code.package  # Kept with the next record; saves reading the code again.
        return changed + gone[:3] + other[:3]

    def made(self) -> dict[str, list[str]]:
        """Return the files that each notebook made last time."""
        return {name: sorted(row["files"]) for name, row in self.rows.items()}

    def seconds(self, name: str) -> float:
        """Return how long a notebook took last time; infinity if that is not known."""
        return self.rows[name]["seconds"] if name in self.rows else float("inf")

    def record(self, run: Run, notebook: Notebook, parts: Mapping[str, str], code: Fingerprint) -> None:
        """Note a run at once, so that an interruption loses nothing that is finished."""
        before = self.rows.get(run.name)
        if run.error:
            if before:  # Its files are still there, but rest on nothing that is known.
                before["parts"] = {}
        else:
            for gone, digest in (before["files"] if before else {}).items():
                path = self.out / gone
                # Only what a run made, and nobody has changed since.
                if gone not in run.files and path.is_file() and sha256_of(path) == digest:
                    path.unlink()
            files = {f: sha256_of(self.out / f) for f in run.files}
            self.rows[run.name] = {
                "parts": dict(parts), "package": code.package, "code": code.code(notebook),
                "seconds": round(run.seconds, 2), "files": files,
            }  # fmt: skip
        write_whole(self.path, json.dumps(self.rows, indent=1, sort_keys=True).encode())


LARGEST_STATE = 100_000_000
"""Bytes of a state file that is read at all."""
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}(\.table)?(\.thumb)?\.(csv|json|png|pdf|svg|html|tex)")


class _Row(TypedDict):
    """What `State` keeps of a notebook: what it rested on, and what it made, name to hash."""

    parts: dict[str, str]
    package: str
    code: dict[str, str]
    seconds: float
    files: dict[str, str]


def _row(value: Any) -> _Row | None:
    """Check a row of a state file."""

    def texts(name: str) -> bool:
        inner = value.get(name)
        return isinstance(inner, dict) and all(isinstance(v, str) for v in inner.values())

    if not isinstance(value, dict) or not all(map(texts, ("parts", "code", "files"))):
        return None
    seconds = value.get("seconds")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    if not isinstance(value.get("package"), str) or not all(map(_FILE.fullmatch, value["files"])):
        return None
    return cast(_Row, {k: value[k] for k in _Row.__annotations__})


def _function(name: str) -> str:
    module, _, inner = name.partition(":")
    return f"{module}.{inner}" if inner else f"what {module} does when imported"
