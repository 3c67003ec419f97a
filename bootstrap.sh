#!/usr/bin/env bash
# Make .venv from requirements.lock (exact versions, checked hashes), once; a second call does nothing.
set -euo pipefail
cd "$(dirname "$0")"
stamp=.venv/.installed
if [ ! -f "$stamp" ] || [ requirements.lock -nt "$stamp" ] || [ pyproject.toml -nt "$stamp" ]; then
    "${PYTHON:-python3}" -m venv .venv
    # uv checks the hashes of all the rest, so its own is checked first, by pip.
    awk '/^[A-Za-z]/ { on = /^uv==/ } on' requirements.lock >.venv/uv.txt
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r .venv/uv.txt
    .venv/bin/uv pip install --quiet --python .venv/bin/python --require-hashes --no-deps -r requirements.lock
    .venv/bin/uv pip install --quiet --python .venv/bin/python --no-deps --no-build-isolation --editable .
    touch "$stamp"
fi
