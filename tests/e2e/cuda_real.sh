#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# NVIDIA's own libraries on the simulated driver: a real runtime, shared and static, cuBLAS and cuDNN. They look up
# hundreds of functions, do not find NVIDIA's internal ones, and fail. With pillion they make the same look-ups and fail
# in the same way.
#   PILLION_NVIDIA_LIBRARIES  directories that hold libcublas.so.13 and libcudnn.so.9, with colons; none: wheels of
#                             python3, the toolkit, the system's
set -u
. "$(dirname "$0")/lib.sh"

doubles=$PILLION_BUILD_DIR/tests/doubles
cuda=${CUDA_HOME:-/usr/local/cuda}
[ -e "$doubles/libcuda.so.1" ] || skip_all 'built without CUDA headers'
wheels=$(python3 -c 'import glob, site, sys
for d in site.getsitepackages() + [site.getusersitepackages()]:
    print("\n".join(glob.glob(d + "/nvidia/*/lib")))' 2>/dev/null | paste -sd:)
libraries=${PILLION_NVIDIA_LIBRARIES:-$wheels:$cuda/lib64:/usr/lib/$(uname -m)-linux-gnu}
mkdir driver
ln -s "$doubles/libcuda.so.1" driver/
export LD_LIBRARY_PATH="$work/driver:$cuda/lib64:$libraries"
export PILLION_SIMGPU_LOOKUPS=1 PILLION_GPU_ACTIVITY=none

# Each look-up: name, version, flags, and whether it was found; in order.
lookups() { # LOG
	python3 -c 'import json, sys
for line in open(sys.argv[1]):
    e = json.loads(line)
    if e["ev"] == "lookup":
        print(e["name"], e["version"], e["flags"], e["found"])' "$1"
}

same() { # NAME PROGRAM ARGUMENT...
	local name=$1
	shift
	rm -rf bare.log us.log "$name.pillion"
	PILLION_SIMGPU_LOG=bare.log timeout "$patience" "$@" >wanted 2>wanted_err
	local plain=$?
	PILLION_SIMGPU_LOG=us.log pillion -t cuda -o "$name" "$@" >out 2>err
	is "$? $(cat out)" "$plain $(cat wanted)" \
		"$name: the same status and output: $(tr '\n' ' ' <wanted | cut -c1-60)"
	is "$(grep -v '^pillion: ' err)" "$(cat wanted_err)" "$name: its stderr"
	lookups bare.log >bare
	lookups us.log >us
	ok "$name: the same $(wc -l <bare) look-ups as without pillion" cmp bare us
	ok "$name: look-ups were made" test -s bare
}

if [ -e "$cuda/lib64/libcudart.so.13" ] && [ -x "$doubles/cuda_launches_nvcc" ]; then
	same shared "$doubles/cuda_launches_nvcc" 1
	same static "$doubles/cuda_launches_nvcc_static" 1
	is "$(wc -l <us)" "$(sort -u us | wc -l)" 'a static runtime performs each look-up once'
	# A runtime under ctypes, found by dlsym alone.
	same dlsym "$targets/cuda_lookups" real libcudart.so.13 cudaMalloc cudaDeviceSynchronize cudaFree
else
	skip 'a real runtime' 'no CUDA 13 toolkit with nvcc'
fi

real() { # LIBRARY FUNCTION...
	local found
	found=$(IFS=:; for d in $libraries; do [ -e "$d/$1" ] && echo "$d/$1"; done | head -n 1)
	if [ -n "$found" ]; then
		same "${1%.so.*}" "$targets/cuda_lookups" real "$@"
	else
		skip "$1" 'not installed'
	fi
}
real libcublas.so.13 cublasCreate_v2
real libcublasLt.so.13 cublasLtCreate
real libcudnn.so.9 cudnnCreate
done_testing
