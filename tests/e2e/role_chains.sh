#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A wait for a thread that waits itself is followed to the end of the chain: the line of the main thread says what the
# last thread does, and where.
set -u
. "$(dirname "$0")/lib.sh"

has_unwinder || skip_all 'built without the unwinder'

# runs TITLE COMMAND...: its status, and the summary's line with the title
runs() {
	pillion -f -o run -s cpu --sampling-source=signal "${@:2}" >out 2>err
	echo "$? $(report stats --summary run.pillion 2>/dev/null | grep -E "^$1 ")"
}

for depth in 2 3; do
	last=$([ "$depth" = 2 ] && echo second || echo third)
	while read -r way end; do
		like "$(runs "(main|chains)" "$targets/chains" "$depth" "$way")" \
			"^0 .*waits for thread $last \\($end\\) in pthread_cond_wait chains.c:[0-9]+ main" \
			"C, $depth helpers, $way: the end of the chain and its line"
	done <<-END
		sleep nanosleep chains.c:[0-9]+ nap
		read read chains.c:[0-9]+ slow_read
		compute CPU chains.c:[0-9]+ compute
	END
	while read -r way end; do
		like "$(runs main python3 "$tests_dir/../targets/python/chains.py" "$depth" "$way")" \
			"^0 .*waits for a thread \\($end\\) in [a-z_]+ chains.py:[0-9]+ <module>" \
			"Python, $depth helpers, $way: the end of the chain and its line"
	done <<-END
		sleep [a-z_]*sleep chains.py:[0-9]+ work
		read [a-z0-9_]+ chains.py:[0-9]+ slow_read
		compute CPU chains.py:[0-9]+ compute
	END
done
# A helper that does not end counts as idle and has no line of its own.
like "$(runs '(main|chains)' "$targets/chains" 2 stay)" \
	'^0 .*waits for thread second \(nanosleep chains.c:[0-9]+ nap\) in pthread_cond_wait chains.c:[0-9]+ main' \
	'the end of the chain is a helper that does not end'
done_testing
