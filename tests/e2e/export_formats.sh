#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every export of real runs agrees with the tables when read by the libraries of its format; and output destinations.
set -u
. "$(dirname "$0")/lib.sh"

doubles=$PILLION_BUILD_DIR/tests/doubles
types='sqlite chrome speedscope folded pprof'
for type in sqlite pprof; do
	report export --help | grep -q "^  $type .*this build has no" && skip_all "this build lacks a library: $type"
done

# account NAME: exports it in each type and compares.
account() {
	for type in $types; do
		report export -q -t "$type" "$1.pillion" || return
	done
	report export -q -t pprof --metric calls -o "$1.calls.pb.gz" "$1.pillion" &&
		report export -q -f true -t folded --metric calls "$1.pillion" || return
	for table in osrt_sum cuda_api_sum nvtx_sum cuda_gpu_kern_sum cuda_gpu_mem_time_sum mpi_sum; do
		report stats -q -r "$table" -f csv -o "$1.$table.csv" "$1.pillion"
	done
	timeout "$patience" python3 "$tests_dir/export_account.py" "$1"
}

cat >job.py <<'END'
import multiprocessing, threading, time

def work(i):
    for _ in range(20):
        time.sleep(0.0001 * i)
    threads = [threading.Thread(target=time.sleep, args=(0.01,), name='a;b "c" \\') for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()

if __name__ == '__main__':
    jobs = [multiprocessing.Process(target=work, args=(i,)) for i in range(4)]
    for j in jobs:
        j.start()
    for j in jobs:
        j.join()
END
pillion -o python python3 job.py >out 2>err
ok 'a Python job with processes and threads' account python
pillion -s none -o stacks "$targets/stacks" >out 2>err
ok 'calls with stacks' account stacks
off_cpu() { # NAME: the total of --metric off-cpu, 0 where nothing was blocked
	report export -q -t folded --metric off-cpu -o - "$1.pillion" 2>/dev/null |
		awk '{ n += $NF } END { printf "%d\n", n }'
}
in_calls() { # NAME: blocked time in calls
	report stats -q -r time_sum -f csv "$1.pillion" | tr -d '"' | awk -F, '
		/In Calls/ { for (i = 1; i <= NF; i++) if ($i == "In Calls (ns)") column = i; next }
		{ n += $column }
		END { printf "%d\n", n }'
}
# Each call's share is rounded down.
near() { # A B
	test "$(($1 - $2))" -le 1000 -a "$(($2 - $1))" -le 1000
}
ok "--metric off-cpu: blocked time in calls ($(off_cpu stacks), $(in_calls stacks))" \
	near "$(off_cpu stacks)" "$(in_calls stacks)"
ok '10 sleeps of 50 ms are in it' test "$(off_cpu stacks)" -ge 450000000
# read(2) of /dev/zero computes, in the kernel, all the time.
pillion -o zero --osrt-threshold=0 dd if=/dev/zero of=/dev/null bs=64M count=30 >out 2>err
total=$(report stats -q -r osrt_sum -f csv zero.pillion | awk -F, '$NF == "read" { print $2 }')
ok "and not the CPU time in calls ($(off_cpu zero) of $total)" test "$(($(off_cpu zero) * 2))" -lt "$total"
pillion -s none -o unsampled "$targets/stacks" >out 2>err
report export -t folded -o unsampled.folded unsampled.pillion 2>err
is "$(cat err)" 'pillion export: folded: time in OS and CUDA calls; --metric takes also off-cpu' \
	'without samples folded has time in calls; what else there is, is said'
ok 'of the functions' grep -q ';usleep [0-9]*$' unsampled.folded
# The launcher samples the memory once per second.
pillion -o forks python3 -c 'import os, time
pid = os.fork()
time.sleep(4)
if pid: os.wait()' >out 2>err
report export -q -t chrome -o forks.json forks.pillion
is "$(grep -o '"ph":"C","name":"resident memory","pid":[0-9]*' forks.json | sort -u | wc -l)" 2 \
	'the resident memory of a forked process, too, of which only a bound of its start is known'
pillion -s cpu -o cpu "$targets/samples" shares 0.4 >out 2>err
report export -t folded -o cpu.folded cpu.pillion 2>err
like "$(cat err)" '^pillion export: folded: CPU samples; --metric takes also calls, off-cpu$' \
	'folded has CPU samples where there are any, and says so'
! has_unwinder || like "$(cat cpu.folded)" ';three_parts( \(.*\))? [0-9]+$' 'a function that only computes is in it'
report export -q -t speedscope -o cpu.speedscope.json cpu.pillion
is "$(python3 -c 'import json
file = json.load(open("cpu.speedscope.json"))
print(file["profiles"][file["activeProfileIndex"]]["name"])')" 'CPU samples' 'speedscope opens on CPU samples'
! has_unwinder || like "$(cat stacks.folded)" \
	';main( \(.*\))?;caller_of_long_sleep( \(.*\))?;long_sleep( \(.*\))?;usleep [0-9]+$' \
	'a stack, the outermost frame first'
"$targets/nvtx_forms" >out 2>err
if [ $? -eq 77 ]; then
	skip 'NVTX' 'built without the headers of NVTX'
else
	pillion -o nvtx "$targets/nvtx_forms" fork >out 2>err
	ok 'all forms of NVTX' account nvtx
fi
if [ -x "$doubles/cuda_launches" ]; then
	LD_LIBRARY_PATH=$doubles pillion -o cuda "$doubles/cuda_launches" 7 >out 2>err
	ok 'a CUDA program' account cuda
	LD_LIBRARY_PATH=$doubles pillion -o host --gpu-activity=none "$doubles/cuda_launches" 7 >out 2>err
	ok 'a CUDA program without device records' account host
	report export -t folded --metric gpu -o - host.pillion >out 2>err
	is "$? $(cat out) $(cat err)" '1  pillion export: gpu: the captures have no device records' \
		'no device records: the error names the metric'
	like "$(report export -q -t folded --metric alloc -o - host.pillion)" ';cudaMalloc [0-9]+$' \
		'device memory by function'
	# In parts, by size and by time: together they have all events of the whole, and a filter applies to each part.
	report export -q -t chrome --split-size=60k cuda.pillion
	report export -q -t chrome --split-time=1ms -o timed.json.gz cuda.pillion
	cp cuda.001.json "cuda.$(printf %03d $(($(ls cuda.0*.json | wc -l) + 1))).json"
	last=$(ls cuda.0*.json | tail -n 1)
	is "$(report export -q -t chrome --split-size=60k -f true cuda.pillion 2>&1)" \
		"pillion export: $last: not part of this export, but of an earlier one in more files" \
		'a stale part of an earlier export is named'
	rm "$last"
	ok 'the parts together equal the whole' timeout "$patience" python3 - <<'END'
import glob, gzip, json, os
def events(name):
    with (gzip.open if name.endswith('.gz') else open)(name, 'rt') as f:
        return {json.dumps(e, sort_keys=True) for e in json.load(f)['traceEvents'] if e['ph'] in 'XiC'}
whole = events('cuda.json')
for names in glob.glob('cuda.0*.json'), glob.glob('timed.[0-9]*.json.gz'): # a run takes as many ms as it takes
    assert len(names) > 1, names
    assert set.union(*map(events, names)) == whole, [len(whole), *map(lambda n: len(events(n)), names)]
assert all(os.path.getsize(name) <= 60 << 10 for name in glob.glob('cuda.0*.json'))
END
else
	skip 'CUDA' 'built without CUDA headers'
fi

if [ -x "$targets/mpi_calls" ]; then
	RANK=3 LD_LIBRARY_PATH=$targets pillion -o mpi -t mpi "$targets/mpi_calls" >out 2>err
	ok 'a program with MPI' account mpi
	is "$(python3 -c 'import sqlite3
print(*sqlite3.connect("mpi.sqlite").execute("SELECT DISTINCT rank FROM MPI_RANKS " +
    "JOIN MPI_COLLECTIVES_EVENTS USING (globalTid)"))')" '(3,)' \
		'ranks by thread, joined as nsys does'
	is "$(python3 -c 'import sqlite3
for row in sqlite3.connect("mpi.sqlite").execute("SELECT value, tag, remoteRank, size FROM MPI_P2P_EVENTS " +
    "JOIN StringIds ON id = textId"):
    print(*row)')" "$(printf 'MPI_Irecv 42 0 32\nMPI_Isend 42 0 32')" 'messages with their peer and size'
else
	skip 'MPI' 'built without it'
fi

# Output destinations.
report export -q -t folded --metric calls -o - stacks.pillion >out 2>err
is "$? $(cmp out stacks.folded) $(cat err)" '0  ' '-o - is standard output'
report export -q -t sqlite -o - stacks.pillion >out.sqlite
is "$? $(head -c 15 out.sqlite)" '0 SQLite format 3' '-o - with -t sqlite'
is "$(python3 -c 'import sqlite3
file = sqlite3.connect("out.sqlite")
facts = dict(file.execute("SELECT name, value FROM META_DATA_CAPTURE"))
print(int(facts["RUN_DURATION_MS"]) >= 0, facts["PILLION_COMMAND"].split("/")[-1].replace(chr(39), ""),
      facts["CUDA_GRAPH_TRACE_OPTIONS:MODE"])
plan = file.execute("EXPLAIN QUERY PLAN SELECT nameId, COUNT(*) FROM OSRT_API GROUP BY nameId").fetchall()
print("OSRT_API_nameId" in str(plan))' | paste -sd' ')" 'True stacks graph True' \
	'sqlite: facts of the run, and an index on names'
report export -q -t chrome -o t.json.gz stacks.pillion
is "$? $(gzip -dc t.json.gz | cmp - stacks.json)" '0 ' 'a name that ends with .gz is gzipped'
printf old >there.folded
report export -t folded -o there.folded stacks.pillion >out 2>err
is "$? $(cat there.folded) $(cat err)" \
	'2 old pillion export: there.folded: file exists, use -f true to replace it' 'an existing file is kept'
report export -q -t folded --metric calls -f true -o there.folded stacks.pillion
is "$? $(cmp there.folded stacks.folded)" '0 ' '-f true replaces an existing file'
report export -q -t folded --metric calls -o there.folded -f stacks.pillion
is $? 0 '-f alone is true'
report export -q -t folded --force-overwrite=false -o there.folded stacks.pillion 2>err
is $? 2 '-f false is false'
for type in $types html; do
	report export -q -t "$type" -o /dev/full stacks.pillion >out 2>err
	is "$? $(cat err)" '2 pillion export: /dev/full: No space left on device' "$type: a full disk"
done
is "$(ls there.folded.* stacks.*.?????? 2>/dev/null)" '' 'no temporary file is left'

# What is written holds command lines and is as private as the capture, whatever the umask is.
mkdir private
(
	umask 0
	for type in $types html parquetdir arrow perfetto; do
		report export -q -t "$type" -o "private/$type" stacks.pillion
	done
	report export -q -t chrome --split-size 64K -o private/split.json stacks.pillion
	report stats -q -r osrt_sum -o private/one.txt stacks.pillion
	report stats -q -r osrt_sum,processes -f csv -o private/each stacks.pillion
	report stats -q --json -o private/stats.json stacks.pillion
	report analyze -q -f json -o private/analyze.json stacks.pillion
	report diff -q -o private/diff.html stacks.pillion stacks.pillion
) 2>err
is "$(find private -mindepth 1 ! -type d -printf '%m\n' | sort | uniq -c | awk '{ print $2, ($1 > 15) }')" '600 1' \
	'files that are written are 0600'
is "$(find private -mindepth 1 -type d -printf '%m\n' | sort | uniq -c | sed 's/^ *//')" '2 700' 'directories 0700'

# Passwords in command lines.
pillion -f -o secret sh -c : --password sesame --token=sesame 'postgres://joe:sesame@db/x' PGPASSWORD=sesame
mkdir masked
for type in $types html parquetdir perfetto; do
	report export -q -t "$type" -o "masked/$type" secret.pillion 2>err
done
report export -q -t html --show-secrets -o shown.html secret.pillion 2>err
for words in 'stats' 'stats --summary' 'stats --json' 'info' 'analyze' 'info -f json' 'query' 'where'; do
	sql=
	[ "$words" != query ] || sql='SELECT * FROM processes, TARGET_INFO_SYSTEM_ENV'
	# shellcheck disable=SC2086
	report $words secret.pillion ${sql:+"$sql"} >"masked/$words" 2>&1
done
is "$(grep -rl sesame masked)" '' 'no output has the secrets of a command line'
shown='--password [masked] --token=[masked] postgres://joe:[masked]@db/x PGPASSWORD=[masked]'
for output in html speedscope sqlite info 'info -f json' query stats 'stats --json'; do
	ok "they are masked: $output" grep -qF -e "$shown" "masked/$output"
done
is "$(report stats -r processes -f csv --show-secrets secret.pillion | grep -o sesame | wc -l)" 4 '--show-secrets: not'
ok 'nor in an export' grep -q sesame shown.html

# Refused options.
refused() { # WANTED OPTION...
	refused_wanted=$1
	shift
	report export "$@" >out 2>err
	is "$? $(cat err)" "2 pillion export: $refused_wanted" "refused: $*"
}
refused 'no type given: use -t TYPE; see pillion export --help' stacks.pillion
mkdir none
cd none || exit 99
refused 'no CAPTURE given, and none in this directory; see pillion export --help' -t folded
cd ..
refused "--type takes sqlite|parquetdir|arrow|chrome|perfetto|speedscope|folded|pprof|pstats|html, not 'svg'" \
	-t svg stacks.pillion
refused '--metric does not apply to chrome' -t chrome --metric calls stacks.pillion
refused '--split-time and --split-size do not apply to folded' -t folded --split-size 1M stacks.pillion
refused "--split-time takes a time of at least 1ms with its unit (ns, us, ms, s), not '1'" \
	-t chrome --split-time 1 stacks.pillion
refused "--split-size takes a number of bytes, at least 4096, or a number with K, M or G, not '2x'" \
	-t chrome --split-size 2x stacks.pillion
refused 'several files cannot be written to standard output' -t chrome --split-time 1s -o - stacks.pillion
refused "--metric takes calls|gpu|cpu|alloc|off-cpu|host, not 'x'" -t folded --metric x stacks.pillion
refused 'none.pillion: No such file or directory' -t folded none.pillion
refused '/nonexistent/x: No such file or directory' -t folded -o /nonexistent/x stacks.pillion
report export -t pprof --metric cpu stacks.pillion -o cpu.pb.gz >out 2>err
is "$? $(cat err)" '1 pillion export: cpu: the captures have no CPU samples' 'no samples: the error names the metric'
not_ok 'and no file' test -e cpu.pb.gz

# Damaged files are named, the rest is exported.
cp -r python.pillion cut.pillion
for file in cut.pillion/*.trace; do
	truncate -s $(($(stat -c %s "$file") * 3 / 4 + 100)) "$file"
done
for type in $types html; do
	report export -t "$type" cut.pillion >out 2>err
	is "$? $(grep -c "cut.pillion/" err | sed 's/[1-9][0-9]*/some/')" '1 some' "$type of a truncated capture"
done
ok 'exports of a truncated capture parse' \
	python3 -c 'import json; json.load(open("cut.json")); json.load(open("cut.speedscope.json"))'
mkdir empty.pillion && printf 'format=1\n' >empty.pillion/capture
for type in $types html; do
	report export -q -t "$type" empty.pillion >out 2>err
	is "$? $(cat err)" '0 ' "$type of an empty capture"
done
done_testing
