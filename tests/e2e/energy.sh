#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Power and energy, read from a double of NVML: the device's total against what that library told, its division over
# kernels, lines and idle time, and an NVML that is missing, refuses, hangs or crashes. Nothing depends on elapsed time,
# nor on whether this machine's CPUs have energy counters and who may read them.
. "$(dirname -- "$0")/lib.sh"

on_doubles
unset PILLION_ENERGY
unset CUDA_VISIBLE_DEVICES
LD_LIBRARY_PATH=$doubles:$doubles/nvml
program=$doubles/cuda_launches

# recorded NAME OPTION...: records the program with fast samples; NVML's readings are in NAME.log.
recorded() {
	rm -f "$1.log"
	PILLION_SIMGPU_SLOWDOWN=300 PILLION_SIMNVML_LOG=$1.log \
		pillion -o "$1" --energy=true --energy-interval=10 "${@:2}" "$program" 20 >out 2>err
	code=$?
}

# sum_of REPORT COLUMN NAME: the sum of a column, of GPUs if it is by device.
sum_of() {
	report stats -q -r "$1" -f json "$3.pillion" |
		python3 -c 'import json, sys
print(sum(row[sys.argv[1]] or 0 for row in json.load(sys.stdin) if "GPU" in row.get("Device", "GPU")))' "$2"
}

# told NAME: by how much the counter grew, in J. The first reading of each sampler is no sample: it asks whether there
# is a counter.
told() {
	awk '!seen[$1]++ { next } !n++ { least = $3 } { most = $3 } END { print (most - least) / 1000 }' "$1.log"
}

# close A B PERCENT: whether they differ by at most that much.
close() {
	awk -v a="$1" -v b="$2" -v percent="$3" \
		'BEGIN { d = a > b ? a - b : b - a; print (b > 0 && d * 100 <= b * percent ? "close" : a " and " b) }'
}

energy_files() { # NAME: how many the capture has
	find "$1.pillion" -name '*.energy' | wc -l
}

notes() { # NAME: the ledger's notes on the energy of GPUs
	report stats -q -r ledger -f csv "$1.pillion" | grep -o 'energy: [^"]*' | grep -v '^energy: CPUs'
}

"$program" 20 >wanted
recorded job
is "$code $(cat out)" "0 $(cat wanted)" 'the command is unchanged'
is "$(close "$(sum_of energy_sum 'Energy (J)' job)" "$(told job)" 2)" close \
	'the energy of the device is that of its counter within 2 %'
is "$(close "$(sum_of energy_kern_sum 'Energy (J)' job)" "$(sum_of energy_sum 'Energy (J)' job)" 0.01)" close \
	'kernels, copies and idle time add up to it'
! has_unwinder || is "$(close "$(sum_of lines 'Energy Est. (J)' job)" \
	"$(sum_of energy_sum 'Busy (J)' job)" 0.1)" close \
	'the lines add up to it without idle time'
table=$(report stats -q -r energy_sum,energy_kern_sum -f csv job.pillion)
like "$table" ',NVIDIA Simulated GPU \(0\),.*,GPU-73696d75-6c61-7465-642d-6770752d3030,' 'the device is named'
like "$table" '^[0-9.]+,[0-9.]+,[0-9]+,[1-9][0-9]*,[0-9.]+,NVIDIA Simulated GPU \(0\),"add\(float\*, int\)"$' \
	'kernels have rows'
like "$table" ',NVIDIA Simulated GPU \(0\),\(idle\)$' 'so has idle time'
is "$(notes job | wc -l)" 0 'nothing is missing'
rules=$(report analyze -r gpu_slowed -f csv job.pillion)
like "$rules" '^gpu_slowed,clean' 'the clocks were not lowered'

# ---- exports ----

report export -q -t chrome -o job.json job.pillion
is "$(python3 -c '
import json
points = [e for e in json.load(open("job.json"))["traceEvents"] if e["ph"] == "C" and "Simulated" in e["name"]]
power, energy = ([e for e in points if e["name"] == name + ", NVIDIA Simulated GPU (0)"]
    for name in ("Power", "Energy"))
print(len(power) > 1, all(p["args"]["W"] >= 0 for p in power), max(e["args"]["J"] for e in energy))')" \
	"True True $(sum_of energy_sum 'Energy (J)' job | awk '{ printf "%.6g", $1 }')" \
	'the export to chrome has its power and energy'

report export -q -t perfetto -o job.pftrace job.pillion
tracks='NVIDIA Simulated GPU \(0\), (Power in W|SM clock in MHz)'
is "$(gunzip -c <job.pftrace | grep -aoE "$tracks" | sort | uniq -c | xargs)" \
	'1 NVIDIA Simulated GPU (0), Power in W 1 NVIDIA Simulated GPU (0), SM clock in MHz' \
	'the export to perfetto has one track for each counter'

# ---- several devices and launchers ----

PILLION_SIMGPU_DEVICES=3 recorded three
is "$(report stats -q -r energy_sum -f csv three.pillion | grep -c GPU-)" 3 'each device of the machine has a row'
used=$(report stats -q -r energy_sum -f csv three.pillion | awk -F, '$5 != "" { s += $4 } END { print s }')
is "$(close "$(sum_of energy_kern_sum 'Energy (J)' three)" "$used" 0.01)" close \
	'energy is divided on the devices that executed something'

# The simulated driver does not heed the variable.
CUDA_VISIBLE_DEVICES=1 PILLION_SIMGPU_DEVICES=2 recorded uuid
like "$(report stats -q -r energy_kern_sum -f csv uuid.pillion)" 'Simulated GPU \(0\),"add\(float\*, int\)"$' \
	'a device is found by its UUID, whatever its number'

ranked() { # RANK
	MASTER_ADDR=localhost MASTER_PORT=29511 RANK=$1 PILLION_SIMNVML_LOG=ranks.log pillion -o ranks --energy=true \
		--energy-interval=10 sh -c "touch began.$1; until [ -e began.0 ] && [ -e began.1 ]; do sleep 0.05; done
			\"$program\" 3" >"out.$1" 2>"err.$1"
}
ranked 0 &
ranked 1 &
wait
is "$(report stats -q -r energy_sum -f csv ranks.pillion | grep -c GPU-)" 1 \
	'ranks on one machine have one row for its device'
is "$(close "$(sum_of energy_sum 'Energy (J)' ranks)" "$(told ranks)" 2)" close 'and its energy is counted once'

# ---- auto ----

pillion -o auto sh -c "\"$program\" 2; until ls auto.pillion/*.energy; do sleep 0.05; done" >out 2>err
is "$?" 0 'sampling begins when a process uses CUDA'
PILLION_SIMNVML=hang=1 pillion -o cpu sh -c 'exit 3' 2>err
is "$? $(energy_files cpu)" '3 0' 'it does not begin without'
pillion -o off --energy=false "$program" 2 >out 2>err
is "$? $(energy_files off)" '0 0' '--energy=false'

# ---- an NVML in trouble ----

PILLION_SIMNVML=capped recorded capped
rules=$(report analyze -r gpu_slowed -f csv capped.pillion)
like "$rules" '^gpu_slowed,found,.*NVIDIA Simulated GPU \(0\).*power cap' \
	'clocks that the power cap lowered are found'
PILLION_SIMNVML=old,hot recorded hot
like "$(report stats -q -r energy_sum -f csv hot.pillion)" ',thermal [0-9.]+ %$' 'an older NVML tells reasons, too'

PILLION_SIMNVML=noenergy recorded counterless
like "$(notes counterless)" 'has no energy counter, its energy is computed from sampled power' \
	'without a counter that is said'
like "$(report stats -q -r energy_sum -f csv counterless.pillion)" 'GPU-7369' 'and it is computed'
PILLION_SIMNVML=nothing recorded nothing
is "$code $(notes nothing | grep -c 'does not tell its power')" '0 1' 'a device that tells nothing'
is "$(report stats -r energy_sum nothing.pillion 2>&1 | grep -c 'Simulated GPU')" 0 'has no row'

for mood in uninit:'Driver Not Loaded' denied:'NVML shows none that it may read' hang=2:'did not end and was killed' \
	crash=2:'ended early: signal 6'; do
	PILLION_SIMNVML=${mood%%:*} recorded trouble -f true
	is "$code $(cat out)" "0 $(cat wanted)" "${mood%%:*}: the command is unchanged"
	like "$(notes trouble)" "${mood#*:}" "${mood%%:*}: the ledger says what is missing"
done
mkdir broken
: >broken/libnvidia-ml.so.1
LD_LIBRARY_PATH=$PWD/broken:$doubles
pillion -o broken --energy=true "$program" 2 >out 2>err
like "$(notes broken)" 'GPUs: .*libnvidia-ml.so.1: file too short' 'so it does where NVML cannot be loaded'

done_testing
