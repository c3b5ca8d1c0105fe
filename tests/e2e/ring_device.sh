#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --ring with a GPU: of what is kept, each call has its device record, with its name; samples and counters are there.
. "$(dirname -- "$0")/lib.sh"

on_doubles
[ -x "$targets/cuda_steps" ] || skip_all 'built without NVTX headers'

overwritten() {
	report stats -q -r ledger -f csv live.pillion 2>/dev/null | grep -q 'overwritten by the ring'
}

PILLION_STATS=false setsid "$PILLION" -o live --ring=2s --osrt-threshold=0 -s cpu --counters=host \
	"$targets/cuda_steps" 100000000 >out 2>err </dev/null &
group=$!
disown
eventually overwritten
is "$(report dump live)" "$(readlink -f .)/live.dump1.pillion" 'a dump'
kill -KILL -- "-$group"
report export -q -t sqlite -o dump.sqlite live.dump1.pillion >out 2>err
is "$? $(cat err)" '0 ' 'it can be read, and nothing in it is damaged'
python3 - >out <<'END'
import sqlite3
db = sqlite3.connect("dump.sqlite")
one = lambda query: db.execute(query).fetchone()[0]
db.execute("CREATE VIEW ops AS " + " UNION ALL ".join(
    "SELECT correlationId, start, end FROM CUPTI_ACTIVITY_KIND_" + kind for kind in ("KERNEL", "MEMCPY", "MEMSET")))
db.execute("CREATE VIEW calls AS SELECT correlationId, start FROM CUPTI_ACTIVITY_KIND_RUNTIME "
           "JOIN StringIds ON nameId = id "
           "WHERE value LIKE '%cudaLaunchKernel%' OR value LIKE 'cudaMemcpy%' OR value LIKE 'cudaMemset%'")
first, last = db.execute("SELECT min(correlationId), max(correlationId) FROM ops WHERE correlationId IN "
                         "(SELECT correlationId FROM calls)").fetchone()
between = "correlationId BETWEEN %d AND %d" % (first, last)
print("calls", one("SELECT count(*) > 1000 FROM calls WHERE " + between), one(
    "SELECT count(*) FROM calls WHERE %s AND correlationId NOT IN (SELECT correlationId FROM ops)" % between))
print("ops", one(
    "SELECT count(*) FROM ops WHERE %s AND correlationId NOT IN (SELECT correlationId FROM calls)" % between))
# what the device still did when the time that is kept began
print("early", one("SELECT count(*) < 8 FROM ops WHERE correlationId < %d" % first))
print("names", " ".join(sorted(row[0] for row in db.execute(
    "SELECT DISTINCT value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON demangledName = id WHERE " + between))))
END
is "$(sed -n 1p out)" 'calls 1 0' 'each call has its device record'
is "$(sed -n 2p out)" 'ops 0' 'each device record has its call'
is "$(sed -n 3p out)" 'early 1' 'what the device did before the time that is kept is left out'
is "$(sed -n 4p out)" 'names other() void work<2>(float*)' 'kernels have their names'
like "$(report stats -q -r sample_sum -f csv live.dump1.pillion)" ',step,' 'samples are kept'
like "$(report stats -q -r counter_sum -f csv live.dump1.pillion)" ',CPU busy,' 'counters are kept'
done_testing
