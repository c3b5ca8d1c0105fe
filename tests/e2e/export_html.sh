#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The page of export -t html in headless Chromium: a job of several processes, hostile names, 1e6 events.
set -u
. "$(dirname "$0")/lib.sh"
has_unwinder || skip_all 'built without the unwinder'

report export --help | grep -q '^  html .*this build has no' && skip_all 'this build has no zlib'
node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null || skip_all 'no Node 18'
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip_all 'no Chromium'
reports=$(report stats --help | sed -n 's/^ [* ]\([a-z_]*\) .*/\1/p')

if fetch_axe; then
	export AXE="$modules/node_modules/axe-core/axe.min.js"
else
	skip 'axe' 'npm cannot fetch axe-core'
fi

# drive NAME KIND: exports NAME.pillion and drives its page; each line of the driver becomes a check.
drive() {
	mkdir "$1.tables"
	for name in $reports; do
		report stats -q -r "$name" -f csv -o "$1.tables/$name.csv" "$1.pillion" 2>/dev/null
		[ "$(wc -l <"$1.tables/$name.csv")" -gt 1 ] || rm -f "$1.tables/$name.csv"
	done
	report analyze -q -f json "$1.pillion" >"$1.findings.json" 2>err
	report export -q -t html "$1.pillion" 2>err
	is "$? $(grep -cv 'its functions have no names' err)" '0 0' "$1: exported"
	[ -s "$1.html" ] || return
	adopt node "$tests_dir/export_html.mjs" "$chromium" "$2" "$PWD/$1.html" "$PWD/$1.tables"
	like "$(tail -n 1 seen)" 'no request' "$1: driven to the end"
}

cat >job.py <<'END'
import multiprocessing, time

def burn(n):
    return sum(k * k for k in range(n))

def work(i):
    for _ in range(200):
        time.sleep(0.0001 * i)
        burn(2000)

if __name__ == '__main__':
    jobs = [multiprocessing.Process(target=work, args=(i,)) for i in range(1, 5)]
    for j in jobs:
        j.start()
    for j in jobs:
        j.join()
END
pillion -o job -s cpu --sampling-frequency=500 python3 job.py >out 2>err
is "$? $(cat out)" '0 ' 'a Python job with processes'
drive job job
doubles=$PILLION_BUILD_DIR/tests/doubles
if [ -x "$doubles/cuda_launches" ]; then
	LD_LIBRARY_PATH=$doubles pillion -o cuda --osrt-threshold=0 "$doubles/cuda_launches" 50 >out 2>err
	is $? 0 'a CUDA program'
	drive cuda cuda
	LD_LIBRARY_PATH=$doubles pillion -o gemm -t cuda,cublas "$targets/cuda_gemm" 40 sizes >out 2>err
	is $? 0 'products of cuBLAS'
	drive gemm gemm
	if firefox=$(command -v firefox || command -v firefox-esr); then
		adopt node "$tests_dir/export_html_firefox.mjs" "$firefox" cuda.html
		like "$(tail -n 1 seen)" 'a search finds' 'driven to the end in Firefox'
	else
		skip 'the page in Firefox' 'no Firefox'
	fi
else
	skip 'CUDA' 'built without CUDA headers'
fi
"$PILLION_BUILD_DIR/tests/trace-writer" hostile hostile.pillion
drive hostile hostile
if [ -n "${PILLION_TESTS_LONG:-}" ]; then
	"$PILLION_BUILD_DIR/tests/trace-writer" large large.pillion 1000000 8
	drive large large
else
	skip 'a page of 1e6 events' 'scripts/test --long has it'
fi
done_testing
