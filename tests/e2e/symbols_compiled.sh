#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Code that was compiled while the program ran has names where its virtual machine wrote /tmp/perf-PID.map: with lines
# where the names have them, also in a capture that kept them; a file that another process left is not believed; and
# without one the summary says so.
. "$(dirname -- "$0")/lib.sh"

has_unwinder || skip_all 'built without the unwinder'

# recorded NAME [ARGUMENT...]: records the program, which prints the path of its map.
recorded() {
	local name=$1
	shift
	PILLION_STATS=summary pillion -f true -s cpu -o "$name" "$targets/compiled" "$@" >path 2>summary
}

lines() {
	report stats -r lines -f csv "$1" 2>/dev/null
}

recorded unnamed
like "$(tr -s '\n ' ' ' <summary)" 'no names +/tmp/perf-PID.map, if the program wrote it, would give what is compiled' \
	'without a map'
recorded named 'JS:*work file:///srv/job.js:12:7'
map=$(cat path)
like "$(cat summary)" 'job\.js:12 \(?work' 'the summary names the line'
like "$(lines named.pillion)" ',/srv/job\.js:12,work' 'and so do tables'
report stats --keep-symbols named.pillion >out 2>&1
rm -f "$map"
like "$(lines named.pillion)" ',/srv/job\.js:12,work' 'names are kept in the capture'
recorded java 'int Example.sum(int[])'
like "$(lines java.pillion)" ',[?]*,int Example\.sum\(' 'a name without a line'
rm -f "$(cat path)"
unlike "$(lines java.pillion)" 'Example' 'without the file it is not known'
recorded old 'JS:*work /srv/job.js:12:7' old
unlike "$(lines old.pillion)" 'job\.js' 'a file from before the process is of another one'
rm -f "$(cat path)"

if node=$(command -v node) && "$node" --perf-basic-prof -e 0 2>/dev/null; then
	cat >work.js <<-'J'
		function work(n) { let x = 0; for (let i = 0; i < n; i++) x += i % 7; return x }
		const until = process.cpuUsage().user + 600000
		while (process.cpuUsage().user < until)
		    work(1e6)
		console.log(`/tmp/perf-${process.pid}.map`)
	J
	PILLION_STATS=summary pillion -s cpu -o bare "$node" work.js >path 2>summary
	like "$(tr -s '\n ' ' ' <summary)" 'no names +node --perf-basic-prof gives what is compiled' \
		'how Node names them'
	PILLION_STATS=summary pillion -s cpu -o node "$node" --perf-basic-prof work.js >path 2>summary
	like "$(cat summary)" 'work\.js:1 \(?work' 'a function of JavaScript'
	rm -f "$(cat path)"
	cat >store.js <<-'J'
		const fs = require('fs')
		function store(text) {
		    const file = fs.openSync('stored', 'w')
		    fs.writeSync(file, text)
		    fs.fsyncSync(file)
		    fs.closeSync(file)
		}
		for (let i = 0; i < 400; i++)
		    store('x'.repeat(1000))
		console.log(`/tmp/perf-${process.pid}.map`)
	J
	PILLION_STATS=false pillion -o store "$node" --perf-basic-prof store.js >path 2>err
	report stats -q -r lines -f csv store.pillion >lines
	like "$(grep -E ',(store|uv__fs_fsync)$' lines | head -1)" 'store\.js:[0-9]+,store$' \
		'calls that JavaScript makes are at its lines, not at those of the virtual machine'
	like "$(report analyze -r file_flush store.pillion)" 'store\.js:[0-9]+ store' 'and so are findings'
	rm -f "$(cat path)"
else
	skip 'functions of JavaScript' 'no node'
fi
done_testing
