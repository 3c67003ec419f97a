"""The litellm provider `offline`: model name and messages in, completion out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icgforge.baselines.baselines import MODELS
from icgkit.errors import UnknownName

if TYPE_CHECKING:
    from litellm.llms.custom_llm import CustomLLM
    from litellm.types.utils import ModelResponse

JUDGES: dict[str, str] = {
    "judge": "matches words, values and concepts of node and response",
    "judge-strict": "asks for more overlap and for the concrete value",
    "pixels": "compares the pixels of an edited diagram with a reference",
    "sees-change": "takes any change of a place in an edited picture for the right one",
    "reads-edit": "reads the text of places in an edited picture with OCR",
}
"""Name below `offline/` to what the judge does."""


def reply(model: str, messages: list[dict[str, Any]]) -> str:
    """Return the text that an offline model or judge answers.

    Parameters
    ----------
    model : str
        With or without `offline/` before it.
    messages : list of dict
        Chat messages in OpenAI form; images as data URLs.

    Raises
    ------
    UnknownName
        If there is no such model.
    """
    name = model.removeprefix("offline/")
    if name == "pixels":
        from icgforge.baselines.pixels import pixel_reply

        return pixel_reply(messages)
    if name in ("sees-change", "reads-edit"):
        from icgforge.baselines.edit_judge import edit_reply

        return edit_reply(messages, reads=name == "reads-edit")
    if name in JUDGES:
        from icgforge.baselines.judge import judge_reply

        return judge_reply(messages, strict=name == "judge-strict")
    if name not in MODELS:
        raise UnknownName.among("offline model", name, [*MODELS, *JUDGES])
    from icgforge.baselines.abstain import rewrite_or_decline, rewrites
    from icgforge.baselines.answer import answer
    from icgforge.baselines.stages import stage_answer
    from icgforge.baselines.task import read_task

    task = read_task(messages)
    if rewrites(task):
        return rewrite_or_decline(name, task)
    text = stage_answer(name, task)
    return answer(name, task) if text is None else text


def register() -> None:
    """Make `offline/...` models callable through litellm; calling it again changes nothing."""
    import litellm

    known = [p for p in litellm.custom_provider_map if p.get("provider") != "offline"]
    if len(known) == len(litellm.custom_provider_map):
        litellm.custom_provider_map = [*known, {"provider": "offline", "custom_handler": _handler()}]
        from litellm.utils import custom_llm_setup

        custom_llm_setup()  # type: ignore[no-untyped-call]


def _respond(model: str, messages: list[dict[str, Any]]) -> ModelResponse:
    from litellm.types.utils import Choices, Message, ModelResponse, Usage

    text = reply(model, messages)
    words = len(text.split())
    said = sum(len(str(m.get("content"))) for m in messages if isinstance(m.get("content"), str)) // 4
    # Nothing random or timed, so that the same answers give the same bytes in a cache.
    return ModelResponse(
        id="offline",
        created=0,
        model=model,
        choices=[Choices(finish_reason="stop", index=0, message=Message(content=text, role="assistant"))],
        usage=Usage(prompt_tokens=said, completion_tokens=words, total_tokens=said + words),
    )


def _handler() -> CustomLLM:
    from litellm.llms.custom_llm import CustomLLM

    class Offline(CustomLLM):
        """Answers in process."""

        def completion(self, *args: Any, **kwargs: Any) -> ModelResponse:
            return _respond(kwargs["model"], kwargs["messages"])

        async def acompletion(self, *args: Any, **kwargs: Any) -> ModelResponse:
            return _respond(kwargs["model"], kwargs["messages"])

    return Offline()
