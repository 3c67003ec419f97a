"""Where data, caches and figures lie, and files that others may have filled: read within bounds, written whole."""

from __future__ import annotations

import json
import os
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from icgkit.errors import IcgError, ImageError, SchemaError, UnknownName

if TYPE_CHECKING:
    import polars as pl

__version__ = "0.1.0"
MAX_BYTES = 1 << 28
"""Largest file that is read at once unless a caller says otherwise: 256 MiB."""
MAX_TABLE_BYTES = 1 << 32
"""Largest table that is read, uncompressed: 4 GiB."""
MAX_TABLE_ROWS = 5_000_000


@contextmanager
def open_file(
    path: str | Path, *, limit: int = MAX_BYTES, error: type[IcgError] = SchemaError
) -> Iterator[BinaryIO]:
    """Open a file for reading if it is a regular one of at most `limit` bytes.

    A pipe is not waited for and a device is not read. Links are followed: whether a path may lead
    out of a folder is for the caller to say.
    """
    shown = Path(path).name or str(path)
    try:
        before = os.stat(path)
        if not stat.S_ISREG(before.st_mode):
            raise error(f"{shown!r} is no regular file", got=_kind(before.st_mode), allowed="a regular file")
        flags = (
            os.O_RDONLY
            | getattr(os, "O_NONBLOCK", 0)
            | getattr(os, "O_CLOEXEC", 0)
            | getattr(os, "O_BINARY", 0)
        )
        fd = os.open(path, flags)
    except OSError as exc:
        raise error(f"{shown!r} cannot be read: {exc.strerror}", got=str(path)) from None
    except ValueError:  # a NUL byte in the name
        raise error("a file name with a NUL byte", got=str(path)) from None
    with os.fdopen(fd, "rb") as stream:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):  # changed between the two looks
            raise error(f"{shown!r} is no regular file", got=_kind(status.st_mode), allowed="a regular file")
        if status.st_size > limit:
            raise error(
                f"{shown!r} is too large", got=f"{status.st_size:,} bytes", allowed=f"at most {limit:,} bytes"
            )
        yield stream


def read_file(path: str | Path, *, limit: int = MAX_BYTES, error: type[IcgError] = SchemaError) -> bytes:
    """Return the content of a regular file of at most `limit` bytes; see `open_file`."""
    with open_file(path, limit=limit, error=error) as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:  # it grew while it was read
        raise error(f"{Path(path).name!r} is too large", allowed=f"at most {limit:,} bytes")
    return data


def read_parquet(path: str | Path, *, error: type[IcgError] = SchemaError) -> pl.DataFrame:
    """Read a Parquet file whose footer promises no more than memory can be asked for."""
    import polars as pl

    shown = Path(path).name
    remedy = "restore the file from a copy, or move it away"
    with open_file(path, limit=MAX_TABLE_BYTES, error=error) as stream:
        try:
            rows, size = _parquet_size(stream)
        except (ValueError, LookupError, TypeError):
            raise error(f"{shown!r} is no whole Parquet file", got=str(path), remedy=remedy) from None
        if not 0 <= rows <= MAX_TABLE_ROWS or not 0 <= size <= MAX_TABLE_BYTES:
            raise error(
                f"{shown!r} is too large once it is unpacked",
                got=f"{rows:,} rows, {size:,} bytes",
                allowed=f"{MAX_TABLE_ROWS:,} rows, {MAX_TABLE_BYTES:,} bytes",
            )
        stream.seek(0)
        try:
            return pl.read_parquet(stream)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as exc:
            why = (str(exc).splitlines() or [""])[0][:120]
            raise error(f"{shown!r} cannot be read: {why}", got=str(path), remedy=remedy) from None


def parquet_rows(path: str | Path, *, error: type[IcgError] = SchemaError) -> int:
    """Return how many rows the footer of a Parquet file states, without reading them."""
    with open_file(path, limit=MAX_TABLE_BYTES, error=error) as stream:
        try:
            return _parquet_size(stream)[0]
        except (ValueError, LookupError, TypeError):
            raise error(f"{Path(path).name!r} is no whole Parquet file", got=str(path)) from None


def read_text(path: str | Path, *, error: type[IcgError] = SchemaError) -> str:
    """Return the text of a file in UTF-8, with or without a byte order mark; see `read_file`."""
    try:
        return read_file(path, error=error).decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise error(
            f"{Path(path).name!r}: not UTF-8, byte {exc.start + 1}", remedy="save the file as UTF-8"
        ) from None


def read_csv(
    path: str | Path,
    *,
    columns: Iterable[str] = (),
    as_text: bool = False,
    error: type[IcgError] = SchemaError,
) -> pl.DataFrame:
    """Read a CSV file in UTF-8 that has at least these columns; `as_text` leaves every cell a text."""
    import polars as pl

    shown = repr(Path(path).name)
    data = read_text(path, error=error).encode()
    try:
        frame = (
            pl.read_csv(data, infer_schema=False) if as_text else pl.read_csv(data, infer_schema_length=None)
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError) as exc:
        why = (str(exc).splitlines() or [""])[0][:120]
        raise error(f"{shown}: no CSV table: {why}", got=str(path)) from None
    need = list(columns)
    if absent := [name for name in need if name not in frame.columns]:
        raise error(f"{shown}: missing column {', '.join(absent)}", allowed=need)
    return frame


@contextmanager
def replacing(path: str | Path, *, sync: bool = False) -> Iterator[BinaryIO]:
    """Write a file so that a reader sees the old or the new content, never half of one.

    What is written goes to a new file with a name that nobody can foresee, which then takes the
    place of `path`. A link is replaced, not followed. With `sync`, file and folder are on the disk
    when this returns. After an exception the old content stays.
    """
    path = Path(path)
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    part = path.with_name(f".{path.name[:200]}.{secrets.token_hex(6)}.part")
    try:
        with open(part, "wb", opener=lambda name, _: os.open(name, flags, 0o666)) as stream:
            yield stream
            stream.flush()
            if sync:
                os.fsync(stream.fileno())
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
    if sync:
        sync_folder(path.parent)


def write_whole(path: str | Path, content: bytes, *, sync: bool = False) -> None:
    """Write bytes by way of `replacing`."""
    with replacing(path, sync=sync) as stream:
        stream.write(content)


def write_rows(rows: Iterable[Mapping[str, Any]], path: str | Path, *, sync: bool = False) -> None:
    """Write JSON lines by way of `replacing`; what JSON does not know is written as its text."""
    lines = (json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    write_whole(path, "".join(lines).encode("utf-8", "replace"), sync=sync)


def sync_folder(folder: str | Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    try:
        fd = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except OSError:  # Windows has no such thing
        return
    try:
        with suppress(OSError):
            os.fsync(fd)
    finally:
        os.close(fd)


def inside(root: str | Path, name: str, *, error: type[IcgError] = ImageError) -> Path:
    """Return the path of a file that a stranger's text names, if it lies below `root`.

    Links are resolved first, so that none leads out. Whether the file exists, and is a regular one,
    is found when it is opened.
    """
    allowed = "a relative path below it"
    try:
        base = Path(root).resolve()
        path = (base / name).resolve()
        path.exists()
    except (OSError, ValueError, RuntimeError):  # NUL, too long, a circle of links
        raise error("no name of a file", got=name, allowed=allowed) from None
    if not path.is_relative_to(base) or Path(name).is_absolute():
        raise error("a file outside its folder", got=name, allowed=allowed)
    return path


def _kind(mode: int) -> str:
    kinds = {stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}
    return kinds.get(stat.S_IFMT(mode), "device")


# -- size of a Parquet file, from its footer ---------------------------------------------------


def _parquet_size(stream: BinaryIO) -> tuple[int, int]:
    """Return rows and uncompressed bytes, the larger of what row groups and columns state."""
    size = stream.seek(0, os.SEEK_END)
    if size < 12:
        raise ValueError("too short")
    stream.seek(size - 8)
    tail = stream.read(8)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != b"PAR1" or length > size - 12:
        raise ValueError("no Parquet")
    stream.seek(size - 8 - length)
    meta, _ = _thrift(stream.read(length), 0, _STRUCT, 0)
    groups = meta[4]
    rows = max(meta[3], sum(group[3] for group in groups))
    stated = sum(group[2] for group in groups)
    columns = sum(column[3][6] for group in groups for column in group[1] if 3 in column)
    return rows, max(stated, columns)


_STRUCT, _DEPTH = 12, 32


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 70:
            raise ValueError("number too long")


def _thrift(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    """Read one value of the compact Thrift protocol; structs become dicts by field number."""
    if depth > _DEPTH:
        raise ValueError("nested too deep")
    if kind in (1, 2):
        return kind == 1, at
    if kind == 3:
        return data[at], at + 1
    if kind in (4, 5, 6):
        value, at = _varint(data, at)
        return (value >> 1) ^ -(value & 1), at
    if kind == 7:
        return None, at + 8
    if kind == 8:
        length, at = _varint(data, at)
        return data[at : at + length], at + length
    if kind in (9, 10):
        head, at = data[at], at + 1
        length, inner = head >> 4, head & 15
        if length == 15:
            length, at = _varint(data, at)
        if length > len(data):
            raise ValueError("list too long")
        values = []
        for _ in range(length):
            if inner in (1, 2):
                value, at = data[at] == 1, at + 1
            else:
                value, at = _thrift(data, at, inner, depth + 1)
            values.append(value)
        return values, at
    if kind != _STRUCT:
        raise ValueError("unknown kind")
    found: dict[int, Any] = {}
    number = 0
    while head := data[at]:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            value, at = _varint(data, at)
            number = (value >> 1) ^ -(value & 1)
        found[number], at = _thrift(data, at, head & 15, depth + 1)
    return found, at + 1


# -- places -------------------------------------------------------------------------------------

_MARKS = {"cases": ("dataset.toml", "cases.jsonl"), "cache": ("run.toml", "calls.parquet", "calls-*.jsonl")}
"""Files by which a folder in the working directory is known as a dataset or a cache."""


def python(*arguments: str) -> list[str]:
    """Return the command line of a child interpreter, which imports nothing from the working directory."""
    return [sys.executable, "-P", *arguments]


def bootstrap(call: str) -> str:
    """Return the code of a child (`-c`) that imports this very package before `call`.

    Where the package is found by the working directory alone, `-P` would hide it; its place then
    comes last.
    """
    place = str(Path(__file__).resolve().parents[1])
    return f"import sys, importlib.util as u; u.find_spec('icgkit') or sys.path.append({place!r}); {call}"


def project_root() -> Path:
    """Return the folder that holds `data/`, `notebooks/` and `figures/`.

    The environment variable ICGKIT_HOME wins; then the checkout that the package runs from; then
    the nearest parent of the working directory that has a folder `data/cases`; then the working
    directory itself.
    """
    if home := os.environ.get("ICGKIT_HOME"):
        return Path(home).expanduser().absolute()
    here = Path.cwd()
    for folder in (Path(__file__).resolve().parents[1], here, *here.parents):
        if (folder / "data" / "cases").is_dir():
            return folder
    return here


OUTSIDE = "make a folder to work in: icgkit init my-project && cd my-project"
"""What to do where there is no project."""


def in_project() -> Path:
    """Return the project's root; outside a project, say what to do.

    Raises
    ------
    IcgError
        If neither the working directory nor a folder above it, nor ICGKIT_HOME, holds `notebooks/`.
    """
    root = project_root()
    if not (root / "notebooks").is_dir():
        raise IcgError(f"{root} is no project: it has no notebooks/", remedy=OUTSIDE)
    return root


def is_path(name: str | Path) -> bool:
    """Say whether a dataset or cache is given by its path: it has a separator, or begins with `.` or `~`."""
    text = os.fspath(name)
    separators = [os.sep, "/", *([os.altsep] if os.altsep else [])]
    return text.startswith((".", "~")) or any(s in text for s in separators) or Path(text).is_absolute()


def folder_of(kind: str, name: str | Path, base: Path | None = None) -> Path:
    """Return the folder that a dataset (`kind` "cases") or a cache ("cache") is meant by, there or not.

    A path (see `is_path`) is meant from the working directory, or from `base` if it is there or
    nowhere (a study file's folder); `~` is the home directory. A bare name is a folder below
    `data/<kind>/`, else a folder of that name in the working directory that holds what marks such
    a folder, else the place below `data/<kind>/` where it would be.
    """
    text = os.fspath(name)
    if not text.strip() or not text.isprintable() or max(map(len, Path(text).parts), default=1) > 255:
        raise SchemaError(
            f"name of a {'dataset' if kind == 'cases' else kind}",
            got=text,
            allowed="a name or the path of a folder",
        )
    if is_path(text):
        path = Path(os.path.expanduser(text))
        places = [path.absolute()] if base is None else [(base / path).absolute(), path.absolute()]
        found = next((p for p in places if p.is_dir()), places[0])
        return found.resolve() if ".." in found.parts else found
    shipped = project_root() / "data" / kind / text
    here = Path.cwd() / text
    if not shipped.is_dir() and any(any(here.glob(mark)) for mark in _MARKS[kind]):
        return here
    return shipped


def named_folder(kind: str, name: str | Path) -> Path:
    """Return the folder of a dataset or cache that is there; see `folder_of`."""
    folder = folder_of(kind, name)
    if folder.is_dir():
        return folder
    base = project_root() / "data" / kind
    known = [p.name for p in base.iterdir() if p.is_dir()] if base.is_dir() else []
    what = "dataset" if kind == "cases" else "cache"
    if is_path(name):
        raise UnknownName(
            f"no {what} in {folder}", allowed=f"the path of a folder, or one of {', '.join(sorted(known))}"
        )
    if not base.is_dir():
        raise UnknownName(f"no {what} {name}: {project_root()} is no project", remedy=OUTSIDE)
    raise UnknownName.among(f"{what} (folder in data/{kind})", str(name), known)
