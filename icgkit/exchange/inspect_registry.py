"""What Inspect finds by its entry point: `inspect eval icgkit/constraints -T dataset=NAME -T condition=ID`."""

from __future__ import annotations

from inspect_ai import Task, task

from icgkit.exchange.inspect_tasks import make_task


@task
def constraints(dataset: str = "icg-teb", condition: str = "nl_self", templates: str = "") -> Task:
    """Ask which further changes an edit forces: one condition of icgkit over one dataset."""
    return make_task(dataset, condition, templates=templates or None)
