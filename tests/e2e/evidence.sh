#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# scripts/evidence: each entry of tests/evidence.txt names a command that exists and a text that has a date; the page
# has all of them.
. "$(dirname -- "$0")/lib.sh"
command -v python3 >/dev/null || skip_all 'no python3'

root=${tests_dir%/tests/*}
mkdir -p tree/docs
cp -r "$root/scripts" tree/
mkdir -p tree/tests/gpu
cp "$root"/tests/*.txt "$root"/tests/*.md "$root"/tests/*.tsv tree/tests/
cp "$root/tests/gpu/README.md" tree/tests/gpu/
cp -r "$root/docs/decisions" tree/docs/
ok 'the page is made' timeout "$patience" python3 -B tree/scripts/evidence
missing=
while read -r heading; do
	grep -qxF "### $heading" "$root/docs/evidence.md" || missing="$missing, $heading"
done < <(sed -n 's/^### //p' tree/docs/evidence.md)
is "$missing" '' 'docs/evidence.md has every entry: scripts/evidence writes it'
while read -r command; do
	ok "$command exists" test -f "$root/$command"
done < <(sed -n 's/^run: //p' "$root/tests/evidence.txt" | sort -u)
sed -i 's/^from: tests\/README.md#Planted jobs$/from: tests\/README.md#No such heading/' tree/tests/evidence.txt
not_ok 'a section that is gone is refused' timeout "$patience" python3 -B tree/scripts/evidence
done_testing
