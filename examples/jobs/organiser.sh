#!/bin/sh
# An organiser lets twenty volunteers mark what is wrong in forty answers, on their phones, and takes the results home.
# The same in the browser, step by step: docs/volunteers.md. Run it in an empty folder:
#     sh /path/to/mores/examples/jobs/organiser.sh            # prints the links, and serves until Ctrl-C
#     sh /path/to/mores/examples/jobs/organiser.sh results    # what was marked, as a folder and a page
set -e
here=$(dirname "$0")

if [ "$1" != results ]; then
    cat > campaign.yaml <<'END'
kind: marking
title: Weddings
languages: [en]
regions: [JP, IN, NG]
markers: 2          # people who mark each answer
validated: false    # nobody checks the marks again
consent: We publish what you mark, without names.
END
    mores studio --database weddings.db new campaign.yaml > made.txt
    read -r campaign < made.txt
    mores studio --database weddings.db import "$campaign" "$here/weddings.csv"
    mores studio --database weddings.db invite "$campaign" annotator --uses 20 | tee invitation.txt
    [ "$1" = prepare ] || mores studio --database weddings.db --model none --no-demo --share
else
    read -r campaign < made.txt
    mores studio --database weddings.db export "$campaign" marked
    mores show marked/judgements.jsonl --by Country --by Model --html marked.html
fi
