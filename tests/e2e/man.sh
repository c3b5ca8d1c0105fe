#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Manual pages: one for each program and verb, with the sections that users look for; their examples run as printed.
. "$(dirname -- "$0")/lib.sh"

pages=$PILLION_BUILD_DIR/man
verbs=$("$PILLION_BUILD_DIR/report/pillion-report" --help | sed -n 's/^  \([a-z][a-z]*\) .*/pillion-\1/p')
for page in pillion pillion-report $verbs; do
	is "$(grep -cE '^\.SH (NAME|SYNOPSIS|DESCRIPTION|EXIT STATUS|ENVIRONMENT|EXAMPLES|SEE ALSO)$' \
		"$pages/$page.1")" 7 "$page(1) has all sections"
	if command -v man >/dev/null; then
		ok "$page(1) can be shown" env MANWIDTH=80 man --local-file "$pages/$page.1"
	fi
done
like "$(cat "$pages/pillion-doctor.1")" '0 a plain recording works, 1 it does not' 'the exit status is that of --help'

# The examples, in their order: the first records run.pillion.
mkdir bin
printf '#!/bin/sh\nexec "%s" "$@"\n' "$PILLION" >bin/pillion
printf '#!/bin/sh\nexec "%s/report/pillion-report" "$@"\n' "$PILLION_BUILD_DIR" >bin/pillion-report
chmod +x bin/*
while read -r command; do
	env PATH="$work/bin:$PATH" timeout "$patience" sh -c "$command" >out 2>err </dev/null
	status=$?
	if grep -q 'built without\|needs \(sqlite\|zlib\|zstd\)' err; then
		skip "$command" "$(head -1 err)"
	elif [ "$status" -le 1 ] || { [[ $command = *' diff '* ]] && [ "$status" = 2 ] && [ -s out ]; }; then
		# diff cannot judge two captures this short, and says so
		pass "$command"
	else
		fail "$command" "status $status" "$(cat err)"
	fi
done < <(sed -n 's/^\$ //p' "${tests_dir%/tests/*}/man/pages.txt")
done_testing
