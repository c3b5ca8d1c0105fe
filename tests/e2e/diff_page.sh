#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The page of diff -f html in headless Chromium: kernels, one of which is slower; three captures of each side; hostile
# names; nothing to compare.
set -u
. "$(dirname "$0")/lib.sh"

report export --help | grep -q '^  html .*this build has no' && skip_all 'this build has no zlib'
writer=$PILLION_BUILD_DIR/tests/trace-writer
for i in 1 2 3; do
	"$writer" steps "old$i.pillion" "$i" 12 0.01 0 0.05 0 1
	"$writer" steps "slow$i.pillion" "2$i" 12 0.01 0 0.05 7 1.45
done
"$writer" hostile hostile.pillion
"$writer" samples few.pillion 300
"$writer" samples many.pillion 400

# ---- without a browser ----

report diff -o worse.html old1.pillion slow1.pillion >out 2>err
is "$? $(cat out)" '1 ' 'an output named .html is the page, status 1'
like "$(cat err)" '^pillion diff: worse: .*layer07_forward' 'the verdict is said'
report diff -f html old1.pillion slow1.pillion 2>err | cmp -s - worse.html
is "$?" 0 '-f html writes the same page'
like "$(sed -n '/<noscript>/,/<\/noscript>/p' worse.html)" 'worse: .*gate 3\.0 %' 'the verdict is in it as text'
report diff -q -f html -o quiet.txt old1.pillion old2.pillion >out 2>err
is "$? $(cat out err)" '0 ' 'not worse: status 0; -q says nothing'
like "$(head -n 1 quiet.txt)" '<!doctype html>' 'a page under another name'
report diff -o /dev/full -f html old1.pillion slow1.pillion >out 2>err
is "$? $(cat err)" '2 pillion diff: /dev/full: No space left on device' 'a full disk: status 2'
report diff -o none.html old1.pillion none.pillion >out 2>err
is "$?" 2 'a capture that does not exist'

# ---- with one ----

node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null || chromium='' why='no Node 18'
[ -n "${why-}" ] || chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
	why='no Chromium'
if fetch_axe; then
	export AXE="$modules/node_modules/axe-core/axe.min.js"
else
	skip 'axe' 'npm cannot fetch axe-core'
fi

# drive NAME OPTION...: makes the page and what it has to agree with, and drives it.
drive() {
	local name=$1
	shift
	report diff -q -o "$name.html" "$@" 2>err
	report diff -q -f json "$@" >"$name.json" 2>err
	adopt node "$tests_dir/diff_page.mjs" "$chromium" "$name" "$PWD/$name.html" "$PWD/$name.json"
	like "$(tail -n 1 seen)" 'no request' "$name: driven to the end"
}

if [ -z "${why-}" ]; then
	drive worse old1.pillion slow1.pillion
	drive three old1.pillion old2.pillion old3.pillion -- slow1.pillion slow2.pillion slow3.pillion
	drive samples few.pillion many.pillion
	drive hostile hostile.pillion hostile.pillion
else
	skip 'the page in Chromium' "$why"
fi
done_testing
