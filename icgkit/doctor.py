"""Examine an installation: versions, kernels, datasets, caches, checksums."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Literal, NamedTuple

from icgkit.calls import keys
from icgkit.cases.dataset import load_dataset, sha256_of
from icgkit.errors import IcgError
from icgkit.files import parquet_rows, project_root, read_file, read_text

CHECKSUMS = "CHECKSUMS.sha256"
"""File in `data/`, in the form of sha256sum."""
Status = Literal["ok", "note", "broken"]


class Finding(NamedTuple):
    """One thing that was looked at."""

    part: str
    what: str
    status: Status
    detail: str


def examine(root: str | Path | None = None) -> list[Finding]:
    """Look at everything that a run needs; nothing is changed and no model is called."""
    root = Path(root) if root else project_root()
    parts = (
        _python(),
        _packages(root),
        _kernels(),
        _datasets(root),
        _caches(root),
        _checksums(root),
        _keys(),
    )
    return [finding for part in parts for finding in part]


def report_text(findings: Iterable[Finding]) -> str:
    """Write findings as plain text, grouped by part, with a verdict at the end."""
    findings = list(findings)
    lines, part = [], ""
    width = max((len(f.what) for f in findings), default=0)
    for finding in findings:
        if finding.part != part:
            part = finding.part
            lines.append(part)
        mark = {"ok": "ok    ", "note": "note  ", "broken": "BROKEN"}[finding.status]
        lines.append(f"  {mark} {finding.what:<{min(width, 40)}}  {finding.detail}")
    broken = sum(f.status == "broken" for f in findings)
    lines.append(f"{broken} broken" if broken else "everything that a run needs is in order")
    return "\n".join(lines)


def write_checksums(root: str | Path | None = None) -> int:
    """Write `data/CHECKSUMS.sha256` for the files of `data/`; return how many.

    Runs that still go on (folders with a `.jsonl` record and no Parquet) are left out, they change.
    """
    data = (Path(root) if root else project_root()) / "data"
    files = [p for p in _data_files(data) if p.suffix != ".jsonl" or p.parent.parent.name != "cache"]
    lines = [f"{sha256_of(p)}  {p.relative_to(data).as_posix()}\n" for p in files]
    (data / CHECKSUMS).write_text("".join(lines), encoding="utf-8", newline="\n")
    return len(lines)


def _data_files(data: Path) -> list[Path]:
    hidden = {CHECKSUMS, ".gitkeep", ".DS_Store"}
    return sorted(p for p in data.rglob("*") if p.is_file() and p.name not in hidden)


def _python() -> Iterator[Finding]:
    enough = tuple(map(int, platform.python_version_tuple()[:2])) >= (3, 11)
    detail = f"{platform.python_version()} on {platform.system()}, {os.cpu_count()} processors"
    yield Finding("Python", "interpreter", "ok" if enough else "broken", detail)


def _packages(root: Path) -> Iterator[Finding]:
    """Compare what is installed with requirements.lock."""
    try:
        lines = requires("icgkit") or []
        yield Finding("Packages", "icgkit", "ok", version("icgkit"))
    except PackageNotFoundError:
        yield Finding("Packages", "icgkit", "broken", "not installed; run bash bootstrap.sh")
        return
    lock = root / "requirements.lock"
    text = lock.read_text(encoding="utf-8") if lock.is_file() else ""
    locked: dict[str, set[str]] = {}
    for name, due in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", text, re.MULTILINE):
        locked.setdefault(name.lower(), set()).add(due)  # Several where they depend on the Python.
    for name, extra in sorted(dict(map(_requirement, lines)).items()):
        try:
            found = version(name)
        except PackageNotFoundError:
            detail = f"absent (extra {extra})" if extra else "absent; run bash bootstrap.sh"
            yield Finding("Packages", name, "note" if extra else "broken", detail)
            continue
        allowed = locked.get(name.lower(), {found})
        detail = found if found in allowed else f"{found}, locked {' or '.join(sorted(allowed))}"
        yield Finding("Packages", name, "ok" if found in allowed else "note", detail)


def _requirement(line: str) -> tuple[str, str]:
    """Return name and extra of a requirement."""
    extra = re.search(r"extra == ['\"](\w+)['\"]", line)
    return re.split(r"[<>=!~;\[ ]", line, maxsplit=1)[0], extra[1] if extra else ""


def _kernels() -> Iterator[Finding]:
    from importlib.metadata import entry_points

    from icgkit.reproduce.kernel import can_fork

    names = {e.name for e in entry_points(group="jupyter_client.kernel_provisioners")}
    known = "icgkit-fork" in names
    detail = "provisioner icgkit-fork is registered" if known else "not registered; install icgkit anew"
    yield Finding("Kernels", "provisioner", "ok" if known else "broken", detail)
    how = "forked from a warm server" if can_fork() else "one interpreter a notebook (no fork here)"
    yield Finding("Kernels", "notebooks run in", "ok", how)


def _datasets(root: Path) -> Iterator[Finding]:
    base = root / "data" / "cases"
    folders = sorted(p for p in base.iterdir() if p.is_dir()) if base.is_dir() else []
    if not folders:
        yield Finding("Datasets", "data/cases", "broken", "no dataset is there")
    for folder in folders:
        try:
            dataset = load_dataset(folder)
        except IcgError as exc:
            yield Finding("Datasets", folder.name, "broken", str(exc)[:300])
            continue
        nodes = sum(len(c.constraint_nodes) for c in dataset)
        text = f"version {dataset.version}, {len(dataset)} cases, {nodes} nodes"
        missing = len(dataset.missing_images())
        status: Status = "ok"
        if missing:
            # Images that are not shipped are known to lie elsewhere; shipped ones have to be there.
            elsewhere = "image_root_elsewhere" in (folder / "dataset.toml").read_text(encoding="utf-8")
            status = "note" if elsewhere else "broken"
            setting = "ICGKIT_IMAGES_" + dataset.name.upper().replace("-", "_")
            text += f"; {missing} images are absent, set {setting} to their folder"
        else:
            text += "; all images are there"
        yield Finding("Datasets", dataset.name, status, text)


def _caches(root: Path) -> Iterator[Finding]:
    base = root / "data" / "cache"
    folders = sorted(p for p in base.iterdir() if p.is_dir()) if base.is_dir() else []
    if not folders:
        yield Finding("Caches", "data/cache", "note", "no cache is there; icgkit run makes one")
    for folder in folders:
        packed, going = 0, 0
        try:
            for path in folder.rglob("*.parquet"):
                packed += parquet_rows(path)
            for path in folder.rglob("*.jsonl"):
                going += read_file(path).count(b"\n")
        except (OSError, IcgError) as exc:
            yield Finding("Caches", folder.name, "broken", f"{type(exc).__name__}: {exc}"[:200])
            continue
        text = f"{packed:,} records packed" + (f", {going:,} not yet packed" if going else "")
        yield Finding("Caches", folder.name, "ok" if packed or going else "note", text)


def _checksums(root: Path) -> Iterator[Finding]:
    data = root / "data"
    path = data / CHECKSUMS
    if not path.is_file():
        yield Finding(
            "Checksums", f"data/{CHECKSUMS}", "note", "absent; icgkit doctor --write-checksums makes it"
        )
        return
    rows = [line.partition("  ")[::2] for line in read_text(path).splitlines() if line.strip()]
    wrong = 0
    for digest, name in rows:
        there = (data / name).is_file()
        if not there or sha256_of(data / name) != digest:
            wrong += 1
            state = "has changed" if there else "is absent"
            yield Finding("Checksums", name, "broken", f"{state}; restore it, or write the checksums anew")
    if not wrong:
        yield Finding("Checksums", f"data/{CHECKSUMS}", "ok", f"all {len(rows)} files hold")
    new = {p.relative_to(data).as_posix() for p in _data_files(data)} - {name for _, name in rows}
    if new:
        shown = ", ".join(sorted(new)[:3]) + (" ..." if len(new) > 3 else "")
        yield Finding("Checksums", "files without one", "note", f"{len(new)}: {shown}")


def _keys() -> Iterator[Finding]:
    """Say which providers have a key or an address, where it comes from, and never what the key is."""
    file = Path.cwd() / ".env"
    try:
        said = keys.in_env(file)
    except IcgError as exc:
        said = {}
        yield Finding("Keys and addresses", ".env", "broken", str(exc))
    found = False
    for provider in keys.known_providers():
        held = next((n for n in keys.provider(provider).keys if os.environ.get(n) or said.get(n)), None)
        address = next((n for n in keys.provider(provider).addresses if os.environ.get(n)), None)
        if held or address:
            found = True
            part = f"key in {held}" + ("" if os.environ.get(held) else f" of {file}") if held else "no key"
            status: Status = "ok"
            if address:
                where = os.environ[address]
                try:
                    keys.refuse_secrets(provider, {}, where)
                except IcgError as exc:
                    where, status = f"an address that is refused: {exc.what}", "broken"
                part += f", {address}: {where}"
            elif keys.provider(provider).local:
                part += f", no address (set {keys.provider(provider).addresses[0]}, or api_base in a study)"
            yield Finding("Keys and addresses", provider, status, part)
    if not found:
        text = "none set; needed only to call paid models (environment, or .env where you run icgkit)"
        yield Finding("Keys and addresses", "providers", "note", text)
    if other := [n for n in said if n not in keys.known_keys()]:
        text = f"not read, no keys of a known provider: {', '.join(map(ascii, other[:5]))}"
        yield Finding("Keys and addresses", ".env", "note", text)
