#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Captures of released versions are readable for ever: their tables are those that the version itself made.
. "$(dirname -- "$0")/lib.sh"

captures=${tests_dir%/tests/*}/tests/data/captures
cat >compare.py <<'END_OF_PYTHON'
"""Each row of the older table is in the newer one, by the columns of the older one."""
import csv, sys
older, newer = (list(csv.DictReader(open(path, encoding="utf-8"))) for path in sys.argv[1:3])
assert older and len(older) == len(newer), f"{len(older)} rows before, {len(newer)} now"
for row in older:
    missing = set(row) - set(newer[0])
    assert not missing, f"columns are missing: {missing}"
    assert any(all(other[name] == value for name, value in row.items()) for other in newer), f"not there: {row}"
END_OF_PYTHON
for packed in "$captures"/*/*.pillpack; do
	version=$(basename "$(dirname "$packed")")
	name=$(basename "$packed" .pillpack)
	report info -q "$packed" >out 2>err
	status=$?
	! grep -q 'libzstd' err || skip_all 'built without libzstd'
	is "$status $(cat err)" '0 ' "$version $name: info"
	report unpack -q -o "$version-$name.pillion" "$packed" >out 2>err
	is "$? $(cat err)" '0 ' "$version $name: unpack"
	for table in "${packed%.pillpack}".*.csv; do
		wanted=${table#"${packed%.pillpack}."}
		report stats -q -r "${wanted%.csv}" -f csv "$packed" >now.csv 2>err
		ok "$version $name: ${wanted%.csv}" python3 compare.py "$table" now.csv
		report stats -q -r "${wanted%.csv}" -f csv "$version-$name.pillion" >again.csv 2>err
		ok "$version $name: ${wanted%.csv}, unpacked" cmp now.csv again.csv
	done
done
ok 'there are captures' test "$count" -gt 10
done_testing
