"""The real cases: complete, consistent with their images where these are at hand, and audited."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from statsmodels.stats.proportion import proportion_confint

from icgkit.cases.dataset import Dataset, load_annotations, load_audit, load_dataset, sha256_of
from icgkit.files import project_root
from icgkit.metrics import agreement, graph_agreement
from icgkit.taxonomy import CATEGORIES, SUBTYPES

QUESTIONS = ("exists", "region", "update", "reason")
PASSES = ("second pass", "independent pass")
FOLDER = project_root() / "data" / "cases" / "icg-teb"


@pytest.fixture(scope="module")
def teb() -> Dataset:
    return load_dataset("icg-teb")


@pytest.fixture(scope="module")
def audit() -> list[dict[str, str]]:
    return _rows("audit.csv")


def _rows(name: str) -> list[dict[str, str]]:
    with open(FOLDER / name, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _keys(rows: list[dict[str, str]]) -> set[tuple[str, str]]:
    return {(row["case_id"], row["node_id"]) for row in rows}


@pytest.fixture(scope="module")
def card() -> str:
    return (FOLDER / "README.md").read_text(encoding="utf-8")


def test_size_and_coverage(teb: Dataset) -> None:
    assert len({case.image for case in teb}) >= 300
    assert sum(case.metadata.get("second_instruction", False) for case in teb) >= 100
    assert sum(node.where == "else" for case in teb for node in case.constraint_nodes) >= 900
    assert all(1 <= len(case.constraint_nodes) <= 10 for case in teb)
    assert any(case.inter_constraints for case in teb)
    found = {node.subtype for case in teb for node in case.constraint_nodes}
    assert len(found) >= 14
    assert {SUBTYPES[name].category for name in found} == set(CATEGORIES)


def test_every_node_is_filled_in(teb: Dataset) -> None:
    for case in teb:
        assert case.target.bbox, case.id
        assert case.image_sha256, case.id
        for node in case.constraint_nodes:
            assert node.bbox, (case.id, node.id)
            assert node.region_clean, (case.id, node.id)
            assert node.reason_anon, (case.id, node.id)


def test_cleaned_texts_hold_no_edited_word_and_tell_the_places_apart(teb: Dataset) -> None:
    def words(text: str) -> set[str]:
        return set(re.findall(r"[^\W\d_]{4,}|\d+|[\u4e00-\u9fff]", text.lower())) - {"first"}

    for case in teb:
        places = [node.region_clean or "" for node in case.constraint_nodes]
        assert len(set(places)) == len(places), (case.id, places)
        for node in case.constraint_nodes:
            shown = words(f"{node.region_clean} {node.reason_anon}")
            assert not words(case.target.element) & shown, (case.id, node.id, shown)


def test_anonymised_reasons_hold_no_number_and_no_quotation(teb: Dataset) -> None:
    for case in teb:
        for node in case.constraint_nodes:
            text = (node.reason_anon or "").replace("'s", "")
            assert not re.search(r"[0-9\"“”‘']", text), (case.id, node.id, text)
            assert set(re.findall(r"\[(.*?)\]", text)) <= {"TARGET", "X", "Y", "Z", "W"}, (case.id, node.id)


def test_origin_of_each_instruction_is_recorded(teb: Dataset) -> None:
    for case in teb:
        meta = case.metadata
        assert meta["instruction_from"] in {"texteditbench", "icgkit"}, case.id
        assert meta["teb_id"], case.id
        assert f"data_{meta['half']}/{meta['folder']}/" in case.image, case.id
    first = [case.image for case in teb if not case.metadata.get("second_instruction")]
    assert len(set(first)) == len(first)


def test_no_image_is_committed() -> None:
    assert {p.suffix for p in FOLDER.rglob("*") if p.is_file()} <= {".jsonl", ".toml", ".csv", ".md"}


def test_images_have_the_recorded_size_and_checksum(teb: Dataset) -> None:
    from PIL import Image, ImageOps

    if not (Path(project_root()) / ".." / "shared" / "data" / "texteditbench").is_dir():
        pytest.skip("the images of TextEditBench are not beside this checkout")
    assert not teb.missing_images()
    for case in teb:
        assert sha256_of(case.image_path) == case.image_sha256, case.id
        with Image.open(case.image_path) as image:
            assert ImageOps.exif_transpose(image).size == case.image_size, case.id


def test_each_pass_audits_every_node_of_version_1_that_it_found(
    teb: Dataset, audit: list[dict[str, str]]
) -> None:
    first, second = ([row for row in audit if row["annotator"] == name] for name in PASSES)
    assert len(audit) == len(first) + len(second)
    assert len(_keys(first)) == len(first)
    assert len(_keys(second)) == len(second)
    # The second one found what the first had left
    assert _keys(second) == _keys([row for row in first if row["repaired"] != "removed"])
    assert {case_id for case_id, _ in _keys(second)} <= {case.id for case in teb}


def test_audit_answers_and_repairs(audit: list[dict[str, str]]) -> None:
    for row in audit:
        independent = row["annotator"] == PASSES[1]
        answers = [row[q] for q in (*QUESTIONS, *(["subtype"] if independent else []))]
        assert set(answers) <= {"yes", "no"}, row
        failed = "no" in answers
        assert (row["repaired"] in {"yes", "removed"}) == failed, row
        assert row["note"] or not failed, row
        assert bool(row["decision"]) == (failed and independent), row


def test_data_card_gives_the_audit_as_it_is(audit: list[dict[str, str]], card: str) -> None:
    parts = [[row for row in audit if row["annotator"] == name] for name in PASSES]
    names = " | ".join(rf"[^|]*: yes of {len(part)}" for part in parts)
    assert re.search(rf"\| question \| {names} \|", card)
    for question in QUESTIONS:
        cells = " | ".join(_cell([row[question] == "yes" for row in part]) for part in parts)
        assert re.search(rf"\| {question}:[^|]*\| {re.escape(cells)} \|", card), question
    cells = " | ".join(_cell([_sound(row) for row in part]) for part in parts)
    assert f"| all four | {cells} |" in card
    assert f"| not asked | {_cell([row['subtype'] == 'yes' for row in parts[1]])} |" in card


def _sound(row: dict[str, str]) -> bool:
    return all(row[q] == "yes" for q in QUESTIONS)


def _cell(answers: list[bool]) -> str:
    low, high = proportion_confint(sum(answers), len(answers), method="wilson")
    return f"{sum(answers)}: {100 * sum(answers) / len(answers):.1f} % ({100 * low:.1f}–{100 * high:.1f})"


def test_data_card_gives_the_agreement_as_it_is(card: str) -> None:
    answers = load_audit(load_dataset("icg-teb"))
    assert answers is not None
    answers = answers.with_columns(pl.all_horizontal(QUESTIONS).alias("all four"))
    key = ["dataset", "case_id", "node_id"]
    long = answers.unpivot([*QUESTIONS, "all four"], index=[*key, "annotator"], variable_name="question")
    got = agreement(long, rater="annotator", value="value", by="question", on=key, ci=None)
    assert got.height == 5
    for row in got.iter_rows(named=True):
        assert row["n_pairs"] == 260
        numbers = " | ".join(f"{row[c]:.2f}".replace("-", "−") for c in ("kappa", "ac1", "pabak"))
        assert f"| {row['question']} | {100 * row['raw']:.1f} % | {numbers} |" in card


def test_data_card_counts_repairs_as_they_are(audit: list[dict[str, str]], card: str) -> None:
    first, second = ([row for row in audit if row["annotator"] == name] for name in PASSES)
    repairs = Counter(row["repaired"] for row in second)
    failed = repairs["yes"] + repairs["removed"]
    assert (repairs["removed"], failed) == (7, 38)
    assert f"{failed} nodes failed on some question or on the subtype. Seven were removed" in card
    assert f" and {repairs['yes']} repaired" in card
    changed = _keys([row for row in first if row["repaired"] == "yes"])
    same = [row for row in second if (row["case_id"], row["node_id"]) not in changed]
    assert f"{len(changed)} of the {len(second)} nodes were repaired between the passes" in card
    doubted = sum(not _sound(row) for row in same)
    assert (
        f"Of the other {len(same)}, to which the author said yes throughout, the readers doubted {doubted}."
        in card
    )
    missing = _rows("missing.csv")
    added = [row for row in missing if not row["decision"].startswith("not added")]
    assert f"named something in {len(missing)} cases. 15 nodes were added in {len(added)} of these" in card


def test_the_audit_is_read_as_answers() -> None:
    frame = load_audit(load_dataset("icg-teb"))
    assert frame is not None
    # 262 nodes were there for the second pass, 260 for the independent one; the data card's counts of yes
    yes = frame.group_by("annotator").agg(pl.len(), pl.col(QUESTIONS).sum()).sort("annotator")
    assert yes.rows() == [
        ("independent pass", 260, 247, 248, 251, 252),
        ("second pass", 262, 258, 260, 252, 252),
    ]


def _lines(card: str, head: str) -> str:
    return card.split(head, 1)[1].split("\n\n", 2)[1]


def test_data_card_counts_nodes_as_they_are(teb: Dataset, card: str) -> None:
    nodes = [(case, node) for case in teb for node in case.constraint_nodes]
    parts = {w: [node for _, node in nodes if node.where == w] for w in ("else", "target")}
    heads = {
        "else": "Nodes elsewhere than on the edited text, by subtype:",
        "target": "Nodes on the edited text:",
    }
    for where, own in parts.items():
        table, count = _lines(card, heads[where]), Counter(node.subtype for node in own)
        for name in CATEGORIES:
            subtypes = {k: count[k] for k, s in SUBTYPES.items() if s.category == name}
            (line,) = re.findall(
                rf"^\| {name.replace('_', '-')} \| {sum(subtypes.values())} \| (.*) \|$", table, re.MULTILINE
            )
            for subtype, n in subtypes.items():
                assert f"{SUBTYPES[subtype].label.lower()} {n}" in line, subtype
    weak = sum(node.strength == "weak" for _, node in nodes)
    sizes = [len(case.constraint_nodes) for case in teb]
    second = sum(case.metadata.get("second_instruction", False) for case in teb)
    assert f"| cases | {len(teb)}, on {len({c.image for c in teb})} images; {second} are a second" in card
    assert (
        f"| {len(nodes)} ({len(nodes) - weak} strong, {weak} weak), {min(sizes)} to {max(sizes)} a case |"
        in card
    )
    head = sum(any(n.where == "else" for n in case.constraint_nodes) for case in teb)
    assert f"| {len(parts['else'])}, in {head} cases: what tables count |" in card
    assert f"| {len(parts['target'])}: how its letters have to be drawn" in card
    chain = Counter(min(3, case.chain(node.id)) for case, node in nodes if node.where == "else")
    assert f"| 1: {chain[1]}, 2: {chain[2]}, 3 or more: {chain[3]} |" in card
    edges = [len(case.inter_constraints) for case in teb]
    assert f"| edges between nodes | {sum(edges)}, in {sum(map(bool, edges))} cases |" in card
    public = sum(case.metadata["instruction_from"] == "texteditbench" for case in teb)
    assert f"| instructions | {public} taken from TextEditBench, {len(teb) - public} written here" in card
    clean = sum(bool(node.region_clean) for _, node in nodes)
    assert f"the last two for {clean} of {len(nodes)} nodes" in card


def test_two_annotators_wrote_every_case_and_the_card_gives_their_agreement(teb: Dataset, card: str) -> None:
    written = load_annotations(teb)
    assert written is not None
    ids = {case.id for case in teb}
    assert set(written["case_id"]) <= ids
    pairs: dict[tuple[str, str], set[str]] = {("blind 1", "blind 2"): set(), ("author", "blind"): set()}
    for case_id, who in written.select("case_id", "annotator").unique().iter_rows():
        next(cases for pair, cases in pairs.items() if who in pair).add(case_id)
    assert not set.intersection(*pairs.values())
    assert len(set.union(*pairs.values())) >= len(ids) - 5, "one who names nothing leaves no row"
    for pair in pairs:
        first, second = (written.filter(annotator=who, where="else") for who in pair)
        rows = {r["measure"]: r for r in graph_agreement(first, second).iter_rows(named=True)}
        cells = [f"{r['estimate']:.3f} ({r['low']:.3f}–{r['high']:.3f})" for r in rows.values()]
        counts = [str(rows["existence"][n]) for n in ("n_first", "n_second", "n_matched")]
        assert " | ".join([*counts, *cells]) in card, pair


def test_every_decision_of_the_adjudication_is_there(teb: Dataset) -> None:
    rows = _rows("adjudication.csv")
    assert {row["decision"] for row in rows} == {"kept", "left out"}
    kept = Counter(row["case_id"] for row in rows if row["decision"] == "kept")
    assert kept == Counter({case.id: len(case.constraint_nodes) for case in teb})
    alone = [
        row
        for row in rows
        if row["named_by"] in ("author", "blind", "blind 1", "blind 2") and row["decision"] == "kept"
    ]
    assert alone, "what one annotator alone named is kept where the adjudicator found it forced"
    assert sum(bool(row["why"]) for row in alone) > len(alone) / 2


def test_nodes_say_what_was_disputed(teb: Dataset) -> None:
    fields = Counter(field for case in teb for node in case.constraint_nodes for field in node.disputed)
    assert set(fields) == {"existence", "subtype", "region", "where"}
