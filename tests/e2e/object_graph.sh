#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The objects of libpillion.so call each other in one direction: their graph, as nm shows it, has no cycle.
. "$(dirname -- "$0")/lib.sh"

command -v nm >/dev/null || skip_all 'no nm'
command -v tsort >/dev/null || skip_all 'no tsort'
objects=$PILLION_BUILD_DIR/preload/libpillion.so.p
[ -d "$objects" ] || skip_all 'the build directory has no objects'

# graph: "OBJECT OBJECT" for each symbol that the first uses from the second.
graph() {
	(cd "$objects" && find . -name '*.o' -exec nm -A {} +) | awk '
		{ sub(/^.*\//, "", $1); split($1, part, ":"); object = part[1]; kind = $(NF - 1); name = $NF }
		kind ~ /^[TDBRVWCGS]$/ { from[name] = object }
		kind ~ /^[Uvw]$/ { needs[object " " name] = 1 }
		END {
			for (need in needs) {
				split(need, part, " ")
				if (part[2] in from && from[part[2]] != part[1])
					print part[1], from[part[2]]
			}
		}' | sort -u
}

graph >graph.txt
ok 'the objects refer to each other' test "$(wc -l <graph.txt)" -gt 100
is "$(tsort graph.txt 2>&1 >/dev/null | grep -v 'input contains a loop' | sed 's/^tsort: //')" '' \
	'the graph of objects has no cycle'
# A test of the check: one reference back makes a cycle.
awk 'NR == 1 { print $2, $1 } { print }' graph.txt >back.txt
unlike "$(tsort back.txt 2>&1 >/dev/null)" '^$' 'a reference back is found'
done_testing
