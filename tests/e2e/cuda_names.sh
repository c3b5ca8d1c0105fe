#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A kernel has the name that the program or CUPTI uses, and reports show it as c++filt does: for every way to look it up
# and launch it, every source of device times, stripped or not.
set -u
. "$(dirname "$0")/lib.sh"

on_doubles
command -v c++filt >/dev/null || skip_all 'no c++filt'

# Names as in PyTorch, nvcc (hidden, in several files, an extended lambda), cutlass, Triton and XLA; and names that are
# not C++.
names=(_Z3addPfi _ZN12_GLOBAL__N_16hiddenEPf _ZN5outer5inner5applyIZ4mainEUliE_EEvT_i
	_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_
	_ZN46_GLOBAL__N__0a1b2c3d_13_cuda_names_cu_deadbeef7unnamedENS_6hiddenEPf
	_ZN44_INTERNAL_0a1b2c3d_13_cuda_names_cu_4f5e6d7c5fixedEPf
	_Z4manyIJifSt4pairIiPKcEcEEvDpT_ _Z4overIXadL_Z5twicefEEEvPf
	_Z5applyI17__nv_dl_wrapper_tI11__nv_dl_tagIPFivEXadL_Z4mainEELj1EEJPfEEEvT_i
	_Z3addPfi.part.0 _ZN5saxpy5apply17h930b740aa94f1d3aE \
		'_ZN5saxpy23_$LT$T$u20$as$u20$X$GT$5apply17h930b740aa94f1d3aE' _Znonsense _ZN _Z _
	triton_poi_fused_add_0 ampere_sgemm_128x64_nn loop_multiply_fusion_1
	cutlass_80_tensorop_s1688gemm_128x256_16x3_nt_align4 'kernel with blanks' 'quoted"kernel'
	"$(printf 'triton_red_fused_%0230d' 0)" "_Z$(printf '%d' 300)$(printf 'n%.0s' $(seq 300))v")

readable() { # demangled by c++filt
	local name
	for name in "$@"; do
		c++filt "$name"
	done | LC_ALL=C sort
}

shown() { # CAPTURE REPORT: the distinct names, without the quoting of CSV
	report stats -q -r "$2" -f json "$1.pillion" | python3 -c '
import json, sys
print("\n".join(sorted({row["Name"] for row in json.load(sys.stdin)}, key=str.encode)))'
}

agrees() { # NAME CAPTURE WANTED: the reports of calls and, if there are any, of devices
	is "$(shown "$2" cuda_launch_sum)" "$3" "$1: names of launches"
	[ "${times:-}" = none ] || is "$(shown "$2" cuda_gpu_kern_sum)" "$3" "$1: names of device records"
}

command -v python3 >/dev/null || skip_all 'no python3'
wanted=$(readable "${names[@]}")
for way in runtime legacy module library function unnamed handle; do
	for times in cupti events none; do
		pillion -f true -o named --gpu-activity=$times "$targets/cuda_names" $way "${names[@]}" >out 2>err
		is "$? $(cat out)$(grep -v '^pillion: ' err)" '0 done' "$way, $times: status and output"
		agrees "$way, $times" named "$wanted"
	done
done

# C++ compiled by nvcc; the account has the names by which the program's runtime looked up its kernels.
of_nvcc() { # NAME COMMAND...
	local name=$1
	shift
	"$@" >wanted 2>&1
	rm -f log
	PILLION_SIMGPU_LOG=log pillion -f true -o nvcc "$@" >out 2>err
	is "$? $(cat out)$(grep -v '^pillion: ' err)" "0 $(cat wanted)" "$name: status and output"
	mapfile -t names < <(python3 -c '
import json, sys
print("\n".join(sorted({e["name"] for e in map(json.loads, open("log")) if e["ev"] == "launch"})))')
	is "${#names[@]}" 7 "$name: all kernels ran"
	agrees "$name" nvcc "$(readable "${names[@]}")"
}
times=
if [ -x "$doubles/cuda_names_nvcc" ]; then
	for name in cuda_names_nvcc cuda_names_nvcc_rdc cuda_names_nvcc_static; do
		of_nvcc $name "$doubles/$name"
		strip -o stripped "$doubles/$name" && of_nvcc "$name, stripped" ./stripped
	done
	# The line of a launch is that of the program, not of the stub that nvcc generates, nor that of the kernel.
	wanted=$(grep -n '<<<' "$tests_dir/../targets/cuda_names.cu" | sed 's/^\([0-9]*\):.*/cuda_names.cu:\1 1/')
	for name in cuda_names_nvcc_lines cuda_names_nvcc_lines_o2; do
		pillion -f true -o lines "$doubles/$name" >out 2>err
		report stats -q -r lines -f json lines.pillion >out
		is "$(python3 -c '
import json, os
rows = [row for row in json.load(open("out")) if row["Launches"]]
print("\n".join(sorted("%s %d" % (os.path.basename(row["Line"]), row["Launches"]) for row in rows)))')" "$wanted" \
			"$name: each launch has its line"
	done
	of_nvcc library "$targets/cuda_lookups" plugin "$doubles/cuda_names_nvcc_plugin.so" 1
	strip -o stripped.so "$doubles/cuda_names_nvcc_plugin.so" &&
		of_nvcc 'library, stripped' "$targets/cuda_lookups" plugin ./stripped.so 1
else
	skip 'names by nvcc' 'no nvcc'
fi
done_testing
