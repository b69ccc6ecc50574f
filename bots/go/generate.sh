#!/usr/bin/env bash
# Writes the stubs into arenapb, their only home (or, with an argument, into another folder). Needs buf and the Go tools,
# which are pinned in buf.gen.yaml.
set -euo pipefail
cd "$(dirname "$0")"
PATH="$PWD/../../.venv/bin:$PATH"
buf generate -o "${1:-.}"
