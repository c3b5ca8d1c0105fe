#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Device records: each operation of the simulated GPU is recorded once with its name, sizes and times, with every
# version and mood of CUPTI; missing records are counted in the ledger.
set -u
. "$(dirname "$0")/lib.sh"

on_doubles

# equal NAME OPTION...: the tables of NAME.pillion, and log
equal() {
	report stats -q -r cuda_gpu_trace:mangled,correlated,device_facts,ledger -f csv "$1.pillion" >tables &&
		account_says cupti_account.py . "${@:2}"
}

# ---- every program ----

# as_alone NAME OPTIONS COMMAND...: output and status are unchanged, and the records equal the account.
as_alone() {
	local name=$1 options=$2
	shift 2
	"$@" >wanted 2>&1
	accounted "$name" --cuda-graph-trace=node "$@"
	is "$? $(cat out)" "0 $(cat wanted)" "$name: its status and output"
	# shellcheck disable=SC2086
	ok "$name: the device records equal the account" equal "$name" --nodes $options
}

# unmatched NAME: calls without a device record, and device records without a call
unmatched() {
	echo "$(ledger "$1" 'unmatched calls') $(ledger "$1" 'unmatched device records')"
}

for program in cuda_launches cuda_launches_ptds cuda_launches_12 cuda_launches_nvcc cuda_launches_nvcc_ptds; do
	if [ ! -x "$doubles/$program" ]; then
		skip "$program" 'no nvcc'
		continue
	fi
	as_alone $program '' "$doubles/$program" 7
	is "$(unmatched $program) $(ledger $program 'graph nodes')" '0 0 4' \
		"$program: each call has a record, or became the node of a graph"
	accounted whole "$doubles/$program" 7
	ok "$program: records of whole graphs equal the account" equal whole
done
for program in "$targets/cuda_steps" "$doubles/cuda_names_nvcc"; do
	if [ ! -x "$program" ]; then
		skip "${program##*/}" 'no nvcc'
		continue
	fi
	accounted names "$program"
	is "$? $(unmatched names)" '0 0 0' "${program##*/}: each call matches its device records"
	like "$(ledger names 'device records')" '^[1-9]' "${program##*/}: there are device records"
done
as_alone attributes '' "$targets/cuda_attributes" 5
is "$(unmatched attributes) $(ledger attributes 'device records')" '0 0 40' \
	'attributes: each copy of CUDA 13.2 has its device record'
accounted decompressed "$targets/cuda_attributes" 5 decompress
is "$? $(cat out) $(unmatched decompressed)" '0 done 0 0' 'decompression: each call has its device record'
like "$(report stats -q -r cuda_gpu_mem_size_sum -f csv decompressed.pillion)" \
	'^5(\.0+)?,5,1(\.0+)?,.*\[CUDA memcpy Decompress\]' 'decompression: its compressed bytes'

# ---- the hardware event system ----

hardware() { # MOOD NOTE WHAT
	PILLION_SIMCUPTI=$1 accounted hardware -t cuda-hw "$doubles/cuda_launches" 7
	is "$? $(cat out)" "0 $("$doubles/cuda_launches" 7)" "-t cuda-hw, $3: status and output"
	like "$(notes hardware)" "$2" "-t cuda-hw, $3: the ledger says so"
}
new=layout=13.5,blackwell
hardware $new 'device times are from hardware events, graphs are recorded by their nodes' 'Blackwell'
ok '-t cuda-hw: nodes of graphs are recorded' equal hardware --nodes
hardware layout=13.5 'not from hardware events: the GPU \(Blackwell or newer is needed\)' 'an older GPU'
ok '-t cuda-hw, an older GPU: whole graphs are recorded' equal hardware
# Up to 13.4 they damage the program.
for version in 22 25 26 27 130001 130200 130301 130400; do
	hardware layout=13.5,blackwell,version=$version 'not from hardware events: CUPTI is too old: .*13\.4 Update 1' \
		"version $version"
done
hardware $new,version=130401 'device times are from hardware events' 'version 130401'
PILLION_SIMGPU_UNTOLD=1 hardware $new 'before the first context, and the driver had been initialised' 'too late'
PILLION_SIMCUPTI=$new accounted hardware -t cuda "$doubles/cuda_launches" 2
is "$(notes hardware)" '' 'hardware events only on request'
accounted hardware -t nvtx,cuda-hw "$doubles/cuda_launches" 2
like "$(report info hardware.pillion)" 'trace=cuda-hw,nvtx' '-t cuda-hw: info has the word'

for lookup in dlsym global proc newer self old entry twin; do
	as_alone $lookup --driver "$targets/cuda_driver" $lookup 3
done
as_alone linked --driver "$targets/cuda_driver_linked" linked 3
as_alone linked_ptds --driver "$targets/cuda_driver_linked_ptds" linked 3
as_alone static --driver "$doubles/cuda_launches_static" 3
as_alone plugin '' "$targets/cuda_lookups" plugin "$targets/cuda_launches_plugin.so" 3

# Two runtimes used at the same time in one process; and a runtime under ctypes, which only uses dlsym.
"$targets/cuda_lookups" plugins 3 "$targets/cuda_launches_plugin.so" "$targets/cuda_launches_plugin12.so" | sort >wanted
accounted two --cuda-graph-trace=node "$targets/cuda_lookups" plugins 3 "$targets/cuda_launches_plugin.so" \
	"$targets/cuda_launches_plugin12.so"
is "$? $(sort out)" "0 $(cat wanted)" 'two runtimes: status and output'
ok 'two runtimes: the device records equal the account' equal two --nodes
if command -v python3 >/dev/null; then
	as_alone ctypes '' python3 "$tests_dir/../targets/python/cuda_ctypes.py" 3
	like "$(report stats -q -r cuda_gpu_kern_sum -f csv ctypes.pillion)" ',6,.*,"add\(' \
		'ctypes: kernels have names'
else
	skip ctypes 'no python3'
fi
accounted whole "$doubles/cuda_launches" 7
is "$(report stats -q -r cuda_gpu_kern_sum -f csv cuda_launches.pillion |
	awk -F, 'NR > 1 { n += $3 } END { print n }')" \
	"$(grep -c '"ev":"launch"' log)" 'cuda_gpu_kern_sum: as many kernels as the account, graphs by their nodes'
is "$(report stats -q -r cuda_gpu_kern_sum:base -f csv cuda_launches.pillion | sed -n 's/.*,//p' | sort |
	tr '\n' ' ')" 'Name add scale ' ':base'
accounted long "$doubles/cuda_launches" 1000 # the summary of a run below 100 ms is short
like "$(report stats --summary long.pillion 2>&1 | sed -n '/^GPU work/,/^[A-Z]/p')" ' 2000 x  \[CUDA graph [0-9]+\]' \
	'the summary lists whole graphs under GPU'
if has_unwinder; then
	ok 'export of folded stacks by launching function' report export -t folded --metric gpu -o folded whole.pillion
	is "$(awk '/Launch[^;]*;[^;]*$/ {
			if (!/;main \(.*cuda_launches\.[ch]:[0-9]+\);/) print
			else if (!/CUDA graph/) sum += $NF
		} END { print sum }' folded)" \
		"$(report stats -q -r cuda_gpu_kern_sum -f csv whole.pillion |
			awk -F, '{ sum += $2 } END { print sum }')" \
		'by default all kernel time is attributed to the launching source lines'
else
	skip 'export of folded stacks by launching function' 'built without the unwinder'
fi
like "$(report stats -r cuda_gpu_kern_sum cuda_launches.pillion 2>&1)" 'device times: CUPTI' \
	'the table states the source of its times'
like "$(report info cuda_launches.pillion)" 'device-times +CUPTI .*libcupti\.so\.1[23]' 'info names the library'
is "$(report stats -q -r cuda_gpu_sum --by device -f csv cuda_launches.pillion | sed -n '2s/,.*//p')" \
	'Simulated GPU 0 (0)' '--by device'

# ---- threads that call CUDA while CUPTI is being opened ----

for mode in told untold; do
	[ $mode = told ] || export PILLION_SIMGPU_UNTOLD=1
	PILLION_SIMCUPTI=slow=20 accounted first "$targets/cuda_event_timing" first 50
	is "$? $(cat out) $(sets first)" '0 done 150x0.001 150x0.002 150x0.003 150x0.004 ' \
		"four threads at once, $mode when the driver starts"
	is "$(ledger first 'unmatched calls') $(notes first)" '0 ' \
		"four threads at once, $mode: each call has its record"
done
PILLION_SIMCUPTI=slow=600 accounted first "$targets/cuda_event_timing" first 50
is "$? $(cat out)" '0 done' 'a CUPTI that opens too slowly: the program continues'
like "$(notes first)" 'missing of operations requested while another thread was opening CUPTI' \
	'a CUPTI that opens too slowly: the ledger says so'
like "$(ledger first 'unmatched calls')" '^[1-9]' 'a CUPTI that opens too slowly: unmatched calls are counted'
for how in cancel jump fork; do
	PILLION_SIMCUPTI=slow=20 accounted amid -c cudaProfilerApi --capture-range-end=stop \
		"$targets/cuda_opening" $how 7
	is "$? $(cat out) $(sets amid)$(notes amid)" '0 done 7x0.004 ' \
		"a $how while CUPTI is being opened: the range is recorded, and ends"
done
unset PILLION_SIMGPU_UNTOLD
for how in fork iterate; do
	PILLION_SIMCUPTI=slow=20 accounted amid "$targets/cuda_opening" $how 7
	is "$? $(cat out) $(sets amid)$(notes amid)" '0 done 7x0.002 7x0.004 ' "$how: the child ends as without pillion"
done

# ---- calls that cannot be seen ----

accounted deep "$targets/cuda_lookups" plugin "$targets/cuda_launches_plugin.so" 2 deep
is "$? $(ledger deep 'unmatched device records')" "0 $(ledger deep 'device records')" \
	'a library opened with RTLD_DEEPBIND: device records without calls'
like "$(ledger deep 'device records') $(notes deep)" '^[1-9].*calls that cannot be seen' \
	'a library opened with RTLD_DEEPBIND: the ledger gives the reason'
accounted count "$targets/cuda_opening" count 0
is "$? $(cat out)$(notes count)" '0 1 devices' 'a program that only counts devices: nothing is reported as missing'

# ---- CUPTI that does not work ----

export PILLION_SIMCUPTI=notinit
accounted mood --gpu-activity=cupti "$doubles/cuda_launches" 3
is $? 0 'CUPTI that does not work: status'
like "$(notes mood)" 'no device times: .*cupti.* returned 15' 'CUPTI that does not work: the ledger says so'
not_ok 'and cuda_gpu_kern_sum does not pretend' report stats -q -r cuda_gpu_kern_sum -f csv mood.pillion
like "$(report stats -r cuda_gpu_kern_sum mood.pillion 2>&1)" 'no device records' \
	'CUPTI that does not work: the report says so'
unset PILLION_SIMCUPTI

# ---- device records not selected ----

accounted off --gpu-activity=none "$doubles/cuda_launches" 2
is "$(ledger off 'device records')$(notes off)" 0 '--gpu-activity=none: no records, and no note'
like "$(report stats -q -r cuda_gpu_mem_size_sum -f csv off.pillion)" 'CUDA memcpy HtoD' \
	'--gpu-activity=none: copies are recorded on the host'
CUDA_INJECTION64_PATH=$work/other.so accounted other "$doubles/cuda_launches" 2
like "$(notes other)" 'CUDA_INJECTION64_PATH' "another tool's CUPTI is left alone, and the ledger says so"
NSYS_PROFILING_SESSION_ID=1 accounted other "$doubles/cuda_launches" 2
like "$(notes other)" 'under nsys or ncu' 'under nsys CUPTI is left alone, and the ledger says so'

profiler() { # MODE MOOD WANTED-SETS
	PILLION_SIMCUPTI=$2 "$targets/cuda_profiler" 30 ${1:+"$1"} >wanted
	PILLION_SIMCUPTI=$2 accounted inside "$targets/cuda_profiler" 30 ${1:+"$1"}
	is "$? $(cat out) $(sets inside)" "0 $(cat wanted) $3 " \
		"a profiler inside the program ($1, $2): both have their records"
	like "$(report stats -q -r ledger -f csv inside.pillion)" \
		'device time gap,[1-9][0-9]*,.*another tool used CUPTI' \
		"a profiler inside the program ($1, $2): the ledger has the gap"
}
for mood in '' thread late,thread; do
	profiler '' "$mood" '30x0.004 30x0.016'
	profiler again "$mood" '30x0.004 30x0.016 30x0.066'
	profiler finalize "$mood" '30x0.004'
	profiler later "$mood" '30x0.004 30x0.016'
	profiler v2 "$mood" '30x0.004 30x0.016 30x0.066'
	profiler first "$mood" '30x0.016'
	profiler stay "$mood" '30x0.004'
done
like "$(report stats -q -r ledger -f csv inside.pillion)" 'CUPTI, .*, to the end' \
	'a gap without an end is reported as such'
for mood in '' thread; do
	PILLION_SIMCUPTI=$mood accounted inside "$targets/cuda_profiler" 10 threads
	is "$? $(cat out)" '0 all records' "on and off while another thread works ($mood)"
	like "$(report stats -q -r ledger -f csv inside.pillion | grep -c 'device time gap')" '^(1.|20)$' \
		"on and off ($mood): nearly every interruption has a gap"
	like "$(sets inside)" '10x0.004' "on and off ($mood): records before the first gap"
done

profiler within '' '30x0.004 30x0.033'
profiler defined layout=13.3 '30x0.004 30x0.016'
is "$(ledger inside 'device records without times')" 0 'records whose fields the program defines are not ours'
profiler later layout=12.4 '30x0.004'
PILLION_SIMCUPTI=layout=12.4 accounted inside "$targets/cuda_profiler" 30 later
like "$(report stats -q -r ledger -f csv inside.pillion)" 'CUPTI, .*, to the end' \
	'before 12.6 CUPTI is not restarted after the program ends it'

# ---- several subscribers ----

# Both record at the same time: no call is without its record, and no second is in a gap.
for mood in layout=13.3 layout=13.5,thread layout=13.3,late,thread,oldclock layout=13.5,perthread,reorder; do
	for mode in beside mixed; do
		profiler $mode $mood '30x0.004 30x0.008 30x0.016 30x0.033 30x0.066'
		is "$(unmatched inside) $(ledger inside 'device records without times')" '0 0 0' \
			"$mode ($mood): no record is missing"
		like "$(notes inside)" 'CUPTI is shared with a profiler of the program' \
			"$mode ($mood): the ledger says so"
	done
	PILLION_SIMCUPTI=$mood accounted inside "$targets/cuda_profiler" 10 others
	is "$? $(tail -n 1 out)" '0 all records' "others ($mood): the program has all records"
	# A call whose own record was lost is counted, and so is its device record.
	is "$(($(sets inside | tr ' ' '\n' | awk -Fx '{ n += $1 } END { print n }') + \
		$(ledger inside 'unmatched calls') - $(ledger inside 'unmatched device records')))" \
		"$(grep -c '"ev":"memset"' log)" "others ($mood): each memset has its record or is counted"
done
# Without them, the program gets CUPTI alone.
for mood in '' layout=13.0,thread; do
	profiler beside "$mood" '30x0.004 30x0.016 30x0.066'
done
PILLION_SIMCUPTI=layout=13.3,olddriver "$targets/cuda_profiler" 30 beside >wanted
PILLION_SIMCUPTI=layout=13.3,olddriver accounted inside "$targets/cuda_profiler" 30 beside
is "$? $(cat out) $(sets inside)" "1 $(cat wanted) 30x0.004 " \
	'a driver without several subscribers: refused as without pillion'

# ---- work in progress when its records are read ----

unfinished() { # MOOD N OPTION... COMMAND...
	local mood=$1 n=$2
	shift 2
	PILLION_SIMCUPTI=$mood PILLION_SIMGPU_SLOWDOWN=5000 accounted under "$@" "$n"
}
for mood in '' thread layout=12.8 thread,late,layout=11.8; do
	unfinished "$mood" 200 "$targets/cuda_unfinished" threads
	is "$? $(sets under)$(notes under)" '0 200x0.004 ' "200 threads ($mood): all records are present"
	unfinished "$mood" 9 -c cudaProfilerApi "$targets/cuda_unfinished" across
	is "$? $(sets under)" '0 9x0.004 ' "a range that ends with work in progress ($mood): all records"
	unfinished "$mood" 40 "$targets/cuda_unfinished" streams
	is "$? $(report stats -q -r cuda_gpu_kern_sum -f csv under.pillion | awk -F, 'NR > 1 { print $3 }') $(
		ledger under 'device records without times')" '0 40 0' \
		"waits for one stream while another executes ($mood): all records"
	unfinished "$mood" 9 "$targets/cuda_unfinished" exit
	is "$? $(sets under | grep -o '1x0.008')" '0 1x0.008' "a process that ends with work in progress ($mood)"
	is "$(($(sets under | sed -n 's/x0.004.*//p') + $(ledger under 'device records without times')))" 9 \
		"a process that ends with work in progress ($mood): ledger"
done

# ---- CUPTI that reports success but delivers no records ----

for mood in silent mute; do
	PILLION_SIMCUPTI=$mood accounted silent --cuda-graph-trace=node "$doubles/cuda_launches" 30
	is "$? $(cat out)" "0 $("$doubles/cuda_launches" 30)" "a CUPTI that gives no record ($mood): status and output"
	like "$(notes silent)" 'CUDA events from here on.*delivers no record of any kernel' \
		"a CUPTI that gives no record ($mood): the ledger says so"
	like "$(report stats -q -r cuda_gpu_kern_sum -f csv silent.pillion)" ',[1-9][0-9]+,.*"add\(' \
		"a CUPTI that gives no record ($mood): CUDA events time later kernels"
	PILLION_SIMCUPTI=$mood accounted silent --gpu-activity=cupti "$doubles/cuda_launches" 30
	is "$? $(cat out)" "0 $("$doubles/cuda_launches" 30)" \
		"--gpu-activity=cupti, no record ($mood): status and output"
	like "$(notes silent)" 'no device times: .*delivers no record of any kernel' \
		"--gpu-activity=cupti, no record ($mood): the ledger says so"
done

# ---- managed memory ----

accounted managed --cuda-um-cpu-page-faults=true --cuda-um-gpu-page-faults=true "$targets/cuda_managed" 6
is "$? $(report stats -q -r um_sum -f csv managed.pillion | sed '1d; s/^0x[0-9a-f]*,//; s/,[0-9.]*$//' | tr '\n' ' ')" \
	'0 0.049152,0.024576,6,6 0.065536,0.000000,0,1 ' 'um_sum: migrated bytes and page faults'
is "$(report stats -q -r um_total_sum -f csv managed.pillion | sed '1d; s/,0x.*//')" '0.114688,0.024576,6,7' \
	'um_total_sum'
is "$(report stats -q -r um_cpu_page_faults_sum -f csv managed.pillion | tail -1)" '6,0x401000' 'um_cpu_page_faults_sum'
accounted managed --cuda-memory-usage=false "$targets/cuda_managed" 6
like "$(report stats -r um_sum managed.pillion 2>&1)" 'managed memory was not traced' \
	'um_sum without tracing: the report says so'
is "$(report stats -q -r device_facts -f csv managed.pillion | grep -c 'allocate')" 0 \
	'--cuda-memory-usage=false: no allocations from CUPTI'

# ---- ends ----

ends_are_recorded
PILLION_SIMCUPTI=thread accounted end "$targets/cuda_ends" before 40
is "$? $(sets end)" '0 40x0.001 40x0.004 ' 'fork before CUDA: both processes have their records'
accounted end "$targets/cuda_ends" after 40
is "$? $(sets end)" '0 80x0.004 ' 'fork after CUDA: the child does not use CUPTI'
PILLION_SIMCUPTI=thread,late accounted end "$targets/cuda_ends" after 40
is "$? $(sets end)" '0 80x0.004 ' 'fork after CUDA with another thread: the child does not use CUPTI'

# ---- capture ranges ----

accounted range -c cudaProfilerApi --capture-range-end=repeat "$targets/cuda_ends" ranges 20
is "$? $(sets range)" '0 60x0.004 ' 'three ranges: only their work'
is "$(report stats -q -r cuda_gpu_mem_time_sum --by range -f csv range.pillion |
	sed -n 's/^\([0-9]*\),.*,\(20\),.*,\[CUDA memset\]$/\1:\2/p' | sort | tr '\n' ' ')" \
	'1:20 2:20 3:20 ' 'three ranges: each operation in its range'
accounted range -c cudaProfilerApi --capture-range-end=stop "$targets/cuda_ends" ranges 20
is "$? $(sets range)" '0 20x0.004 ' 'the first range only'

# ---- a full disk ----

mkdir small
if mount -t tmpfs -o size=2m none small 2>/dev/null; then
	rm -f log
	PILLION_SIMGPU_LOG=log pillion -o small/full -t cuda --cuda-graph-trace=node \
		"$doubles/cuda_launches" 2000 >out 2>err
	is $? 0 'a full disk: status'
	done=$(grep -c '"ev":"\(api\|launch\|memcpy\|memset\)"' log)
	said=$(($(ledger small/full recorded) + $(ledger small/full 'device records') + $(ledger small/full lost)))
	ok 'a full disk: each call and device record is recorded or counted as lost' [ "$said" -ge "$done" ]
	umount small
else
	skip 'a full disk' 'no mount allowed here'
fi

# ---- SIGKILL ----

killed() {
	flushed=1 kill_accounted 4000 --cuda-flush-interval=100 --cuda-graph-trace=node &&
		equal killed --nodes --killed 100
}
for mood in "" thread; do
	export PILLION_SIMCUPTI=$mood
	ok "killed in mid-run: all records before the last flush interval${mood:+, $mood}" killed
	like "$(report stats -q -r ledger -f csv killed.pillion)" 'device records not read,[1-9][0-9]*,.ns from' \
		"killed in mid-run: the ledger gives the interval${mood:+, $mood}"
done
done_testing
