#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The timeline of the page of export -t html in headless Chromium: the legend, what rows without events tell, the order
# of the tracks, files by name, the holder of a lock and what ended a wait, ranks as an image, slow steps, and on the
# simulated GPU how busy it was.
set -u
. "$(dirname "$0")/lib.sh"
has_unwinder || skip_all 'built without the unwinder'

report export --help | grep -q '^  html .*this build has no' && skip_all 'this build has no zlib'
node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null || skip_all 'no Node 18'
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip_all 'no Chromium'

if fetch_axe; then
	export AXE="$modules/node_modules/axe-core/axe.min.js"
else
	skip 'axe' 'npm cannot fetch axe-core'
fi

# drive NAME: exports NAME.pillion and drives its page.
drive() {
	report export -q -t html "$1.pillion" 2>err
	is "$?" 0 "$1: exported"
	adopt node "$tests_dir/page_timeline.mjs" "$chromium" "$1" "$PWD/$1.html"
	like "$(tail -n 1 seen)" 'no request' "$1: driven to the end"
}

pillion -o waits --wakes=true --osrt-threshold=0 \
	bash -c 'env true; env true; dd if=/dev/zero of=written.bin bs=1M count=4 conv=fsync; exec "$0"' \
	"$targets/wakes" >out 2>err
is "$?" 0 'a program whose threads wait for each other, after one that writes a file'
drive waits
"$PILLION_BUILD_DIR/tests/trace-writer" ranks ranks.pillion 4 2 50
drive ranks
"$PILLION_BUILD_DIR/tests/trace-writer" steps steps.pillion 1 1 0 0 3 0 1
drive steps
doubles=$PILLION_BUILD_DIR/tests/doubles
if [ -x "$doubles/cuda_launches" ]; then
	LD_LIBRARY_PATH=$doubles pillion -o cuda --osrt-threshold=0 "$doubles/cuda_launches" 50 >out 2>err
	is $? 0 'a CUDA program'
	drive cuda
else
	skip 'CUDA' 'built without CUDA headers'
fi
done_testing
