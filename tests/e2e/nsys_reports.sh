#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The real `nsys stats` reads our sqlite and prints what `pillion stats` prints of the capture, row by row.
# Its reports exit with 0 when they are skipped, so rows are compared. NSYS: path of nsys, default: the one on PATH.
set -u
. "$(dirname "$0")/lib.sh"

nsys=${NSYS:-$(command -v nsys)}
[ -x "$nsys" ] || skip_all 'no nsys (Debian: nsight-systems, non-free)'
"$nsys" stats --help 2>&1 | grep -q -- '--report' || skip_all 'this nsys has no stats'
command -v python3 >/dev/null || skip_all 'no python3'

# same CAPTURE NAME...: compares each report, under its older name in both; OURS=THEIRS where the names differ
same() {
	local capture=$1 name
	shift
	report export -t sqlite -f true -o "$capture.sqlite" "$capture.pillion" >out 2>err || diag "$(cat err)"
	for name in "$@"; do
		report stats -q -r "${name%=*}" -f csv "$capture.pillion" >ours.csv 2>err
		timeout "$patience" "$nsys" stats -q -r "${name#*=}" -f csv -o - "$capture.sqlite" >theirs.csv 2>err
		ok "$capture: $name" python3 "$tests_dir/nsys_compare.py" ours.csv theirs.csv
	done
}

doubles=$PILLION_BUILD_DIR/tests/doubles
if [ -x "$targets/cuda_steps" ] && [ -e "$doubles/libcuda.so.1" ]; then
	LD_LIBRARY_PATH=$doubles pillion -o steps "$targets/cuda_steps" 20 >out 2>err
	is "$?" 0 'a program with CUDA and NVTX runs'
	same steps cudaapisum cudaapitrace gpukernsum cuda_gpu_kern_gb_sum=gpukernsum \
		cuda_gpu_kern_gb_sum:base=gpukernsum:base gpumemsizesum gpumemtimesum gpusum apigpusum gputrace \
		kernexecsum kernexectrace \
		nvtxsum nvtxppsum nvtxpptrace nvtxsesum nvtxgpuproj nvtxkernsum
	is "$(python3 -c 'import sqlite3
for table in ("CUDA_GPU_MEMORY_USAGE_EVENTS where memoryOperationType = 1 and bytes = 4096",
	"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"):
	print(sqlite3.connect("steps.sqlite").execute("select count(*) > 0 from " + table).fetchone()[0])' |
		tr '\n' ' ')" '1 1 ' \
		'the tables of memory and synchronization have rows'
else
	skip 'CUDA and NVTX' 'built without CUDA headers'
fi

cat >job.py <<'PY'
import multiprocessing, os, time

def work(n):
    with open('/dev/null', 'wb', buffering=0) as f:
        for _ in range(n):
            f.write(b'x' * n)
    time.sleep(0.002)
    return n

if __name__ == '__main__':
    with multiprocessing.get_context('fork').Pool(7) as pool:
        print(sum(pool.map(work, range(1, 50))))
PY
pillion -o python --osrt-threshold=0 python3 job.py >out 2>err
is "$?" 0 'a Python job of eight processes runs'
same python osrtsum
done_testing
