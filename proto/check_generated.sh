#!/usr/bin/env bash
# Fails unless the committed stubs are what generate.sh writes from the committed protocol.
set -euo pipefail
cd "$(dirname "$0")"
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
./generate.sh "$fresh" >/dev/null 2>&1 || { ./generate.sh "$fresh"; exit 1; }
cd "$fresh"
status=0
while read -r file; do
  cmp -s "$file" "$OLDPWD/../bots/python/$file" || { echo "out of date: bots/python/$file; run 'make proto'"; status=1; }
done < <(find botarena -name '*_pb2*' | sort)
exit $status
