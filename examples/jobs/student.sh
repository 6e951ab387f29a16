#!/bin/sh
# A student has 40 answers of two models about weddings in three countries in a CSV, and wants a page, the result by
# country and by model, a figure and a table for a paper, and what to cite. Run it in an empty folder:
#     sh /path/to/mores/examples/jobs/student.sh
set -e
here=$(dirname "$0")
cp "$here/weddings.csv" "$here/weddings.facts.csv" .

mores score weddings.csv --evidence weddings.facts.csv --by Country --by Model --out weddings --html weddings.html
mores show weddings --by Country --figures figures
mores cite weddings
