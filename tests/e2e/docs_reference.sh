#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The reference: a page for each verb, report and rule, with the columns that the report has; a text that is missing, or
# that belongs to nothing, is refused.
. "$(dirname -- "$0")/lib.sh"
command -v python3 >/dev/null || skip_all 'no python3'
has_unwinder || skip_all 'built without the unwinder: without lines, the report of lines has no columns'

root=${tests_dir%/tests/*}
mkdir -p tree/docs tree/report/answers tree/runtime/shared/base tree/man
cp -r "$root/docs/reference" tree/docs/
cp -r "$root/scripts" tree/
cp "$root/report/answers/rule_list.h" tree/report/answers/
cp "$root/runtime/shared/base/verb_list.h" tree/runtime/shared/base/
cp "$root/man/pages.txt" tree/man/

pages() {
	timeout "$patience" python3 -B tree/scripts/reference_pages.py out >log 2>&1
}
ok 'the pages are made' pages
[ ! -s log ] || diag "$(cat log)"
for verb in $(report --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'); do
	like "$(cat "out/reference/verbs/$verb.md" 2>/dev/null)" "^Usage: pillion $verb" "pillion $verb has a page"
done
missing=
for name in $(report stats --help-reports | sed -n 's/^ [ *]\([a-z0-9_]*\) .*/\1/p'); do
	[ "$(grep -c '^## ' "out/reference/reports/$name.md")" = 5 ] || missing="$missing $name"
done
is "$missing" '' 'every report has a page with all parts'
missing=
for name in $(report analyze --help | sed -n '/^Rules/,/^Exit/s/^  \([a-z_]*\)  .*/\1/p'); do
	[ "$(grep -c '^## ' "out/reference/rules/$name.md")" = 3 ] || missing="$missing $name"
done
is "$missing" '' 'every rule has a page with all parts'
like "$(cat out/reference/reports/osrt_sum.md)" '^\| Med \(ns\) \| the median \|$' 'columns have meanings'

sed -i '/^\[osrt_sum\]$/,/^$/d' tree/docs/reference/reports.txt
not_ok 'a report without texts is refused' pages
like "$(cat log)" 'osrt_sum' 'and named'
cp "$root/docs/reference/reports.txt" tree/docs/reference/
printf '[no_rule]\nhow: x\nwrong: y\n' >>tree/docs/reference/rules.txt
not_ok 'texts of a rule that does not exist are refused' pages
like "$(cat log)" 'no rule no_rule' 'and named'
done_testing
