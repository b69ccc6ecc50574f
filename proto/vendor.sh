#!/usr/bin/env bash
# Copies what a bot needs of the protocol into the kits that generate their types when they are built, so that a kit
# is whole where it is copied to. A test holds the copies against the originals.
set -euo pipefail
cd "$(dirname "$0")"
for kit in rust cpp java/botarena; do
  out="../bots/$kit/proto"
  rm -rf "$out"
  find botarena/games botarena/v1/play.proto -name '*.proto' | while read -r file; do
    install -D -m 644 "$file" "$out/$file"
  done
done
