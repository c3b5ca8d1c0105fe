#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The rows of the libraries pass on as many words as the functions of the installed headers take.
set -u
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip_all 'no python3'
cuda=${CUDA_HOME:-/usr/local/cuda}/include
"$PILLION_BUILD_DIR/tests/hook-names" --libraries >rows

# check HEADER PATH...: HEADER is a set of headers at these paths.
check() {
	local name=$1 got

	shift
	got=$(python3 "$tests_dir/library_prototypes.py" rows "$@")
	like "$got" '^[1-9][0-9]*$' "$name: declares wrapped functions"
	is "$(printf '%s\n' "$got" | sed '$d')" '' \
		"$name: the wrappers pass on all arguments ($(printf '%s\n' "$got" | tail -n 1) functions)"
	compared=$(printf '%s\n' "$got" | tail -n 1)
}

for name in cublas_api.h cublasLt.h cublasXt.h cudnn_ops.h cudnn_cnn.h cudnn_adv.h cudnn_graph.h cusparse.h \
	cusolverDn.h cusolverSp.h cusolverMg.h cufft.h cufftXt.h nccl.h openmpi/mpi.h mpich/mpi.h mpi.h \
	hdf5/serial/H5Fpublic.h hdf5/serial/H5Dpublic.h hdf5/serial/H5Apublic.h hdf5/serial/H5Gpublic.h \
	hdf5/serial/H5Opublic.h hdf5/serial/H5Ipublic.h; do
	found=
	for folder in "$cuda" /usr/include /usr/lib/"$(uname -m)"-linux-gnu /usr/include/"$(uname -m)"-linux-gnu; do
		for path in "$folder/$name" "$folder/${name%/*}/include/${name##*/}"; do
			[ -n "$found" ] || [ ! -e "$path" ] || found=$path
		done
	done
	[ -n "$found" ] || continue
	# MPICH 4 declares its functions in headers that its mpi.h includes.
	others=
	[ "${name##*/}" != mpi.h ] || others=$(ls "${found%/*}/mpi_proto.h" "${found%/*}/mpio.h" 2>/dev/null)
	# shellcheck disable=SC2086 # a list
	check "$name" "$found" $others
	[ "$name" != mpich/mpi.h ] || ! grep -q '^#define MPI_VERSION  *4' "$found" ||
		is "$compared" "$(grep -c ' P\{0,1\}MPI_' rows)" 'MPICH 4 declares all wrapped functions of MPI'
done
[ "$count" -gt 0 ] || skip_all 'no header of any library here'
done_testing
