#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pillion mcp and pillion skill. mcp_client.py speaks the protocol itself; then the public client, the package mcp,
# does: it is fetched once per build directory, unless MCP_PYTHON names a Python that has it.
. "$(dirname -- "$0")/lib.sh"

command -v python3 >/dev/null || skip_all 'no python3'
like "$(report skill)" '^description: .*slow' 'skill prints the page'
is "$(report skill | awk 'length > 120')" '' 'its lines are short'
report mcp run.pillion >out 2>err </dev/null
is "$?" 2 'mcp takes no captures'
report mcp >out 2>err </dev/null
if grep -q sqlite err; then
	done_testing
	exit
fi
is "$? $(wc -c <out)" '0 0' 'without a request it says nothing'

writer=$PILLION_BUILD_DIR/tests/trace-writer
"$writer" example run.pillion
"$writer" hostile hostile.pillion
"$writer" nvtx large.pillion 20000
for side in before after; do
	"$writer" steps $side.pillion ${#side} 12 0.01 0 0.05 0 1
done
"$writer" steps slower.pillion 9 12 0.01 0 0.05 7 1.45
seq 1 130 | sed 's/^/layer() # /' >train.py
touch -d 2000-01-01 train.py # older than the capture: what it executed
adopt python3 "$tests_dir/mcp_client.py" raw "$PILLION" mcp

if from_pypi MCP_PYTHON mcp mcp; then
	for mode in auto legacy; do
		adopt "$python" "$tests_dir/mcp_client.py" "$mode" "$PILLION" mcp
	done
else
	skip 'the public client' "$why"
fi
done_testing
