#!/usr/bin/env bash
# Writes the Python stubs into the SDK's package, their only home. An old grpcio-tools is pinned on purpose: generated code
# refuses a protobuf runtime older than its generator, and bot authors have all sorts of runtimes.
set -euo pipefail
cd "$(dirname "$0")"
out="${1:-../bots/python}"
mapfile -t files < <(find botarena -name '*.proto' | sort)
"${UV:-uv}" run --no-project --isolated --python 3.11 \
  --with grpcio-tools==1.66.2 --with mypy-protobuf==3.6.0 --with 'setuptools<81' \
  python -m grpc_tools.protoc -I. --python_out="$out" --mypy_out="quiet:$out" --grpc_python_out="$out" --mypy_grpc_out="quiet:$out" "${files[@]}"
# protoc writes stubs for services only; files without one get an empty *_pb2_grpc, which nobody needs.
grep -L 'class .*Stub' $(find "$out/botarena" -name '*_pb2_grpc.py') | xargs -r rm -f
find "$out/botarena" -name '*_pb2_grpc.pyi' | while read -r f; do [ -f "${f%.pyi}.py" ] || rm -f "$f"; done
find "$out/botarena" -name '*_pb2.py' -printf '%h\n' | sort -u | while read -r d; do
  while [ "$d" != "$out/botarena" ]; do touch "$d/__init__.py"; d=$(dirname "$d"); done
done
