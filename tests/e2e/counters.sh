#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Counters of the machine (--counters): their totals lie between what /proc told within the command and around the
# launcher; one launcher of a machine samples them; exports have them. Nothing depends on elapsed time.
. "$(dirname -- "$0")/lib.sh"

command -v python3 >/dev/null || skip_all 'no python3'

# between LEAST VALUE MOST: the word, or the numbers.
between() {
	awk -v least="$1" -v value="$2" -v most="$3" 'BEGIN {
		is_between = value != "" && least <= value && value <= most
		print is_between ? "between" : least " " value " " most }'
}

total() { # NAME COUNTER COLUMN...: of counter_sum
	report stats -q -r counter_sum -f json "$1.pillion" | python3 -c 'import json, sys
print(*[row[sys.argv[2]] for row in json.load(sys.stdin) if row["Name"] == sys.argv[1]])' "$2" "${3:-Total}"
}

cat >read_proc.py <<'END'
# Prints bytes received and sent by lo, context switches and page faults of the machine.
def words(path, key):
    for line in open(path):
        if line.split() and line.split()[0].startswith(key):
            return [int(w) for w in line.replace(key, "", 1).split()]

def read_proc():
    lo = words("/proc/net/dev", "lo:")
    return [lo[0], lo[8], words("/proc/stat", "ctxt")[0], words("/proc/vmstat", "pgfault")[0]]

if __name__ == "__main__":
    print(*read_proc())
END
cat >planted.py <<'END'
# Sends 64 MiB over the loopback interface; prints by how much the counters grew meanwhile.
import socket, threading
from read_proc import read_proc
before = read_proc()
server = socket.create_server(("127.0.0.1", 0))
def receive():
    connection = server.accept()[0]
    while connection.recv(1 << 20):
        pass
thread = threading.Thread(target=receive)
thread.start()
with socket.create_connection(server.getsockname()) as client:
    for i in range(64):
        client.sendall(bytes(1 << 20))
thread.join()
print(*[after - b for after, b in zip(read_proc(), before)])
END

read -r -a before <<<"$(python3 read_proc.py)"
pillion -o job -t none -s none --counters=host,net python3 planted.py >out 2>err
is "$? $(wc -w <out)" '0 4' 'the command is unchanged'
read -r -a after <<<"$(python3 read_proc.py)"
read -r -a inner <out
names=('lo received' 'lo sent' 'Context switches' 'Page faults')
for i in 0 1 2 3; do
	is "$(between "${inner[i]}" "$(total job "${names[i]}")" $((after[i] - before[i])))" between \
		"${names[i]}: at least what grew within the command, at most what grew around the launcher"
done

# In a network of its own nobody else sends.
if unshare -rn true 2>/dev/null; then
	unshare -rn sh -c 'ip link set lo up 2>/dev/null || ifconfig lo up; exec "$@"' sh "$PILLION" -o alone -t none \
		-s none --stats=false --counters=net python3 planted.py >out 2>err
	is $? 0 'in a network of its own'
	if [ -s out ]; then
		bytes=$((64 << 20))
		is "$(between $bytes "$(total alone 'lo sent')" $((bytes * 102 / 100)))" between \
			'bytes sent are those of the program within 2 %'
		is "$(total alone 'lo received')" "$(total alone 'lo sent')" 'and were received'
	fi
else
	skip 'bytes within 2 %' 'no network namespaces'
fi

is "$(total job 'Memory in use' Unit) $(total job 'lo sent' Source)" 'bytes net' 'units and sets are named'
is "$(between 1 "$(total job 'Memory in use' Max)" "$(awk '/^MemTotal/ { print $2 * 1024 }' /proc/meminfo)")" between \
	'levels have no total, but a maximum'
is "$(report stats -q -r counter_sum --by rank -f csv job.pillion 2>&1 | grep -c 'counters are those of a machine')" 1 \
	'--by rank is refused'
for set in host net; do
	missing=$(report stats -q -r ledger -f csv job.pillion | grep -c "counters: $set: this machine does not have")
	is "$(between 0 "$missing" 1)" between "what is missing of $set is said at most once"
done
if [ ! -e /proc/pressure/cpu ]; then
	is "$(total job 'Pressure on CPUs' Name)" '' 'what does not exist has no row'
fi

# ---- exports ----

sent=$(total job 'lo sent')
report export -q -t chrome -o job.json job.pillion
report export -q -t perfetto -o job.pftrace job.pillion
report export -q -t sqlite -o job.sqlite job.pillion
report export -q -t html -o job.html job.pillion 2>err
is "$(python3 -c '
import json
points = [e for e in json.load(open("job.json"))["traceEvents"] if e["ph"] == "C" and e["name"] == "lo sent"]
points.sort(key=lambda e: e["ts"])
ends = [e["ts"] for e in points[1:]]
print(len(points) > 0, all("bytes/s" in e["args"] for e in points))')" 'True True' 'chrome has points'
is "$(gunzip -c <job.pftrace | grep -aoE 'lo sent in bytes/s' | sort | uniq -c | xargs)" '1 lo sent in bytes/s' \
	'perfetto has one track for each counter'
is "$(python3 -c '
import sqlite3, sys
rows = sqlite3.connect("job.sqlite").execute("""SELECT timestamp, value FROM PILLION_COUNTER_VALUE JOIN PILLION_COUNTER
    ON counterId = id WHERE name = "lo sent" ORDER BY timestamp""").fetchall()
total = sum(value * (after - at) / 1e9 for (at, value), (after, _) in zip(rows, rows[1:]))
print(len(rows) > 0, total <= float(sys.argv[1]) * 1.001)' "$sent")" 'True True' 'sqlite has the values'
is "$(report query -f csv job.pillion "SELECT COUNT(*) FROM PILLION_COUNTER WHERE source = 'net' AND name = 'lo sent'" |
	tail -n 1)" 1 'query has them'
[ ! -s job.html ] || ok 'the page exists' test -s job.html

# ---- several launchers, and words of the option ----

ranked() { # RANK
	MASTER_ADDR=localhost MASTER_PORT=29512 RANK=$1 pillion -o ranks -t none -s none --counters=net \
		sh -c "touch began.$1; until [ -e began.0 ] && [ -e began.1 ]; do sleep 0.05; done
			python3 planted.py" \
		>"out.$1" 2>"err.$1"
}
read -r -a before <<<"$(python3 read_proc.py)"
ranked 0 &
ranked 1 &
wait
read -r -a after <<<"$(python3 read_proc.py)"
is "$(total ranks 'lo sent' | wc -w)" 1 'ranks on one machine have one row'
is "$(between $((64 << 20)) "$(total ranks 'lo sent')" $((after[1] - before[1])))" between 'and bytes are counted once'

pillion -o bad --counters=host,disk true >out 2>err
is "$?" 2 'a word that does not exist'
like "$(cat err)" '--counters.*gpu,host,net' 'is refused with those that do'
pillion -o none -t none --counters=none true 2>err
is "$? $(find none.pillion -name '*.energy')" '0 ' '--counters=none'
pillion -o missing --counters=host ./no-such-program 2>err
is "$? $(ls -d missing.pillion 2>/dev/null)" '127 ' 'a command that does not exist leaves no capture'
printf '#!/no/such/interpreter\n' >unusable
chmod +x unusable
pillion -o missing --counters=host ./unusable 2>err
is "$? $(ls -d missing.pillion 2>/dev/null)" '127 ' 'nor does one that cannot be started'

doubles=$PILLION_BUILD_DIR/tests/doubles
if [ -e "$doubles/nvml/libnvidia-ml.so.1" ]; then
	LD_LIBRARY_PATH=$doubles/nvml PILLION_SIMGPU_DEVICES=2 \
		pillion -o gpu -t none --counters=gpu --energy=false --energy-interval=10 \
		sh -c 'until [ "$(stat -c %s gpu.pillion/*.energy 2>/dev/null || echo 0)" -gt 1000 ]; do
			sleep 0.05; done' 2>err
	is "$? $(total gpu 'GPU busy' Source)" '0 NVIDIA Simulated GPU (0) NVIDIA Simulated GPU (1)' \
		'gpu: each device, without a program that uses it'
fi

done_testing
