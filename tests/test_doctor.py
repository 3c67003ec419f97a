from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest
from PIL import Image
from typer.testing import CliRunner

import icgkit as ig
from icgkit.cli import app
from icgkit.doctor import Finding, examine, report_text, write_checksums


@pytest.fixture
def healthy(project: Path, case: ig.Case) -> Path:
    """A project with one dataset of one case and one cache of two records."""
    folder = project / "data/cases/tiny"
    (folder / "images").mkdir()
    Image.new("RGB", (640, 480)).save(folder / "images/demo.png")
    ig.write_cases([case], folder / "cases.jsonl")
    (folder / "dataset.toml").write_text(
        'name = "tiny"\nversion = "1"\nlicence = "CC0"\nprovenance = "test"\nimage_root = "images"\n'
    )
    pl.DataFrame({"key": ["a", "b"]}).write_parquet(project / "data/cache/offline/calls.parquet")
    write_checksums()
    return project


def named(findings: list[Finding], part: str) -> dict[str, Finding]:
    return {f.what: f for f in findings if f.part == part}


def test_a_healthy_project(healthy: Path) -> None:
    findings = examine()
    assert [f for f in findings if f.status == "broken"] == []
    assert named(findings, "Datasets")["tiny"].detail == "version 1, 1 cases, 2 nodes; all images are there"
    assert named(findings, "Caches")["offline"].detail == "2 records packed"
    assert "all 4 files hold" in named(findings, "Checksums")["data/CHECKSUMS.sha256"].detail
    assert named(findings, "Packages")["polars"].detail == pl.__version__
    assert report_text(findings).endswith("everything that a run needs is in order")
    assert CliRunner().invoke(app, ["doctor"]).exit_code == 0


def test_changed_absent_and_new_files(healthy: Path) -> None:
    data = healthy / "data"
    cases = data / "cases/tiny/cases.jsonl"
    cases.write_text(cases.read_text().replace("starburst", "Starburst"))
    (data / "cases/tiny/images/demo.png").unlink()
    (data / "cache/offline/more.parquet").write_bytes((data / "cache/offline/calls.parquet").read_bytes())
    found = named(examine(), "Checksums")
    assert "has changed" in found["cases/tiny/cases.jsonl"].detail
    assert "is absent" in found["cases/tiny/images/demo.png"].detail
    assert found["files without one"].detail == "1: cache/offline/more.parquet"
    assert named(examine(), "Datasets")["tiny"].status == "broken"
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 1
    assert "BROKEN cases/tiny/cases.jsonl" in result.output


def test_images_that_are_not_shipped_are_no_fault(healthy: Path) -> None:
    toml = healthy / "data/cases/tiny/dataset.toml"
    toml.write_text(toml.read_text() + 'image_root_elsewhere = ["../shared"]\n')
    (healthy / "data/cases/tiny/images/demo.png").unlink()
    found = named(examine(), "Datasets")["tiny"]
    assert (found.status, "set ICGKIT_IMAGES_TINY" in found.detail) == ("note", True)


def test_files_that_cannot_be_read(healthy: Path) -> None:
    (healthy / "data/cases/tiny/cases.jsonl").write_text("{")
    (healthy / "data/cache/offline/calls.parquet").write_bytes(b"PAR1 torn")
    findings = examine()
    assert "line 1" in named(findings, "Datasets")["tiny"].detail
    assert named(findings, "Caches")["offline"].status == "broken"


def test_checksums_are_those_of_sha256sum(healthy: Path) -> None:
    result = CliRunner().invoke(app, ["doctor", "--write-checksums"])
    assert result.output.startswith("4 checksums written")
    text = (healthy / "data/CHECKSUMS.sha256").read_text()
    # SHA-256 of the toml file above, by the form "<64 hex digits>  <path below data/>".
    assert all(len(line.split("  ")[0]) == 64 for line in text.splitlines())
    assert [line.split("  ")[1] for line in text.splitlines()] == sorted(
        [
            "cache/offline/calls.parquet",
            "cases/tiny/cases.jsonl",
            "cases/tiny/dataset.toml",
            "cases/tiny/images/demo.png",
        ]
    )


def test_the_value_of_a_key_is_never_shown(healthy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-value")
    text = report_text(examine())
    assert "OPENAI_API_KEY" in text
    assert "very-secret" not in text


def test_which_providers_have_keys_and_addresses(
    healthy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path(".env").write_text("GROQ_API_KEY=gsk-0123456789\nOPENAI_BASE_URL=http://evil\n", encoding="utf-8")
    for name in ("GROQ_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOSTED_VLLM_API_BASE", "http://localhost:8000/v1")
    monkeypatch.setenv("OLLAMA_API_BASE", "http://me:pw-0123456789@host")
    found = named(examine(), "Keys and addresses")
    assert found["groq"].detail == f"key in GROQ_API_KEY of {Path.cwd() / '.env'}"
    assert found["hosted_vllm"].detail == "no key, HOSTED_VLLM_API_BASE: http://localhost:8000/v1"
    assert found["ollama"].status == "broken"
    assert "OPENAI_BASE_URL" in found[".env"].detail
    assert "openai" not in found
    text = report_text(examine())
    assert "0123456789" not in text
    assert "GROQ_API_KEY" not in os.environ  # it only looks


def test_a_project_without_data(tmp_path: Path) -> None:
    findings = examine(tmp_path)
    assert named(findings, "Datasets")["data/cases"].status == "broken"
    assert named(findings, "Caches")["data/cache"].status == "note"
