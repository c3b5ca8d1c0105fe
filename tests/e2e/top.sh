#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pillion top: a load that is known, on a run and on a process that pillion did not start, as tables, as metrics and
# as a screen. The load has ended before it is looked at, so that nothing depends on time.
. "$(dirname -- "$0")/lib.sh"

export PILLION_ENERGY=false

# cell TABLE COLUMN: the cells of that column in top.json.
cell() {
	python3 -c 'import json, sys
for row in json.load(open("top.json"))["rows"]:
    if row["table"] == sys.argv[1]:
        print(row[sys.argv[2]])' "$@"
}

# metric NAME: its value in metrics.prom.
metric() {
	awk -v name="$1" 'index($0, name "{") == 1 { print $NF }' metrics.prom
}

# close A B PERCENT: whether they differ by at most that much.
close() {
	awk -v a="$1" -v b="$2" -v percent="$3" \
		'BEGIN { d = a > b ? a - b : b - a; print (b > 0 && d * 100 <= b * percent ? "close" : a " and " b) }'
}

# measures WHAT PID TARGET...: the figures of the process.
measures() {
	local what=$1 pid=$2
	shift 2
	"$PILLION" top --once --json --interval=200ms "$@" >top.json 2>err
	is "$? $(cell processes PID)" "0 $pid" "$what: the process"
	is "$(cell processes 'CPU (%)') $(cell processes 'Wait (%)')" '0.0 100.0' "$what: it waits"
	like "$(cell processes Line)" '^wait_here \(.*top_load\.c:[0-9]+\)$' "$what: its line"
	like "$(cell calls Name)" '^pause$' "$what: the call in progress"
	is "$(cell processes 'RSS (bytes)')" "$(($(awk '{ print $2 }' "/proc/$pid/statm") * $(getconf PAGESIZE)))" \
		"$what: its memory is that of /proc/PID/statm"
	"$PILLION" top --once --interval=200ms --openmetrics=metrics.prom "$@" >out 2>err
	is "$? $(find . -name 'metrics.prom.*')" '0 ' "$what: metrics are written, without a part"
	is "$(close "$(metric pillion_process_cpu_seconds_total)" "$(awk '{ print $2 / 1e6 }' ready)" 2)" close \
		"$what: the CPU time is that of getrusage within 2 %"
	is "$(metric pillion_process_read_bytes_total) $(metric pillion_process_written_bytes_total)" \
		"$(awk '/^rchar/ { r = $2 } /^wchar/ { print r, $2 }' "/proc/$pid/io")" \
		"$what: the bytes are those of /proc/PID/io"
}

# where_shows REGEX: a look into the process has that line. A thread that runs may change its frames meanwhile.
where_shows() {
	"$PILLION" where "$pid" >out 2>err && grep -Eq -- "$1" out
}

# ---- a run ----

"$PILLION" top --once >out 2>err nothing.pillion
is $? 2 'no such capture: status'

PILLION_STATS=false "$PILLION" -o load "$targets/top_load" $'two\nlines' >ready 2>run.err &
launcher=$!
eventually grep -q ready ready
pid=$(child_of $launcher)
measures 'a capture' "$pid" load
measures 'a PID' "$pid" "$pid"
grep -q "^State:.S" "/proc/$pid/status"
is $? 0 'the process still sleeps'
like "$("$PILLION" top --once --interval=100ms load 2>&1)" '^ \*\* Calls in Progress' 'tables for people'
"$PILLION" top --once --interval=1ms load >out 2>err
like "$? $(cat err)" '^2 .*100ms or more' 'an interval that is too short'
is "$(tail -n 1 metrics.prom)" '# EOF' 'the metrics end as OpenMetrics does'
like "$(cat metrics.prom)" '^# TYPE pillion_process_cpu_seconds counter$' 'the type is that of the family'
if from_pypi PROMETHEUS_PYTHON prometheus prometheus_client; then
	ok 'the strict parser of prometheus_client reads them, and the command as it is' "$python" -c '
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
families = {f.name: f for f in parse(open("metrics.prom").read())}
cpu = families["pillion_process_cpu_seconds"]
assert cpu.type == "counter" and cpu.samples
assert any("\n" in s.labels["command"] for s in cpu.samples), [s.labels for s in cpu.samples]'
else
	skip 'prometheus_client' "$why"
fi
if command -v promtool >/dev/null; then
	ok 'promtool accepts the metrics' promtool check metrics <metrics.prom
else
	skip 'promtool accepts the metrics' 'no promtool'
fi

# A copy of the capture with another boot is that of another host.
cp -r load.pillion far.pillion
LC_ALL=C sed -i "s/$(cat /proc/sys/kernel/random/boot_id)/12345678-1234-1234-1234-123456789abc/g" far.pillion/*
"$PILLION" top --once --json --interval=100ms far >top.json 2>err
is "$? $(cell processes PID) $(cell processes 'CPU (%)') $(cell calls Name)" "0 $pid 0.0 pause" \
	'a process of another host: what its launcher has sampled, and its call'
like "$(cell processes 'RSS (bytes)')" '^[1-9][0-9]{6}$' 'and its memory'

# A run that top looks at while it writes metrics each interval ends as if nobody had looked.
"$PILLION" top --interval=100ms --openmetrics=again.prom load >out 2>err &
writer=$!
eventually test -s again.prom
adopt python3 -B "$tests_dir/top_screen.py" "$PILLION" top --interval=500ms load
kill -TERM "$pid"
wait $launcher
is $? 143 'the status of the command'
wait $writer
is $? 0 'top ends with the run'
"$PILLION" top --once load >out 2>err
like "$? $(cat err)" '^2 .*no such live run' 'the run has ended: status, and a message'

# ---- kernels and steps ----

# in_top TABLE COLUMN PATTERN TARGET: a cell of the table of the last seconds.
in_top() {
	"$PILLION" top --once --json --interval=100ms "$4" >top.json 2>err && cell "$1" "$2" | grep -Eq -- "$3"
}

not_in_top() {
	"$PILLION" top --once --json --interval=100ms "$4" >top.json 2>err && ! cell "$1" "$2" | grep -Eq -- "$3"
}

if [ -x "$targets/cuda_steps" ] && [ -e "$PILLION_BUILD_DIR/tests/doubles/libcuda.so.1" ]; then
	LD_LIBRARY_PATH=$PILLION_BUILD_DIR/tests/doubles pillion -o kernels --cuda-flush-interval=100 \
		sh -c "until [ -e kernels.end ]; do \"$targets/cuda_steps\" 3; done" >out 2>run.err &
	launcher=$!
	ok 'kernels of the last seconds' eventually in_top kernels Name 'work<.*2>' kernels
	like "$(cell kernels Instances | head -n 1)" '^[1-9][0-9]*$' 'and how often they ran'
	: >kernels.end
	wait $launcher
fi
cat >loop.py <<-'END'
	import os
	file = os.open("written", os.O_CREAT | os.O_RDWR)
	while not os.path.exists("loop.end"):
	    os.pwrite(file, b"1", 0)
	    os.fsync(file)
END
pillion -o loop --osrt-threshold=0 python3 loop.py >out 2>run.err &
launcher=$!
ok 'steps of the last seconds' eventually in_top steps Steps '^[1-9]' loop
like "$(cell steps Steps/s | head -n 1)" '^[0-9]*[1-9]' 'and their rate'
: >loop.end
wait $launcher
"$PILLION" top -p 123 >out 2>err
like "$? $(cat err)" '^2 .*pillion top PID' 'the option -p of other tools is answered'

# ---- a run that has recorded much, and is idle ----

# peak COMMAND...: the resident memory that it needed at most, in MB.
peak() {
	python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$@"
}

cat >much.c <<-'END'
	#include <fcntl.h>
	#include <unistd.h>
	int main(void)
	{
		int null = open("/dev/null", O_WRONLY), kept = open("kept", O_CREAT | O_WRONLY, 0600), fd;
		for (long i = 0; i < 8000000; i++)
			if (write(null, "x", 1) != 1)
				return 1;
		fd = open("much.done", O_CREAT | O_WRONLY, 0600);
		close(fd);
		while (access("much.go", F_OK) && write(kept, "x", 1) == 1)
			usleep(1000);
		return open("much.end", O_RDONLY) < 0; /* a FIFO: until somebody writes */
	}
END
if ! command -v cc >/dev/null; then
	skip 'a run that has recorded much' 'no C compiler'
else
	cc -O1 -o writes much.c
	mkfifo much.end
	pillion -o much --osrt-threshold=0 ./writes >out 2>run.err &
	launcher=$!
	eventually test -e much.done
	ok 'it has recorded more than 100 MB' test "$(du -sm much.pillion | cut -f 1)" -gt 100
	few=$(peak "$PILLION" top --once --interval=100ms --openmetrics=metrics.prom $$)
	keeps_little() {
		most=$(peak "$PILLION" top --once --interval=100ms much)
		[ "$most" -lt $((few + 64)) ]
	}
	ok 'its files of the last seconds have names, from long before' eventually in_top files Path /kept$ much
	: >much.go
	ok 'top does not keep what it was' eventually keeps_little
	"$PILLION" top --openmetrics=metrics.prom --interval=100ms much >out 2>err &
	metrics=$!
	rm -f metrics.prom
	ok 'metrics are written' eventually test -s metrics.prom
	ok 'and nothing of what it was is read' test \
		"$(awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/$metrics/status")" -lt $((few + 16))
	ok 'its steps are those of the last seconds: none' eventually not_in_top steps Steps . much
	: >much.end
	wait $launcher $metrics
fi

# ---- a process that pillion did not start ----

rm -f ready
"$targets/top_load" >ready &
pid=$!
eventually grep -q ready ready
measures 'another process' "$pid" "$pid"
kill $pid

cat >spin.py <<-'END'
	def inner():
	    return sum(i * i for i in range(1000))

	def outer():
	    while True:
	        inner()

	print("ready", flush=True)
	outer()
END
python3 spin.py >ready &
pid=$!
eventually grep -q ready ready
"$PILLION" top --once --json $pid >top.json 2>err
like "$? $(cell lines Line)" 'inner.* \(.*spin\.py:2\)$' 'a Python program: lines by samples'
ok 'pillion where: its Python frames' eventually where_shows '^ +(at )?outer \(.*spin\.py:6\)$'
kill $pid

# ---- GPUs ----

if [ -e "$PILLION_BUILD_DIR/tests/doubles/nvml/libnvidia-ml.so.1" ]; then
	sleep 1000 &
	pid=$!
	LD_LIBRARY_PATH=$PILLION_BUILD_DIR/tests/doubles/nvml PILLION_SIMNVML=capped \
		PILLION_SIMNVML_PROCESSES=$pid:123456789:42,$((pid + 1)):5:6 \
		"$PILLION" top --once --json --interval=100ms --openmetrics=metrics.prom $pid >top.json 2>err
	is "$(cell processes 'GPU (%)') $(cell processes 'Device Memory (bytes)')" '42.0 123456789' \
		'what the process uses of the GPU, as NVML tells'
	is "$(cell devices 'GPU (%)') $(cell devices 'Device Memory (bytes)') $(cell devices 'Memory Size (bytes)')" \
		"70.0 1073741824 8589934592" 'the GPU'
	like "$(cell devices 'SM Clock (MHz)') $(cell devices Reasons)" '^1200(\.0)? power cap$' 'its clock, and why'
	is "$(metric pillion_device_utilization_ratio) $(metric pillion_device_throttled)" \
		"$(python3 -c 'print("%.17g 1" % 0.7)')" 'its metrics'
	kill $pid
fi
done_testing
