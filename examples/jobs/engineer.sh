#!/bin/sh
# An engineer puts a gate into CI and runs the judge as a service. Run it in an empty folder:
#     sh /path/to/mores/examples/jobs/engineer.sh
set -e
here=$(dirname "$0")
cp "$here/weddings.facts.csv" facts.csv
head -n 8 "$here/weddings.csv" > texts.csv

# What the build reached last time.
mores score texts.csv --evidence facts.csv --out baseline

# The gate: it fails when texts have become worse or have major errors, and leaves a report for the CI's page.
sed -i "s/,white,/,black,/" texts.csv
if mores score texts.csv --evidence facts.csv --out now --baseline baseline --fail-on major --junit junit.xml --annotations
then echo "the gate passed"; else echo "the gate failed with exit code $?"; fi

# The service.
port=${PORT:-8010}
mores serve --evidence facts.csv --port "$port" > serve.log 2>&1 &
service=$!
trap 'kill $service' EXIT
for _ in $(seq 120); do curl --silent --fail "localhost:$port/ready" > ready.json && break; sleep 0.5; done
curl --silent --show-error --fail "localhost:$port/score" --header 'Content-Type: application/json' \
    --data '{"instruction": "What colour does a Hindu bride usually wear?", "text": "black", "region": "IN"}' | tee judgement.json
