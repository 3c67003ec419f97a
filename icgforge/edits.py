"""Edits made by program from drawn cases, with what is true of each by construction: they audit the scorer of edits, and judges.

From a case with its reference edit come a right edit, none at all, and right ones in which one node was missed, one says
something else, one cannot be read, or something changed that had to stay; each as it is and as an editor might hand it out:
compressed, resized, shifted, toned.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from icgkit.cases.case import Case
from icgkit.cases.dataset import load_dataset
from icgkit.cases.edited import reference_edit, regions_of
from icgkit.judge.edited import REST, judge_edited
from icgkit.metrics.edits import Region, score_edit

if TYPE_CHECKING:
    import polars as pl

    from icgkit.calls.cache import Cache
    from icgkit.calls.models import Model
    from icgkit.judge.ask import Judge

Pixels = NDArray[np.uint8]

MADE = ("reference", "original", "one missed", "one wrong", "one blurred", "one invented")
"""Edits, by what was done."""


class Edit(NamedTuple):
    """An edit made by program.

    Attributes
    ----------
    kind : str
        One of `MADE`.
    pixels : array
    node_id : str
        The node that was treated apart, else "".
    truth : dict
        Status of every region by construction: `done`, `left`, `wrong`, `unreadable`.
    """

    kind: str
    pixels: Pixels
    node_id: str
    truth: dict[str, str]


def encoded(pixels: Pixels, quality: int = 75) -> Pixels:
    """Return a picture as JPEG gives it back."""
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=quality)
    return np.asarray(Image.open(stream).convert("RGB"))


def resized(pixels: Pixels, by: float = 0.6) -> Pixels:
    """Return a picture that was made smaller and large again."""
    picture = Image.fromarray(pixels)
    size = (int(picture.width * by), int(picture.height * by))
    way = Image.Resampling.LANCZOS
    return np.asarray(picture.resize(size, way).resize(picture.size, way))


def shifted(pixels: Pixels) -> Pixels:
    """Return a picture moved by 5 pixels to the right and 3 up."""
    return np.roll(pixels, (-3, 5), (0, 1))


def toned(pixels: Pixels) -> Pixels:
    """Return a picture darker and warmer than it was."""
    out: Pixels = np.clip(255 * (pixels / 255.0) ** 1.15 * np.array([1.05, 1.0, 0.93]), 0, 255).astype(
        np.uint8
    )
    return out


COPIES: dict[str, Callable[[Pixels], Pixels]] = {
    "as it is": np.asarray, "compressed": encoded, "resized": resized, "shifted": shifted, "toned": toned,
    "all four": lambda x: encoded(toned(shifted(resized(x)))),
}  # fmt: skip
"""What an editor may do to the whole of a picture."""


def made_edits(case: Case, folder: Path, *, seed: int = 42) -> Iterator[Edit]:
    """Make the edits of a case; which node is treated apart, and where something is invented, is drawn by `seed`."""
    before, right = reference_edit(case, folder)
    regions = regions_of(case)
    rng = np.random.default_rng([seed, *case.id.encode()])
    done = {r.id: "done" for r in regions}
    yield Edit("reference", right, "", done)
    yield Edit("original", before, "", dict.fromkeys(done, "left"))
    nodes = [r for r in regions if r.id != "target"]
    node = nodes[int(rng.integers(len(nodes)))]
    near, wide = _box(node, before.shape, 0), _box(node, before.shape, 3)
    missed = right.copy()
    missed[wide] = before[wide]
    if _alone(node, regions, before.shape):
        yield Edit("one missed", missed, node.id, done | {node.id: "left"})
        yield Edit("one wrong", _other_words(right, before, near), node.id, done | {node.id: "wrong"})
        blurred = right.copy()
        radius = max(6.0, (near[0].stop - near[0].start) / 3)
        blurred[near] = np.asarray(Image.fromarray(right).filter(ImageFilter.GaussianBlur(radius)))[near]
        yield Edit("one blurred", blurred, node.id, done | {node.id: "unreadable"})
    there = _free_place(regions, before.shape, rng)
    if there is not None:
        invented = _other_words(right, before, there)
        yield Edit("one invented", invented, "", done)


def _box(region: Region, shape: tuple[int, ...], margin: int) -> tuple[slice, slice]:
    boxes = [b for b in (region.before, region.after) if b]
    x0, y0 = (int(min(b[k] for b in boxes)) - margin for k in (0, 1))
    x1, y1 = (int(max(b[k] for b in boxes)) + 1 + margin for k in (2, 3))
    return slice(max(0, y0), min(shape[0], y1)), slice(max(0, x0), min(shape[1], x1))


def _alone(node: Region, regions: list[Region], shape: tuple[int, ...]) -> bool:
    """Return whether no other region reaches into the node's: else what is done to it is done to that as well."""
    mine = np.zeros(shape[:2], bool)
    mine[_box(node, shape, 4)] = True
    return not any(mine[_box(r, shape, 4)].any() for r in regions if r is not node)


def _other_words(right: Pixels, before: Pixels, place: tuple[slice, slice]) -> Pixels:
    """Return a picture that says something else at a place, on the colour that is commonest there."""
    out = right.copy()
    ground = np.median(before[place].reshape(-1, 3), axis=0).astype(int)
    ink = tuple(
        int(v) for v in (np.array([255, 255, 255]) if ground.mean() < 128 else np.array([20, 20, 20]))
    )
    height, width = (s.stop - s.start for s in place)
    card = Image.new("RGB", (width, height), tuple(int(v) for v in ground))
    font = ImageFont.load_default(max(8.0, 0.8 * height))
    ImageDraw.Draw(card).text((1, 0), "QUARTZ 88 VEXING HYMNS", fill=ink, font=font)
    out[place] = np.asarray(card)
    return out


def _free_place(
    regions: list[Region], shape: tuple[int, ...], rng: np.random.Generator
) -> tuple[slice, slice] | None:
    """Return a place of 24 x 80 pixels away from all regions, or None after 200 tries."""
    taken = np.zeros(shape[:2], bool)
    for region in regions:
        taken[_box(region, shape, 12)] = True
    for _ in range(200):
        y, x = int(rng.integers(shape[0] - 24)), int(rng.integers(shape[1] - 80))
        if not taken[y : y + 24, x : x + 80].any():
            return slice(y, y + 24), slice(x, x + 80)
    return None


# -- the audit of the scorer ------------------------------------------------------------------------


def audit_scorer(
    dataset: str = "icg-scenes", cases: Sequence[str] = (), *, every: int = 5, jobs: int = 2
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Score the made edits of a drawn dataset: all cases as they are, every so many in each copy.

    Returns
    -------
    (regions, pictures)
        Regions: `case_id`, `split`, `template`, `made`, `copy`, `node_id` ("target" or a node), `subtype`, `truth`,
        `status` (see `icgkit.metrics.edits.score_edit`; null if it cannot be told), `to_reference`, `to_original`.
        Pictures: `case_id`, `split`, `template`, `made`, `copy`, `truth` (number of invented changes), `n_invented`,
        `preserved`, `overlap`, `registered`.
    """
    import polars as pl

    places = [k for k, c in enumerate(load_dataset(dataset)) if not cases or c.id in cases]
    with ProcessPoolExecutor(jobs) as pool:
        work = [pool.submit(_audited, dataset, k, k % every == 0) for k in places]
        parts = [w.result() for w in work]
    regions = pl.DataFrame([row for part in parts for row in part[0]], infer_schema_length=None)
    return regions, pl.DataFrame([row for part in parts for row in part[1]], infer_schema_length=None)


def _audited(dataset: str, k: int, copies: bool) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    data = load_dataset(dataset)
    assert data.folder is not None
    case = data[k]
    before, right = reference_edit(case, data.folder)
    regions = regions_of(case)
    rows, pictures = [], []
    about = {"case_id": case.id, "split": case.metadata["split"], "template": case.metadata["template"]}
    for edit in made_edits(case, data.folder):
        for name, copy in COPIES.items() if copies else [("as it is", np.asarray)]:
            found = score_edit(copy(edit.pixels), before, right, regions)
            head = about | {"made": edit.kind, "copy": name}
            for row in found.regions:
                kept = {
                    key: row[key] for key in ("node_id", "subtype", "status", "to_reference", "to_original")
                }
                rows.append(head | kept | {"truth": edit.truth[row["node_id"]]})
            kept = {key: found.picture[key] for key in ("n_invented", "preserved", "overlap", "registered")}
            pictures.append(head | {"truth": int(edit.kind == "one invented")} | kept)
    return rows, pictures


# -- the audit of judges ----------------------------------------------------------------------------


def audit_judges(
    dataset: str,
    judges: Sequence[str | Model | Judge],
    *,
    cache: Cache,
    cases: Sequence[str] = (),
    progress: bool = True,
) -> pl.DataFrame:
    """Ask judges that see pictures about made edits, and put what is true beside what they say.

    Parameters
    ----------
    dataset : str
        A drawn one with reference edits.
    judges : sequence
        Any model that sees pictures, as for `icgkit.judge_recall`.
    cases : sequence of str
        Only these cases; all if empty. Each costs up to five calls a judge.

    Returns
    -------
    polars.DataFrame
        As `icgkit.judge.edited.judge_edited`, with `made`, `template` and `truth`: the status of a node, of the rest `kept` or
        `harmed`.
    """
    import tempfile

    import polars as pl

    data = load_dataset(dataset)
    folder_of = data.folder
    assert folder_of is not None
    data = data.subset(cases) if cases else data
    pictures: dict[str, dict[str, Path]] = {}
    truth: dict[tuple[str, str, str], str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in data:
            for edit in made_edits(case, folder_of):
                if edit.kind == "one blurred":
                    continue  # a judge may rightly call it changed and wrong, or not to be read
                path = Path(folder) / f"{case.id}-{edit.kind}.png"
                Image.fromarray(edit.pixels).save(path)
                pictures.setdefault(edit.kind, {})[case.id] = path
                status = edit.truth | {REST: "harmed" if edit.kind == "one invented" else "kept"}
                truth |= {(edit.kind, case.id, i): s for i, s in status.items()}
        frames = [
            judge_edited(data, outputs, judge, cache=cache, editor=kind, progress=progress)
            for judge in judges
            for kind, outputs in pictures.items()
        ]
    documents = {c.id: c.metadata["template"] for c in data}
    found = pl.concat(frames).rename({"editor": "made"})
    keys = found.select("made", "case_id", "node_id").iter_rows()
    return found.with_columns(
        truth=pl.Series([truth[made, case, node] for made, case, node in keys], dtype=pl.String),
        template=pl.col("case_id").replace_strict(documents, return_dtype=pl.String),
    )
