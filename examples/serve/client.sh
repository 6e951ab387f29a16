#!/bin/sh
# A client of `mores serve` with curl: judges a file with one JSON object in each line, and prints judgements as they come.
#
#   sh client.sh texts.jsonl > judgements.jsonl
#
# MORES_URL is the address of the service (http://127.0.0.1:8010), MORES_KEY a key where it needs one. The order is that
# in which texts are judged. Where the service is busy (429, 503), curl waits as long as it says and tries again.
set -eu
if ! [ -f "$1" ] || ! [ -r "$1" ]; then echo "$1: no file that can be read" >&2; exit 1; fi
# The key comes by standard input: what is an argument, everybody on the machine can see.
if [ -n "${MORES_KEY:-}" ]; then printf 'header = "Authorization: Bearer %s"\n' "$MORES_KEY"; fi |
  curl --config - --no-buffer --silent --show-error --fail-with-body --retry 5 \
    --header 'Content-Type: application/x-ndjson' --header 'Accept: application/x-ndjson' \
    --data-binary "@$1" "${MORES_URL:-http://127.0.0.1:8010}/score"
