"""TextEditBench's two tracks: scores that the public judge wrote, and what an edit did outside the masks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from icgkit.bench.common import listed, read_json, texts, with_whole
from icgkit.bench.texteditbench.files import HALVES, mask_of, read
from icgkit.cases.images import opened, upright_rgb
from icgkit.errors import ImageError, SchemaError
from icgkit.files import inside
from icgkit.metrics.intervals import BOOTSTRAP, Bootstrap
from icgkit.metrics.mean import mean
from icgkit.prompts.replies import as_score

DIMENSIONS = {
    "IF": "instruction following", "TA": "text accuracy", "VC": "visual consistency",
    "LP": "layout preservation", "SE": "semantic expectation",
}  # fmt: skip
"""Dimensions of the public judge, 0 to 5 each; SE only where an instance has a knowledge prompt."""
PIXELS = {"MSE": "0 to 65,025", "PSNR": "dB", "SSIM": "-1 to 1"}
_PUBLIC_HALVES = HALVES | {"canva": "manual", "real": "web"}
_PROBLEM = ("place", "kind", "detail")
Array = NDArray[np.float64]


def read_judged(path: str | Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read what the public judge (`gpt_eval.py`) wrote: a file `<model>.json`, or the folder of such files.

    One row a model, instance and dimension: `model`, `category`, `task_id`, `measure`, `score` (0 to 5, null
    if the judge failed), `public` (the number that the public script averages: a failed call is 0); and the
    problems: place, kind, detail.
    """
    root = Path(path)
    files = [root] if root.is_file() else sorted(root.glob("*.json"))
    rows: list[tuple[Any, ...]] = []
    problems: list[tuple[str, str, str]] = []
    for file in files:
        data = read_json(file)
        data = data.get("tasks") if isinstance(data, dict) else data
        seen: dict[tuple[str, str], Any] = {}
        for record in data if isinstance(data, list) else []:
            told = record.get("evaluation_results", record) if isinstance(record, dict) else None
            if not isinstance(told, dict) or not set(told) & set(DIMENSIONS):
                problems.append((file.name, "no scores", str(record)[:80]))
                continue
            category, task = (str(record.get(k, "")) for k in ("category", "task_id"))
            place = f"{file.name}: {category}/{task}"
            if (category, task) in seen:
                if seen[category, task] != told:
                    problems.append((place, "twice: the first one counts", ""))
                continue
            seen[category, task] = told
            for name in (n for n in DIMENSIONS if n in told):
                value, public, why = _score(told[name], name)
                rows.append((file.stem, category, task, name, value, public))
                problems += [(place, f"{name}: {why}", str(told[name])[:120])] if why else []
    if not rows:
        raise SchemaError(
            "no scores of TextEditBench", got=[f.name for f in files][:5] or str(root),
            allowed="files <model>.json with evaluation_results of IF, TA, VC, LP, SE",
        )  # fmt: skip
    return _scored(rows, "task_id"), listed(problems, *_PROBLEM)


def _scored(rows: list[tuple[Any, ...]], instance: str) -> pl.DataFrame:
    kinds = texts("model", "category", instance, "measure") | {"score": pl.Float64, "public": pl.Float64}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def _score(told: Any, name: str) -> tuple[float | None, float | None, str]:
    """Return the score, the number that the public script takes, and what is wrong."""
    number = as_score(
        told.get(name, told.get("score")) if isinstance(told, dict) else told, -math.inf, math.inf
    )
    if number is None:
        return None, None, "no number"
    said = told.get("rationale") if isinstance(told, dict) else ""
    if number == 0 and isinstance(said, str) and said.startswith(("API Error", "Prompt missing")):
        return None, number, "the call failed, 0 was written"
    return (number, number, "") if 0 <= number <= 5 else (None, number, "not in 0 to 5")


def judged_scores(frame: pl.DataFrame, *, ci: Bootstrap | None = BOOTSTRAP) -> pl.DataFrame:
    """Average the scores of `read_judged` by model, category ("all" first) and dimension.

    `estimate`, `low`, `high` (0 to 5, bootstrap over instances), `public` (mean that the public script
    prints), `n_scored`, `n_total`, `n_missing`, `method`, `status`.
    """
    return _averages(frame.with_columns(case_id=pl.format("{}/{}", "category", "task_id")), DIMENSIONS, ci)


def _averages(frame: pl.DataFrame, order: Iterable[str], ci: Bootstrap | None) -> pl.DataFrame:
    key = ["model", "category", "measure"]
    place = pl.col("measure").replace_strict({m: i for i, m in enumerate(order)})
    tail = ["estimate", "low", "high", "public", "n_scored", "n_total", "n_missing", "method", "status"]

    def averaged(part: pl.DataFrame) -> pl.DataFrame:
        got = mean(part.rename({"measure": "_m"}), ["score"], by=["model", "category", "_m"], ci=ci)
        public = part.group_by(key).agg(pl.col("public").mean())
        both = got.drop("measure").rename({"_m": "measure"}).join(public, on=key, how="left")
        return both.sort("model", "category", place).select(*key, *tail)

    return with_whole(frame, "category", averaged)


def outside_mask(original: Array, edited: Array, mask: NDArray[np.bool_]) -> dict[str, float]:
    """Compare two pictures (height, width, 3; 0 to 255) where nothing should have changed: outside the mask.

    `MSE` and `PSNR` (10 log10(255^2 / MSE), infinite for no difference) over the pixels outside the mask;
    `SSIM` of the pictures with the mask set to black, over the whole picture, as in the public script.

    Notes
    -----
    SSIM (Wang et al. 2004, IEEE Transactions on Image Processing 13, 600-612) with a Gaussian window of
    11 pixels, sigma 1.5, constants 0.01 and 0.03, windows that lie in the picture only. Since black is like
    black, it rises with the size of the mask. The public script for MSE and PSNR first warps the edit onto
    the original (SIFT, homography); here a picture that moved is a difference.
    """
    if original.shape != edited.shape or original.shape[:2] != mask.shape:
        raise ImageError("pictures of different sizes", got=(original.shape, edited.shape, mask.shape))
    if mask.all():
        raise ImageError("the mask covers the whole picture")
    if min(mask.shape) < 11:
        raise ImageError("a picture too small to compare", got=mask.shape, allowed="11 pixels a side or more")
    keep = ~mask
    mse = float(((original - edited)[keep] ** 2).mean())
    one, two = (x / 255 * keep[..., None] for x in (original, edited))
    return {
        "MSE": mse, "PSNR": 10 * math.log10(255**2 / mse) if mse else math.inf,
        "SSIM": float(np.mean([_ssim(one[..., c], two[..., c]) for c in range(one.shape[2])])),
    }  # fmt: skip


def _ssim(a: Array, b: Array) -> float:
    def smooth(x: Array) -> Array:
        return np.asarray(gaussian_filter(x, 1.5, radius=5)[5:-5, 5:-5])

    ma, mb = smooth(a), smooth(b)
    va, vb, both = smooth(a * a) - ma * ma, smooth(b * b) - mb * mb, smooth(a * b) - ma * mb
    c1, c2 = 0.01**2, 0.03**2
    above = (2 * ma * mb + c1) * (2 * both + c2)
    return float((above / ((ma**2 + mb**2 + c1) * (va + vb + c2))).mean())


def pixel_scores(
    edited: str | Path, data: str | Path, *, model: str = "", ci: Bootstrap | None = BOOTSTRAP
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Compare edited pictures with the originals outside the masks (`outside_mask`).

    `edited` is a folder with `<half>/<topic>/<number>_edited.jpg` (or .png), as the public tools want it;
    halves are canva and real, or the names of the public data. As `judged_scores`, for MSE, PSNR, SSIM
    (`public` is null: the public scripts align or refuse first); every instance of the data counts in
    `n_total`. An infinite PSNR is missing, and among the problems.
    """
    root, here = Path(data), Path(edited)
    pictures: dict[tuple[str, str, str], Path] = {}
    for path in sorted(p for p in here.rglob("*_edited.*") if p.suffix.lower() in (".jpg", ".jpeg", ".png")):
        half = next((_PUBLIC_HALVES[p] for p in path.relative_to(here).parts if p in _PUBLIC_HALVES), "")
        pictures[half, path.parent.name, path.stem.removesuffix("_edited").lstrip("0")] = path
    if not pictures:
        raise SchemaError("no edited picture", got=str(here), allowed="<half>/<topic>/<number>_edited.jpg")
    rows: list[tuple[Any, ...]] = []
    problems: list[tuple[str, str, str]] = []
    for row in read(root).records.iter_rows(named=True):
        case, folder = row["case_id"], Path(row["folder"])
        place = (folder.parent.name, folder.name.lstrip("0"))
        found = pictures.get((row["half"], *place)) or pictures.get(("", *place))
        values: dict[str, float] = {}
        try:
            values = _compared(root, row, here, found)
        except ImageError as exc:
            problems.append((case, "not compared", str(exc)))
        if values.get("PSNR") == math.inf:
            problems.append((case, "PSNR infinite", "no pixel outside the mask differs"))
        for name in PIXELS:
            value = values.get(name, math.nan)
            known = value if math.isfinite(value) else None
            rows.append((model or here.resolve().name, folder.parent.name, case, name, known, None))
    return _averages(_scored(rows, "case_id"), PIXELS, ci), listed(problems, *_PROBLEM)


def _compared(root: Path, row: dict[str, Any], here: Path, found: Path | None) -> dict[str, float]:
    def pixels(path: Path) -> Array:
        with opened(path) as (image, _):
            return np.asarray(upright_rgb(image, path.name), dtype=np.float64)

    if found is None:
        raise ImageError("no edited picture")
    if not row["input_image"] or not row["masks"]:
        raise ImageError("no original or no mask")
    original = pixels(inside(root, row["input_image"]))
    size = (original.shape[1], original.shape[0])
    mask: NDArray[np.bool_] = np.any([mask_of(inside(root, name), size) for name in row["masks"]], axis=0)
    return outside_mask(original, pixels(inside(here, found.relative_to(here).as_posix())), mask)


def score(
    folder: str | Path, data: str | Path | None = None, *, model: str = ""
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Score a folder of the public judge's files, or of edited pictures (`data`: the public folder)."""
    here = Path(folder)
    if here.is_dir() and next(here.rglob("*_edited.*"), None) is not None:
        if data is None:
            raise SchemaError("edited pictures, but no data", got=str(here),
                              remedy="add --data FOLDER, the public folder with its masks")  # fmt: skip
        return pixel_scores(here, data, model=model)
    frame, problems = read_judged(here)
    return judged_scores(frame), problems
