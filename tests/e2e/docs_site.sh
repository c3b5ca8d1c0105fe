#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The site of docs/ is built without a broken link, and every page is in its navigation.
. "$(dirname -- "$0")/lib.sh"

root=${tests_dir%/tests/*}
timeout $((patience * 2)) "$root/scripts/docs" >out 2>err
status=$?
[ "$status" -ne 77 ] || skip_all "mkdocs-material is out of reach: $(tail -1 err)"
is "$status" 0 'the site is built, and has no broken link'
[ "$status" = 0 ] || diag "$(cat err)"
for page in "$root"/docs/{user,tutorials,how,dev}/*.md; do
	name=${page#"$root/docs/"}
	ok "$name is in the navigation" grep -q "$name" "$root/mkdocs.yml"
	ok "$name is a page" test -s "$root/build-docs/site/${name%.md}.html"
done
for page in "$root"/docs/decisions/*.md; do
	ok "${page##*/} is listed" grep -q "(../decisions/${page##*/})" "$root/docs/dev/decisions.md"
done
ok 'the first ten minutes show the program that they run' diff \
	<(sed -n '/^```python$/,/^```$/p' "$root/docs/user/first-ten-minutes.md" | sed '1d;$d') \
	"$root/examples/tutorials/first.py"
done_testing
