/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_flight_sum, nccl_inspector_sum: dumps of PyTorch's flight recorder and of NCCL's inspector, which are given
 * beside captures. report/read/dumps/dumps_store.h has the tables. */
#include "report/read/dumps/dumps.h"
#include "report/tables/report.h"

#define KEY "grp, members, p2p, seq, pair"

/* seat: the ranks of each group. fact: what each of them did in each of the group's collectives: 0 to 2 as call.state,
 * -1: it has not entered it, NULL: not known, because there is no dump, or a full buffer has lost the group's calls. */
static const char flight_sql[] =
	"WITH key AS (SELECT " KEY ", min(rank), op, sizes, place FROM call GROUP BY " KEY "),"
	" seat AS (SELECT grp, members, cast(m.value AS INTEGER) AS rank"
	"   FROM (SELECT DISTINCT grp, members FROM position WHERE members <> '') g, json_each(g.members) m"
	"  UNION SELECT grp, members, rank FROM position),"
	" fact AS (SELECT k.grp, k.members, k.p2p, k.seq, k.pair, seat.rank, p.last, c.op,"
	"   CASE WHEN c.rank IS NOT NULL THEN c.state"
	"    WHEN d.rank IS NULL OR (p.rank IS NULL AND d.first > 0) THEN NULL"
	"    WHEN p.last >= k.seq THEN CASE WHEN p.done >= k.seq THEN 2 ELSE 0 END"
	"    ELSE -1 END AS state"
	"  FROM key k JOIN seat ON seat.grp = k.grp AND seat.members = k.members"
	"  LEFT JOIN call c ON c.grp = k.grp AND c.members = k.members AND c.p2p = k.p2p AND c.seq = k.seq"
	"   AND c.pair = k.pair AND c.rank = seat.rank"
	"  LEFT JOIN position p ON p.grp = k.grp AND p.members = k.members AND p.rank = seat.rank"
	"  LEFT JOIN dump d ON d.rank = seat.rank"
	"  WHERE NOT k.p2p OR c.rank IS NOT NULL),"
	/* One finding for each place where ranks stopped, and one for operations that differ. */
	" finding AS (SELECT " KEY ", group_concat(text, '; ') AS text FROM ("
	"   SELECT f.grp, f.members, f.p2p, f.seq, f.pair,"
	"    CASE WHEN count(*) > 1 THEN 'ranks ' ELSE 'rank ' END || rank_list(f.rank)"
	"    || CASE WHEN count(*) > 1 THEN ' have' ELSE ' has' END || ' not entered it; the last one entered: '"
	"    || CASE WHEN coalesce(f.last, -1) < 0 THEN 'none' ELSE f.last || coalesce(' ' || l.op, '')"
	"     || coalesce(' at ' || l.place, '') END AS text"
	"   FROM fact f LEFT JOIN call l ON l.grp = f.grp AND l.members = f.members AND NOT l.p2p AND l.seq = f.last"
	"    AND l.pair = '' AND l.rank = f.rank"
	"   WHERE f.state = -1 GROUP BY f.grp, f.members, f.p2p, f.seq, f.pair, f.last, l.op, l.place"
	"   UNION ALL"
	"   SELECT " KEY ", 'operations differ: ' || group_concat(op || ' of ' || ranks, ', ') FROM ("
	"    SELECT " KEY ", op, rank_list(rank) AS ranks FROM call GROUP BY " KEY ", op ORDER BY min(rank))"
	"   GROUP BY " KEY " HAVING count(*) > 1)"
	"  GROUP BY " KEY ")"
	" SELECT k.grp, k.seq, k.op, k.sizes, count(*), rank_list(CASE WHEN f.state >= 0 THEN f.rank END),"
	"  rank_list(CASE WHEN f.state >= 1 THEN f.rank END), rank_list(CASE WHEN f.state = 2 THEN f.rank END),"
	"  rank_list(CASE WHEN f.state = -1 THEN f.rank END), rank_list(CASE WHEN f.state IS NULL THEN f.rank END),"
	"  k.place, n.text"
	" FROM key k JOIN fact f USING (" KEY ") LEFT JOIN finding n USING (" KEY ")"
	" GROUP BY " KEY
	" ORDER BY n.text IS NULL, min(coalesce(f.state, 2)) = 2, k.grp, k.members, k.p2p, k.seq, k.pair";

static void dumps_fill(const struct report_context *c, enum dump_kind kind, const char *sql, const char *none,
		       struct table *table)
{
	struct err err;

	if (!c->dumps)
		table_lacks(table, "%s", none);
	else if (dumps_have(c->dumps, kind) && dumps_select(c->dumps, sql, table, &err))
		table_lacks(table, "%s", err.text);
}

void report_nccl_flight_sum(const struct report_context *c, struct table *table)
{
	table_has(table, COL_PROCESS_GROUP, COL_SEQUENCE, COL_OPERATION, COL_INPUT_SIZES, COL_RANKS, COL_ENTERED,
		  COL_STARTED, COL_COMPLETED, COL_NOT_ENTERED, COL_NOT_KNOWN, COL_LINE, COL_FINDING);
	dumps_fill(c, DUMP_FLIGHT, flight_sql, "no dump of PyTorch's flight recorder is given", table);
}

/* A class of sizes begins at a power of two; it is counted up to without logarithms, which not every SQLite has. */
static const char inspector_sql[] =
	"WITH RECURSIVE power(low) AS (SELECT 1 UNION ALL SELECT low * 2 FROM power WHERE low < 1 << 60),"
	" each AS (SELECT comm, max(name) AS name, max(ranks) AS ranks, op, coalesce(low, 0) AS low, rank,"
	"   count(*) AS count, sum(us) * 1000 AS total, min(us) * 1000 AS least, max(us) * 1000 AS most,"
	"   avg(bus) AS bus, avg(us) * 1000 AS mean"
	"  FROM perf LEFT JOIN power ON size >= low AND size < low * 2 GROUP BY comm, op, low, perf.rank),"
	" slow AS (SELECT comm, op, low, min(rank) AS rank FROM each JOIN (SELECT comm, op, low, max(mean) AS mean"
	"   FROM each GROUP BY comm, op, low) USING (comm, op, low, mean) GROUP BY comm, op, low),"
	" fast AS (SELECT comm, op, low, min(rank) AS rank FROM each JOIN (SELECT comm, op, low, min(mean) AS mean"
	"   FROM each GROUP BY comm, op, low) USING (comm, op, low, mean) GROUP BY comm, op, low)"
	" SELECT comm, name, max(ranks), op, low, sum(count), sum(total) * 1.0 / sum(count), min(least), max(most),"
	"  round(sum(bus * count) / sum(CASE WHEN bus IS NOT NULL THEN count END), 3),"
	"  slow.rank, max(mean), fast.rank, min(mean)"
	" FROM each JOIN slow USING (comm, op, low) JOIN fast USING (comm, op, low)"
	" GROUP BY comm, op, low ORDER BY sum(total) DESC, comm, op, low";

void report_nccl_inspector_sum(const struct report_context *c, struct table *table)
{
	table_has(table, COL_COMMUNICATOR, COL_NAME, COL_RANKS, COL_OPERATION, COL_BYTES_FROM, COL_NUM_CALLS,
		  COL_AVG_NS, COL_MIN_NS, COL_MAX_NS, COL_BUS_GB_PER_S, COL_SLOWEST_RANK_NUMBER, COL_SLOWEST_AVG_NS,
		  COL_FASTEST_RANK, COL_FASTEST_AVG_NS);
	dumps_fill(c, DUMP_INSPECTOR, inspector_sql, "no output of NCCL's inspector is given", table);
}
