"""Run every reader of replies on hostile texts of 200,000 characters; prints a line before each reader.

Started by test_fuzz_replies.py under a hard bound of processor time: a reader whose work grows with the square
of the text does not come back within it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

N = 200_000
SEEDS = (
    "[", "{", '{"a":', '["', '"', "\\", '\\"', '{"a":"', "[1,", "[[1],", '{"id":"n1","met":true}', "[] ", "{} ", "-", "- ",
    "*", "- a *", "** **", "|", "|-", "| a | b |\n", " ", "\n", " \n", "\t", "1", "9.", "score: 1 ", "score: ", "score:1/",
    "n1 ", "n1: ", "\nn1: VALID", "not ", "valid ", "not valid ", "no path ", "no path leads ", "there is no ", "if ", "? ",
    "<think>", "</think>", "\n</think>\n", "<think", "[THINK]", "<|channel|>", "<|channel|>final<|message|>", "analysis",
    "<|", "`", "```json\n", "> ", "a: ", "region: ", "region:", "\nregion : **", "- region: a\n  why: b\n", "says ", "says {",
    'The answer says {"n1": true} ', "\u200b", "\u0301\u0323", "\ufdfa", "\uff1a", "\u84dd", "e\u0301", "#", "1. ", "(a) ", "nothing ", "x",
)  # fmt: skip


THIN = frozenset({
    "read_json, keys", "read_edit_verdict", "read_stance", "unike.read_verdict", "read_false_node", "kept_candidates",
    "leakage", "fence", "read_verdicts", "read_refusal", "split_items",
})  # fmt: skip
"""Readers that add little to read_json or strip_thinking: every tenth text is enough."""


def texts() -> Iterator[str]:
    """Yield texts of N characters, each of one piece, with a head and a tail that make readers go on."""
    heads = ("", "|region|\n", "score: ", '{"verdicts": [', "- a ", "n1: ", "blue ")
    for k, seed in enumerate(SEEDS):
        body = (seed * (N // len(seed)))[: N - 40]
        yield heads[k % len(heads)] * (k % 2) + body + ("x", ' {"n1": true}', " or 5")[k % 3]
    for head, fill in (
        ("|region|\n", "-"),
        ("score: ", "1"),
        ("- a ", "*"),
        ('{"a": ', "1"),
        ('{"a": "', "\\"),
        ("no path ", " "),
    ):
        yield head + fill * (N - 40) + "x"


def readers() -> dict[str, Callable[[str], object]]:
    """Return every reader by name."""
    from icgforge.baselines.judge import judge_reply
    from icgkit.bench.dod import judges as dod_judges
    from icgkit.bench.unike import files as unike
    from icgkit.bench.unike import scores as unike_scores
    from icgkit.judge.ask import fence
    from icgkit.judge.probes import read_agreement, read_guess
    from icgkit.prompts.proposals import read_proposals, split_items
    from icgkit.prompts.replies import read_json, read_labels, read_score, read_verdicts, strip_thinking
    from icgkit.study.chains import kept_candidates, read_false_node
    from icgkit.untrusted import too_deep

    def offline(text: str) -> str:
        asked = 'Constraints:\n[{"id": "n1", "region": "the lid", "expected_update": "reads 30", "reason": "the same price"}]\n'
        shown = fence(text)
        words = f"{asked}<<<RESPONSE {shown['mark']}>>>\n{shown['response']}\n<<<END {shown['mark']}>>>"
        return judge_reply([{"role": "user", "content": words}], strict=False)

    return {
        "strip_thinking": strip_thinking,
        "read_json": read_json,
        "read_json, keys": lambda t: read_json(t, "object", ["a", "met"]),
        "read_verdicts": lambda t: read_verdicts(t, [f"n{k}" for k in range(20)], ["met"]),
        "read_labels": lambda t: read_labels(t, [f"n{k}" for k in range(20)]),
        "read_score": lambda t: read_score(t, "score", 0, 2),
        "read_proposals": read_proposals,
        "split_items": split_items,
        "too_deep": too_deep,
        "states_refusal": dod_judges.states_refusal,
        "read_refusal": lambda t: dod_judges.read_refusal(t, t),
        "read_edit_verdict": dod_judges.read_edit_verdict,
        "read_stance": lambda t: dod_judges.read_stance(t, t),
        "unike.read_verdict": unike.read_verdict,
        "unike.says": lambda t: unike_scores.says(t, "blue", "red"),
        "read_false_node": read_false_node,
        "kept_candidates": lambda t: kept_candidates(["a"], t),
        "read_agreement": read_agreement,
        "read_guess": read_guess,
        "fence": fence,
        "offline judge": offline,
    }


if __name__ == "__main__":
    import resource
    import sys
    import time

    readers()  # what is imported does not count
    used = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(used + float(sys.argv[1])),) * 2)
    for name, read in readers().items():
        print(name, f"{time.process_time() - used:.1f}", flush=True)
        for k, text in enumerate(texts()):
            if name not in THIN or k % 10 == 0:
                read(text)
    print("done", f"{time.process_time() - used:.1f}", flush=True)
