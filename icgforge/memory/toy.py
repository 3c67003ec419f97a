"""A small file in UniKE's form, and a linear memory whose edits, answers and images can be computed.

    python -m icgforge.memory.toy

writes data/bench/unike: `edits.json` (the file) and `outcomes.jsonl` (recorded outputs). The memory
stands for no model: a key comes from subject and wording, a matrix maps it to a value, an editor changes
the matrix with the formulas of `icgforge.memory.edit`, and a frozen projection of it conditions the
"image". Its noise levels were set by hand so that a cascade appears: it exercises the scores and the
formulas, and says nothing of any model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icgforge.memory import edit
from icgkit.bench.unike.files import Edits, load_edits
from icgkit.bench.unike.scores import load_outcomes
from icgkit.errors import SchemaError
from icgkit.files import project_root

if TYPE_CHECKING:
    import polars as pl

Floats = NDArray[np.float64]
MODEL = "toy/linear-memory"
EDITORS = {"unconstrained": 0.0, "softened 0.7": 0.7, "null space": 1.0}
"""Name of an editor to the alpha of its projector."""
D_IN, D_OUT, D_IMAGE = 96, 64, 24
"""Sizes of key, value and conditioning: the conditioning keeps 24 of 64, as 1,536 of 4,096."""
FACTS, BATCH = 60, 5
NOISE = {"completion": (0.0, 2.4, 2.5, 3.0), "rationale": (1.4, 1.6, 1.8, 2.2), "image": (2.6, 3.0, 3.0, 3.4)}
"""How far the wording of each stage turns the key away from the subject."""
PRIOR = 0.25
"""How strongly the image leans to the original value, whatever is asked."""

# subject, original, target, scene of stage 2, company at stage 3, product at stage 4
ATTRIBUTES: dict[str, tuple[tuple[str, ...], ...]] = {
    "color": (
        ("lemon", "yellow", "purple", "on a breakfast table", "between a knife and a glass of water", "lemon sorbet"),
        ("carrot", "orange", "blue", "in a garden bed", "beside a rake and a basket", "carrot soup"),
        ("flamingo", "pink", "green", "in a shallow lake", "among ducks and reeds", "flamingo feather fan"),
    ),
    "material": (
        ("anvil", "iron", "glass", "in a smithy", "among hammers and tongs", "anvil fragment"),
        ("rowing boat", "wood", "paper", "at a jetty", "between two swans and a buoy", "rowing boat plank"),
    ),
    "pattern": (
        ("zebra", "stripes", "checks", "on a dry plain", "among antelopes and birds", "zebra hide rug"),
        ("ladybird", "dots", "zigzag", "on a leaf", "beside an ant and a drop of dew", "ladybird wing case"),
    ),
    "shape": (
        ("football", "sphere", "cube", "on a lawn", "between two goalposts and a whistle", "football leather cover"),
        ("obelisk", "pillar", "ring", "in a square", "behind a bench and pigeons", "obelisk souvenir"),
    ),
    "size": (
        ("mouse", "tiny", "enormous", "shoe", "bucket", "mouse trap"),
        ("whale", "huge", "minute", "kettle", "chair", "whale figurine"),
    ),
}  # fmt: skip
# subject, original, target, role in the image, scene
RELATIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "affiliation": (
        ("Mara Lindqvist", "Harbour FC", "Rovers United", "the player in the photo", "A photo of Mara Lindqvist in full kit on the pitch."),
        ("Orla Byrne", "North Line", "Blue Star", "the pilot in the photo", "A portrait of Orla Byrne beside an aircraft, tail in view."),
    ),
    "creator": (
        ("the Teal motorcycle", "Vanto", "Kestrel", "the motorcycle in the photo", "A close view of the Teal motorcycle with the maker's logo on the tank."),
        ("the Argo phone", "Nimbus", "Halcyon", "the phone in the photo", "The back of the Argo phone on a desk, logo in view."),
    ),
    "location": (
        ("Varga Bridge", "Norway", "Japan", "the bridge in the photo", "A wide view of Varga Bridge with the streets around."),
        ("Solen Tower", "Chile", "Egypt", "the tower in the photo", "Solen Tower seen from the square at noon."),
    ),
    "occupation": (
        ("Tomas Reyes", "baker", "firefighter", "the person in the photo", "A photo of Tomas Reyes at work."),
        ("Ines Okafor", "judge", "diver", "the person in the photo", "A photo of Ines Okafor on the job, tools in hand."),
    ),
}  # fmt: skip
_ASKED = {
    "affiliation": "plays or works for",
    "creator": "was made by",
    "location": "stands in",
    "occupation": "works as a",
}
_WORD = {"color": "color", "material": "material", "pattern": "pattern", "shape": "shape"}


def records() -> list[dict[str, Any]]:
    """Return the small file: 11 attribute edits with four stages, 8 relation edits."""
    out = []
    for category, edits in ATTRIBUTES.items():
        for subject, gt, target, scene, company, product in edits:
            make = _size_stages if category == "size" else _attribute_stages
            stages = make(category, subject, gt, target, scene, company, product)
            out.append({"subject": subject, "category": category, "source": "attribute"} | stages)
    for category, relations in RELATIONS.items():
        for subject, gt, target, role, image in relations:
            stage = _stage(
                f"{subject[0].upper()}{subject[1:]} {_ASKED[category]}", gt, target, image,
                f"The {role.removeprefix('the ')} must show {target}.",
                f"Which {category} does {role} show?",
            )  # fmt: skip
            out.append({"subject": subject, "category": category, "source": "relation", "stage_1": stage})
    return out


def _stage(prompt: str, gt: str, target: str, image: str, visual: str, question: str) -> dict[str, str]:
    return {
        "prompt": prompt, "gt": gt, "gt_target": target, "image_prompt": image, "visual_target": visual,
        "vqa_question": question,
    }  # fmt: skip


def _attribute_stages(
    category: str, subject: str, gt: str, target: str, scene: str, company: str, product: str
) -> dict[str, dict[str, str]]:
    word = _WORD[category]
    where = ((subject, ""), (subject, f" {scene}"), (subject, f" {company}"), (product, ""))
    return {
        f"stage_{i}": _stage(
            f"The {word} of the {thing}{place} is", gt, target, f"A photo of the {thing}{place}.",
            f"The {thing} in the image must have the {word} {target}.",
            f"What {word} does the {thing} in this image have?",
        )
        for i, (thing, place) in enumerate(where, 1)
    }  # fmt: skip


def _size_stages(
    category: str, subject: str, gt: str, target: str, first: str, second: str, product: str
) -> dict[str, dict[str, str]]:
    grows = target == "enormous"
    things = ((subject, first), (subject, first), (subject, second), (product, second))
    out = {}
    for i, (thing, other) in enumerate(things, 1):
        larger, smaller = (thing, other) if grows else (other, thing)
        before, after = (gt, target) if i == 1 else (smaller, larger)
        prompt = (
            f"The usual size of the {thing} is"
            if i == 1
            else f"Between the {thing} and the {other}, the larger one is the"
        )
        out[f"stage_{i}"] = _stage(
            prompt, before, after, f"A photo of the {thing} next to the {other}.",
            f"The {larger} in the image must appear much larger than the {smaller}.",
            f"Which is larger in this image, the {thing} or the {other}?",
        )  # fmt: skip
    return out


def _unit(vector: Floats) -> Floats:
    return np.asarray(vector / np.linalg.norm(vector))


class Memory:
    """Keys for wordings, values for words, a weight that maps one to the other, a frozen projection."""

    def __init__(self, instances: pl.DataFrame, seed: int = 42) -> None:
        rng = np.random.default_rng(seed)
        self.rows = list(instances.iter_rows(named=True))
        words = sorted({w for r in self.rows for w in (r["gt"], r["gt_target"])})
        self.values = {w: _unit(rng.normal(size=D_OUT)) for w in words}
        self.projection = rng.normal(size=(D_IMAGE, D_OUT)) / np.sqrt(D_OUT)
        subjects = {e: _unit(rng.normal(size=D_IN)) for e in dict.fromkeys(r["edit_id"] for r in self.rows)}
        self.keys = {
            (r["instance_id"], use): _unit(
                subjects[r["edit_id"]] + steps[r["stage"] - 1] * _unit(rng.normal(size=D_IN))
            )
            for r in self.rows
            for use, steps in NOISE.items()
        }
        others = rng.normal(size=(D_IN, FACTS)) / np.sqrt(D_IN)
        self.known = others
        firsts = [r for r in self.rows if r["stage"] == 1]
        keys = np.column_stack([others, *(self.keys[r["instance_id"], "completion"] for r in firsts)])
        aims = np.column_stack(
            [rng.normal(size=(D_OUT, FACTS)) / np.sqrt(D_OUT), *(self.values[r["gt"]] for r in firsts)]
        )
        self.fresh = np.asarray(aims @ keys.T @ np.linalg.inv(keys @ keys.T + 0.01 * np.eye(D_IN)))

    def edited(self, alpha: float, *, epsilon: float = 0.0, max_ratio: float = 0.5) -> Floats:
        """Return the weight after all stage-1 edits, in batches, one after the other."""
        moment = edit.regularised(edit.second_moment(self.known), epsilon)
        projector = edit.softened(edit.null_projector(moment, threshold=1e-3), alpha)
        weight, cached = self.fresh.copy(), None
        firsts = [r for r in self.rows if r["stage"] == 1]
        for start in range(0, len(firsts), BATCH):
            batch = firsts[start : start + BATCH]
            keys = np.column_stack([self.keys[r["instance_id"], "completion"] for r in batch])
            aims = np.column_stack([self.values[r["gt_target"]] for r in batch])
            change = edit.layer_update(keys, aims - weight @ keys, projector, cached=cached, lam=0.1)
            weight = weight + edit.clipped(change, self.fresh, max_ratio)
            cached = edit.add_keys(cached, keys)
        return weight

    def decode(self, signal: Floats, row: dict[str, Any], *, image: bool = False) -> str:
        """Return the word of the same category whose value is closest to a signal."""
        options = sorted(
            {w for r in self.rows if r["category"] == row["category"] for w in (r["gt"], r["gt_target"])}
        )
        options = [
            w
            for w in options
            if row["category"] != "size" or row["stage"] == 1 or w in (row["gt"], row["gt_target"])
        ]
        shown = [self.projection @ self.values[w] if image else self.values[w] for w in options]
        best: str = options[int(np.argmax([_unit(v) @ _unit(signal) for v in shown]))]
        return best


def outcomes(instances: pl.DataFrame, *, seed: int = 42) -> Iterator[dict[str, Any]]:
    """Yield recorded outputs of the memory after each editor, under both protocols.

    The judge's reply is written in the JSON form of the paper, some with the verdict as a word in
    quotes, one in forty cut off, as happens with real judges.
    """
    memory = Memory(instances, seed)
    for editor, alpha in EDITORS.items():
        weight = memory.edited(alpha)
        for number, row in enumerate(memory.rows):
            asked = {use: weight @ memory.keys[row["instance_id"], use] for use in NOISE}
            completion, thought = (memory.decode(asked[u], row) for u in ("completion", "rationale"))
            scene = asked["image"] + PRIOR * memory.values[row["gt"]]
            plain = memory.projection @ scene
            told = memory.projection @ (scene + 0.4 * memory.values[thought])
            for protocol, signal in (("direct", plain), ("reasoning_augmented", told)):
                seen = memory.decode(signal, row, image=True)
                yield {
                    "instance_id": row["instance_id"], "model": MODEL, "editor": editor, "protocol": protocol,
                    "completion": completion,
                    "rationale": thought if protocol == "reasoning_augmented" else None,
                    "verdict": _verdict(seen, row["gt_target"], number),
                }  # fmt: skip


def _verdict(seen: str, target: str, number: int) -> str:
    right = seen == target
    reply = {
        "observation": f"The image shows {seen}.",
        "matches_target": str(right).lower() if number % 5 == 0 else right,
        "confidence": "high", "explanation": f"asked for {target}",
    }  # fmt: skip
    text = json.dumps(reply)
    return text[:30] if number % 40 == 17 else text


def retention_curve(instances: pl.DataFrame, *, seed: int = 42) -> pl.DataFrame:
    """Compute rho(k) of the memory's frozen projection for each editor, beside the expectation k / n.

    Returns
    -------
    polars.DataFrame
        `editor`, `k`, `share` (k over n), `rho` (mean over the instances), `low`, `high` (quartiles),
        `expected`.
    """
    import polars as pl

    memory = Memory(instances, seed)
    keys = np.column_stack([memory.keys[r["instance_id"], "image"] for r in memory.rows])
    parts = []
    for editor, alpha in EDITORS.items():
        rho = edit.retention(memory.projection, (memory.edited(alpha) - memory.fresh) @ keys)
        k = np.arange(1, len(rho) + 1)
        low, high = np.quantile(rho, [0.25, 0.75], axis=1)
        expected = [edit.expected_retention(int(i), D_OUT) for i in k]
        columns = {
            "k": k,
            "share": k / D_OUT,
            "rho": rho.mean(axis=1),
            "low": low,
            "high": high,
            "expected": expected,
        }
        parts.append(pl.DataFrame(columns).select(pl.lit(editor).alias("editor"), pl.all()))
    return pl.concat(parts)


def drifts(instances: pl.DataFrame, *, seed: int = 42) -> dict[str, float]:
    """Compute for each editor the relative drift of the conditioning signal."""
    memory = Memory(instances, seed)
    keys = np.column_stack([memory.keys[r["instance_id"], "image"] for r in memory.rows])
    before = memory.projection @ memory.fresh @ keys
    return {e: edit.drift(before, memory.projection @ memory.edited(a) @ keys) for e, a in EDITORS.items()}


def make(out: str | Path) -> None:
    """Write the file and the recorded outputs to a folder."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(records(), indent=1, ensure_ascii=False)
    (out / "edits.json").write_text(text + "\n", encoding="utf-8", newline="\n")
    lines = [json.dumps(r, ensure_ascii=False) for r in outcomes(load_edits(out / "edits.json").instances)]
    (out / "outcomes.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def load_toy(folder: str | Path | None = None) -> tuple[Edits, pl.DataFrame]:
    """Read the small file and the marked outputs from `data/bench/unike`, or from another folder."""
    folder = Path(folder) if folder is not None else project_root() / "data" / "bench" / "unike"
    if not (folder / "edits.json").is_file():
        raise SchemaError(
            f"{folder.name}: no edits.json", remedy="make it with: python -m icgforge.memory.toy"
        )
    edits = load_edits(folder / "edits.json")
    return edits, load_outcomes(folder / "outcomes.jsonl", edits.instances)


if __name__ == "__main__":
    make(project_root() / "data" / "bench" / "unike")
