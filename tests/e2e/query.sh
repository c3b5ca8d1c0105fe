#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pillion query: the rows are those of the sqlite export and of the reports, whatever a statement asks for.
set -u
. "$(dirname "$0")/lib.sh"

report query --help >/dev/null || exit 1
pillion -o run --osrt-threshold=0 --osrt-backtrace-threshold=0 "$targets/osrt" 5 >out 2>err
is $? 0 'a program with calls and stacks'
report export -q -t sqlite run.pillion 2>err || skip_all 'this build has no sqlite'

query() { # SQL [OPTION]...
	local sql=$1
	shift
	report query -f csv "$@" run.pillion "$sql" 2>err
}

pillion -o bare -s none -t none true >out 2>err
is "$(report query bare.pillion '.schema lines' 2>&1)" 'lines("nothing was recorded" TEXT)' \
	'.schema of a report without data is a declaration'
is "$(report query -f csv bare.pillion 'SELECT COUNT(*) FROM lines' 2>&1 | tail -n 1)" 0 'which has no rows'
rm -r bare.pillion
is "$(report query '.schema osrt_sum' 2>err | grep -c '^osrt_sum(.*)$') $(cat err)" '1 pillion query: run.pillion' \
	'without CAPTURE it is the newest one'

# ---- as the database ----

python=$(command -v python3) || skip_all 'no python3'
# same TEXT SQL: both give the same rows
same() {
	query "$2" | tail -n +2 >here
	"$python" - run.sqlite "$2" >there <<-'END'
		import csv, sqlite3, sys
		rows = csv.writer(sys.stdout, lineterminator='\n')
		for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]):
		    rows.writerow([format(x, '.15g') if isinstance(x, float) else x for x in row])
	END
	is "$(wc -l <there | grep -c '^0$') $(cmp here there 2>&1)" '0 ' "as the database: $1"
}
tables='SELECT name FROM sqlite_master WHERE type = "table"'
for table in $("$python" -c 'import sqlite3, sys
print(*(name for name, in sqlite3.connect("run.sqlite").execute(sys.argv[1])))' "$tables"); do
	[ "$table" != TARGET_INFO_GPU ] || continue # no rows
	[ "$table" != TARGET_INFO_SESSION_START_TIME ] || continue
	same "number of rows of $table" "SELECT COUNT(*) FROM $table"
done
first=$(query 'SELECT MIN(start) FROM OSRT_API' | tail -n 1)
middle=$(query 'SELECT CAST(AVG(start) AS INTEGER) FROM OSRT_API' | tail -n 1)
same 'join, group and order' 'SELECT value, COUNT(*), SUM(end - start), MIN(start) FROM OSRT_API JOIN StringIds
	ON id = nameId GROUP BY value ORDER BY value'
same 'an interval' "SELECT start, end FROM OSRT_API WHERE start > $first AND start <= $middle ORDER BY start, end"
same 'a bound that is a real number' \
	"SELECT COUNT(*), SUM(start) FROM OSRT_API WHERE start < $middle.5 AND start > $first.5"
same 'a bound that is a text' "SELECT COUNT(*) FROM OSRT_API WHERE start < 'x'"
same 'a bound that is NULL' 'SELECT COUNT(*) FROM OSRT_API WHERE start < NULL'
same 'NULL in an integer column' 'SELECT COUNT(*), COUNT(nestingLevel) FROM OSRT_API WHERE nestingLevel IS NULL'
same 'descending order of one column' 'SELECT start FROM OSRT_API ORDER BY start DESC LIMIT 100'
same 'an interval in descending order' \
	"SELECT start FROM OSRT_API WHERE start > $first AND start <= $middle ORDER BY start DESC"
same 'descending order' 'SELECT start, end FROM OSRT_API ORDER BY start DESC, end LIMIT 100'
same 'one value' 'SELECT COUNT(*) FROM OSRT_API WHERE nameId = (SELECT id FROM StringIds WHERE value = "getpid")'
! has_unwinder || same 'a stack of each kind of call' '
	SELECT n.value, s.value, COUNT(*) FROM OSRT_API o JOIN OSRT_CALLCHAINS c
	ON c.id = o.callchainId JOIN StringIds n ON n.id = o.nameId JOIN StringIds s ON s.id = c.symbol
	WHERE c.stackDepth = 0 GROUP BY 1, 2 ORDER BY 1, 2'
same 'all texts' 'SELECT value FROM StringIds ORDER BY value'
same 'two scans of a table' 'SELECT COUNT(*) FROM OSRT_API a JOIN OSRT_API b ON b.start = a.end'
same 'a recursive table' \
	'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 9) SELECT SUM(x) FROM n'

# ---- reports ----

is "$(query 'SELECT "Total Time (ns)", "Num Calls", Name FROM osrt_sum' | tail -n +2)" \
	"$(report stats -q -r osrt_sum -f csv run.pillion | tail -n +2 | cut -d, -f2,3,9)" 'a report is a table'
is "$(query 'SELECT COUNT(*) FROM cuda_gpu_kern_sum')" "COUNT(*)
0" 'a report without data has no rows'
is "$(report query run.pillion .tables | grep -cxE 'OSRT_API|osrt_sum')" 2 ".tables lists nsys's tables and the reports"
is "$(report query run.pillion '.schema ThreadNames')" \
	'ThreadNames(nameId INTEGER NOT NULL,priority INTEGER,globalTid INTEGER)' '.schema shows the columns'

# For SQL, PROCESSES of nsys and the report processes have one name.
is "$(query 'SELECT name, PPID > 0, Ended, REPLACE(Command, char(39), "") AS Command FROM PROCESSES
	WHERE pid = globalPid / 0x1000000 % 0x1000000 AND globalPid IN (SELECT globalTid & ~0xffffff FROM OSRT_API)
	ORDER BY "Start (ns)" LIMIT 1')" \
	"name,PPID > 0,Ended,Command
$targets/osrt,1,exit 0,$targets/osrt 5" "PROCESSES has nsys's columns and those of the report"
is "$(report query run.pillion .tables | grep -cix processes)" 1 'and is listed once'

# ---- the schema of nsys 2026.2 ----

differ=
checked=0
for table in $(awk '!/^#/ { print $1 }' "$tests_dir/../data/nsys_columns_2026.txt" | uniq); do
	declared=$(report query run.pillion ".schema $table" 2>/dev/null) || continue
	# Columns of the report come after those of nsys.
	declared=${declared%%,"\""*}
	checked=$((checked + 1))
	[ "$(sed 's/^[^(]*(//; s/,PRIMARY KEY.*//; s/)$//' <<<"$declared" | tr ',' '\n' | cut -d' ' -f1)" = \
		"$(awk -v table="$table" '$1 == table { print $2 }' "$tests_dir/../data/nsys_columns_2026.txt")" ] ||
		differ="$differ $table"
done
is "$differ" '' "tables have the columns of nsys 2026.2 ($checked tables)"
ok 'most tables of nsys 2026.2 are here' test "$checked" -ge 15

# ---- hosts ----

# Until the launcher has written the first samples, behind a head of 64 bytes.
pillion -o host sh -c 'until find host.pillion -name "*.usage" -size +64c | grep -q .; do sleep 0.1; done' >out 2>err
is "$? $(report query -f csv host.pillion 'SELECT name, value FROM TARGET_INFO_SYSTEM_ENV ORDER BY name' 2>&1 |
	tail -n +2 | tr '\n' ' ')" "0 CpuCores,$(getconf _NPROCESSORS_ONLN) Hostname,$(uname -n) " \
	'TARGET_INFO_SYSTEM_ENV has the host and its CPUs'

# ---- tables of the device ----

device() { # SQL: its rows, one line each, of a program with CUDA
	report query -f csv steps.pillion "$1" 2>err | tail -n +2
}
if [ -x "$targets/cuda_steps" ] && [ -e "$PILLION_BUILD_DIR/tests/doubles/libcuda.so.1" ]; then
	LD_LIBRARY_PATH=$PILLION_BUILD_DIR/tests/doubles pillion -o steps "$targets/cuda_steps" 3 >out 2>err
	is $? 0 'a program with CUDA'
	is "$(device 'SELECT streamId, contextId FROM TARGET_INFO_CUDA_STREAM ORDER BY 1')" \
		"$(device 'SELECT DISTINCT streamId, contextId FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY 1')" \
		'TARGET_INFO_CUDA_STREAM has the streams of the kernels'
	is "$(device 'SELECT DISTINCT processId = pid, priority, flag
		FROM TARGET_INFO_CUDA_STREAM, PROCESSES')" '1,,1' 'with process and type, without a priority'
	is "$(device 'SELECT overheadType, SUM(end - start) FROM CUPTI_ACTIVITY_KIND_OVERHEAD GROUP BY 1')" \
		"$(report stats -q -r ledger -f csv steps.pillion |
			awk -F, -v OFS=, '$3 == "CUPTI'\''s overhead" && $5 == "buffer delivery" { print 3, $4 }')" \
		"CUPTI_ACTIVITY_KIND_OVERHEAD has the ledger's overhead of CUPTI"
	is "$(device 'SELECT id, cuDevice, name <> "", totalMemory, smMinor FROM TARGET_INFO_GPU')" \
		'0,0,1,8589934592,0' 'TARGET_INFO_GPU has number, name and attributes of the device'
	unnamed=
	for column in RUNTIME.eventClass=NSYS_EVENT_CLASS MEMCPY.copyKind=CUDA_MEMCPY_OPER \
		MEMCPY.srcKind=CUDA_MEM_KIND MEMSET.memKind=CUDA_MEM_KIND SYNCHRONIZATION.syncType=CUPTI_SYNC_TYPE \
		OVERHEAD.overheadType=CUPTI_OVERHEAD_TYPE TARGET_INFO_CUDA_STREAM.flag=CUPTI_STREAM_TYPE \
		CUDA_GPU_MEMORY_USAGE_EVENTS.memKind=CUDA_MEM_KIND \
		CUDA_GPU_MEMORY_USAGE_EVENTS.memoryOperationType=CUDA_DEV_MEM_EVENT_OPER \
		DIAGNOSTIC_EVENT.timestampType=DIAGNOSTIC_TIMESTAMP_SOURCE \
		DIAGNOSTIC_EVENT.source=DIAGNOSTIC_SOURCE_TYPE \
		DIAGNOSTIC_EVENT.severity=DIAGNOSTIC_SEVERITY_LEVEL NVTX_EVENTS.eventType=NSYS_EVENT_TYPE; do
		table=${column%%.*}
		[ "${table#*_}" != "$table" ] || table=CUPTI_ACTIVITY_KIND_$table
		number=${column#*.}
		[ "$(device "SELECT COUNT(*) > 0, COUNT(*) = COUNT(e.label)
			FROM $table LEFT JOIN ENUM_${column#*=} e ON e.id = ${number%=*}")" = 1,1 ] ||
			unnamed="$unnamed $column"
	done
	is "$unnamed" '' 'the ENUM tables name the numbers'
else
	skip 'tables of the device' 'built without CUDA headers'
fi

# ---- statements ----

printf 'SELECT 1 AS one;\nSELECT\n2 AS two;' | report query -f csv run.pillion >out 2>err
is "$? $(tr '\n' ' ' <out)" '0 one 1  two 2 ' 'statements from standard input'
is "$(report query -f json run.pillion "SELECT 1 AS a, -2.5 AS b, NULL AS c, 'x' AS d" | tr -d '\n ')" \
	'[{"a":1,"b":-2.5,"c":null,"d":"x"}]' 'types in json'
for sql in 'DELETE FROM OSRT_API' 'CREATE TABLE x(y)' "ATTACH 'other.sqlite' AS other" 'PRAGMA journal_mode = WAL' \
	"SELECT load_extension('x')"; do
	query "$sql" >out
	is "$? $(wc -c <out) $(wc -l <err)" '2 0 1' "refused: $sql"
done
is "$(ls other.sqlite* x* 2>/dev/null)" '' 'nothing was written'
query 'SELECT none FROM OSRT_API' >out
is "$? $(cat err)" '2 pillion query: no such column: none' 'an unknown column'
query 'SELECT 1 FROM none' >out
is "$? $(cat err)" '2 pillion query: no such table: none' 'an unknown table'
report query none.pillion 'SELECT 1' >out 2>err
is "$?" 2 'a capture that is not there'
query 'WITH n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n' --time-limit=1 >out
is "$? $(cat out err)" '2 pillion query: the query takes longer than 1 s (--time-limit)' 'a limit of time'
# A function during which SQLite does not look at the clock.
query "SELECT 1; SELECT instr(hex(zeroblob(8000000)), hex(zeroblob(4000000)) || '1')" -f csv --time-limit=1 >out
is "$? $(tail -n 1 out) $(cat err)" '2 1 pillion: a function of SQL takes longer than 1 s (--time-limit)' \
	'also of a function'
printf '%s;\n' 'SELECT 1' 'SELECT 2' >statements
is "$( (sed -n 1p statements; sleep 2; sed -n 2p statements) | report query -f csv --time-limit=1 run.pillion 2>&1 |
	grep -c '^[12]$')" 4 'which is that of each statement'
query "SELECT hex(zeroblob(200000000))" >out
is "$? $(wc -c <out)" '2 0' 'a text of 400 MB'
for function in "fts3_tokenizer('simple')" "load_extension('x')"; do
	query "SELECT $function" >out
	like "$? $(cat err)" "^2 .*not authorized to use function: ${function%%(*}" "refused: $function"
done
done_testing
