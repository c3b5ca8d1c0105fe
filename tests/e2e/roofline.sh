#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Attributes of devices, their peak rates, and what kernels reach of them: with each source of device times, of a device
# whose peak rates are not known, and of convolutions of which a table by hand has the FLOPs.
set -u
. "$(dirname "$0")/lib.sh"

on_doubles
command -v python3 >/dev/null || skip_all 'no python3'
json() { # EXPRESSION of the rows r, from a report's json
	python3 -c 'import json, sys
r = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1"
}

# ---- attributes ----

# The simulated GPU has 80 SMs at 1500 MHz, compute capability 9.0: 80 * 1.5e9 * 256 operations of fp32 per second, and
# 4096 bits at 2 * 1600 MHz.
for source in cupti events; do
	pillion -o $source --gpu-activity=$source -t cuda,cublas,osrt --cudabacktrace=all:0 "$targets/cuda_gemm" 200 \
		sizes >sizes 2>err
	is $? 0 "$source: the job has run"
	report stats -q -r cuda_devices -f json $source.pillion >devices.json 2>err
	is "$? $(cat err)" '0 ' "$source: the devices"
	is "$(json '[r[0][k] for k in ("Device", "Name", "Compute Capability", "SMs", "SM Clock (MHz)",
		"Memory Clock (MHz)", "Memory Bus (bits)", "Bandwidth (GB/s)", "ECC", "PCI Bus",
		"UUID")]' <devices.json)" \
		"[0, 'Simulated GPU 0', '9.0', 80, 1500, 1600, 4096, 1638.4, 'off', '0000:01:00.0', \
'73696d75-6c61-7465-642d-6770752d3030']" "$source: attributes"
	is "$(json '[r[0][k + " TFLOP/s"] for k in ("fp32", "fp64 tensor", "tf32 tensor", "fp16 tensor", "fp8 tensor",
		"fp8")]' <devices.json)" '[30.72, 30.72, 245.76, 491.52, 983.04, None]' "$source: peak rates"
	report stats -q -r cuda_api_sum -f csv $source.pillion | grep -c 'Attribute\|TotalMem\|Uuid' >seen
	is "$(cat seen)" 0 "$source: our own calls of the driver are not the program's"
done
if report export -q -t sqlite -o cupti.sqlite cupti.pillion 2>err; then
	is "$(python3 -c 'import sqlite3
print(sqlite3.connect("cupti.sqlite").execute("SELECT name, busLocation, isDiscrete, l2CacheSize, totalMemory, "
    "memoryBandwidth, clockRate, smCount, uuid, cuDevice, maxShmemPerSm, maxWarpsPerSm, computeMajor, computeMinor "
    "FROM TARGET_INFO_GPU").fetchall())')" "[('Simulated GPU 0', '0000:01:00.0', 1, 41943040, 8589934592, \
1638400000000, 1500000000, 80, '73696d75-6c61-7465-642d-6770752d3030', 0, 233472, 64, 9, 0)]" \
		"TARGET_INFO_GPU of nsys's tables"
	is "$(report ops -f csv -c type,peak cupti.sqlite | sort -u | tr '\n' ' ')" '-, Type,Peak(%) ' \
		'a database without calls of libraries has no FLOPs, so no shares'
else
	like "$(cat err)" 'no sqlite' 'a build without sqlite'
fi

# ---- shares of the peak ----

report ops -f csv -c flops,sil,type,peak cupti.pillion >ops.csv
is "$(awk -F, 'NR > 1 && sprintf("%.1f", int(1000 * $1 / ($2 * 30720) + 0.5) / 10) != $4' ops.csv)" '' \
	'ops: a share of the peak rate of fp32'
is "$(wc -l <ops.csv)" 201 'of 200 products'
report stats -q -r roofline -f json cupti.pillion >roofline.json 2>err
is "$? $(cat err)" '0 ' 'the roofline'
report stats -q -r cuda_gpu_kern_sum -f csv cupti.pillion >kernels.csv
is "$(json 'sum(x["Total Time (ns)"] for x in r)' <roofline.json)" \
	"$(awk -F, 'NR > 1 { sum += $2 } END { print sum }' kernels.csv)" 'its time is that of all kernels'
is "$(json 'sum(x["FLOPs"] or 0 for x in r)' <roofline.json)" \
	"$(awk '{ sum += 2 * $1 * $2 * $3 } END { printf "%.0f", sum }' sizes)" 'its FLOPs are 2MNK of each product'
is "$(json '[x["Name"] for x in r if abs(x["FLOPs"] / x["Total Time (ns)"] - x["GFLOP/s"]) > 1e-3
	or abs(x["FLOPs"] / x["Estimated (MB)"] / 1e6 - x["FLOP/byte"]) > 1e-3
	or abs(x["Attainable GFLOP/s"] - min(30720, 1638.4 * x["FLOP/byte"])) > 1
	or x["Bound"] != ("compute" if 1638.4 * x["FLOP/byte"] > 30720 else "memory")]' <roofline.json)" '[]' \
	'rates, intensities and bounds'
is "$(json '{x["Type"] for x in r}' <roofline.json)" "{'fp32'}" 'of fp32 without tensor cores'
report stats -q -r lines -f json cupti.pillion >lines.json 2>err
is "$(json '[x for x in r if x["FLOPs"]
	and abs(x["Peak (%)"] - 100 * x["FLOPs"] / x["GPU Time (ns)"] / 30720) > 0.06]' <lines.json)" '[]' \
	'lines: the share of the peak rate'
! has_unwinder || is "$(json 'sum(x["FLOPs"] for x in r if x["Peak (%)"])' <lines.json)" \
	"$(json 'sum(x["FLOPs"] for x in r)' <roofline.json)" 'lines: of all FLOPs'
report stats -q -r roofline_line_sum -f json cupti.pillion >by_line.json
is "$(json 'sum(x["FLOPs"] for x in r)' <by_line.json)" "$(json 'sum(x["FLOPs"] for x in r)' <roofline.json)" \
	'the roofline by line has the same FLOPs'

# ---- two devices, and one that is not known ----

PILLION_SIMGPU_DEVICES=2 pillion -o two -t cuda "$targets/cuda_event_timing" devices 40 >out 2>err
is "$? $(report stats -q -r cuda_devices -f json two.pillion | json '[(x["Device"], x["PCI Bus"]) for x in r]')" \
	"0 [(0, '0000:01:00.0'), (1, '0000:02:00.0')]" 'two devices: each once'

# Two processes for which different devices have the number 0, and one more that has the first of them again.
ranks=0
for process in 0 1 0; do
	PILLION_SIMGPU_FIRST=$process pillion -o "ranks$((ranks++))" -t cuda,cublas "$targets/cuda_gemm" 4 sizes >out \
		2>err
	is $? 0 "a process of which device $process has the number 0"
done
is "$(report stats -q -r cuda_devices -f json ranks?.pillion | json '[x["UUID"][-2:] for x in r]')" "['30', '31']" \
	'devices are told apart by their UUIDs'

PILLION_SIMGPU_CAPABILITY=19 pillion -o unknown -t cuda,cublas "$targets/cuda_gemm" 4 sizes >out 2>err
report stats -q -r roofline -f json unknown.pillion >unknown.json 2>err
is "$? $(json '[[x[k] for k in ("Peak GFLOP/s", "Peak (%)", "Bound", "Attainable GFLOP/s")] for x in r]' \
	<unknown.json)" \
	'0 [[None, None, None, None], [None, None, None, None]]' 'unknown: no rate is invented'
like "$(report stats -r roofline unknown.pillion | tail -n 3)" \
	'no peak rates are known of Simulated GPU 0 \(0\) with compute capability 1.9' 'unknown: which device'

# ---- convolutions ----

# rank, input, weight, result, groups, padding, stride, dilation; FLOPs by hand: 2 * results * taps of each
cat >convolutions <<'END'
4  2 3 8 8      4 3 3 3     2 4 6 6       1 0 1 1  15552
4  1 3 224 224  64 3 7 7    1 64 112 112  1 3 2 1  236027904
4  2 8 16 16    16 8 3 3    2 16 16 16    1 2 1 2  1179648
4  2 8 10 10    16 2 3 3    2 16 10 10    4 1 1 1  115200
4  4 8 12 12    8 1 3 3     4 8 12 12     8 1 1 1  82944
4  2 4 1 9      6 4 1 3     2 6 1 7       1 0 1 1  2016
5  1 2 8 8 8    4 2 3 3 3   1 4 6 6 6     1 0 1 1  93312
4  8 64 14 14   256 64 1 1  8 256 14 14   1 0 1 1  51380224
4  1 4 5 5      4 4 1 1     1 4 7 7       1 1 1 1  1568
4  1 4 10 10    4 4 2 2     1 4 5 5       1 0 2 1  3200
END
awk '{ NF--; print }' convolutions >input
pillion -o convolutions -t cuda,cudnn "$targets/cuda_conv" <input >out 2>err
is $? 0 'convolutions: the job has run'
report ops -f csv -c kernel,flops,type,tc convolutions.pillion >rows
is "$(tail -n +2 rows)" "$(awk '{ for (i = 1; i <= 3; i++)
	printf "sm90_xmma_%s_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tensorop,%d,fp16,1\n",
		i == 1 ? "fprop" : i == 2 ? "dgrad" : "wgrad", $NF }' convolutions)" \
	'FLOPs of convolutions and both gradients: strided, dilated, grouped, transposed, 1D, 3D'
is "$(report stats -q -r roofline -f json convolutions.pillion | json '{(x["Type"], x["Peak GFLOP/s"]) for x in r}')" \
	"{('fp16 tensor', 491520)}" 'convolutions: the peak rate of tensor cores'
done_testing
