#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cuBLAS, cuDNN, cuSPARSE, cuSOLVER, cuFFT, NCCL: every call of a double that logs its arguments is recorded once and
# passed on unchanged to the last bit; also opened with RTLD_LOCAL; and without any library.
set -u
. "$(dirname "$0")/lib.sh"

all=cublas,cudnn,cusparse,cusolver,cufft,nccl
reports=blas_sum,cudnn_sum,cusparse_sum,cusolver_sum,cufft_sum,nccl_sum
addresses='s/0x\(7f\|55\)[0-9a-f]*/LOCAL/g' # of the program's own stack; 55: under qemu-user

recorded() { # CAPTURE: "count name" of each function
	for r in ${reports//,/ }; do
		report stats -q -r "$r" -f csv "$1"
	done | awk -F, '$3 ~ /^[0-9]+$/ { count[$9] += $3 } END { for (name in count) print count[name], name }' | sort
}
said() { # OUTPUT: likewise, of what the double said
	{ grep -v -e '^-' -e '^failed' "$1" | sed 's/ .*//'; echo cublasSgemm; } | sort | uniq -c |
		awk '{ print $1, $2 }' | sort
}
shapes() { # CAPTURE REPORT FUNCTION
	report stats -q -r "$2" -f csv "$1" | awk -F, -v name="$3" '$9 == name { print $10; exit }'
}

"$targets/library_calls" 7 | sed "$addresses" >wanted
pillion -o calls -t $all "$targets/library_calls" 7 >raw 2>err
is "$?" 0 'status'
is "$(sed "$addresses" raw)" "$(cat wanted)" 'integer and floating arguments and results are unchanged'
is "$(grep -v '^pillion: ' err)" '' 'nothing is printed'
is "$(recorded calls.pillion)" "$(said wanted)" 'every call is recorded once'

is "$(shapes calls.pillion blas_sum cublasZgemm)" \
	'transA=C transB=N m=3000000000 n=2 k=1 ldA=3000000001 ldB=5 ldC=3000000002 mode=3' \
	'cublasZgemm_v2_64 under its plain name, with 64-bit sizes and the math mode of its handle'
is "$(shapes calls.pillion blas_sum cublasGemmStridedBatchedEx)" \
	'transA=N transB=N m=10 n=20 k=30 typeA=R_16BF ldA=40 strideA=5000000000 typeB=R_16BF ldB=50 '\
'strideB=6000 typeC=R_32F ldC=60 strideC=7000 batch=12 compute=32F algo=-1 mode=3' \
	'types, strides, batch, algorithm'
like "$(shapes calls.pillion blas_sum cublasLtMatmul)" 'transB=T typeA=R_16F mA=100 nA=300 ldA=101 .* batchD=5$' \
	'cublasLt: the attributes of its descriptors'
is "$(report stats -q -r blas_sum -f csv calls.pillion | awk -F, '$9 == "cublasLtMatmul" { print $11 }')" \
	$((7 * 2 * 100 * 200 * 300 * 5)) 'FLOP by definition'
is "$(shapes calls.pillion cudnn_sum cudnnConvolutionForward)" \
	'typeA=FLOAT dimA=16x3x32x32 typeB=FLOAT dimB=8x3x5x5 typeC=FLOAT dimC=16x8x28x28 '\
'pad=0x1 step=2x3 dilation=4x5 mode=1 compute=FLOAT algo=6' \
	'a convolution and its tensors'
is "$(shapes calls.pillion cudnn_sum cudnnBackendExecute)" \
	'kind=plan+conv-fwd typeA=HALF dimA=8x3x224x224 typeB=HALF dimB=64x3x7x7 '\
'typeC=HALF dimC=8x64x112x112 engine=7' \
	'a backend plan with its operation, tensors and engine'
like "$(shapes calls.pillion cusparse_sum cusparseSpMM)" \
	'^transA=N transB=T mA=1000 nA=500 nnzA=4321 typeA=R_32F mB=500 nB=64 ' 'a sparse product'
is "$(shapes calls.pillion cusolver_sum cusolverDnSsyevdx)" 'n=55 ldA=56' 'eigenvalues'
is "$(shapes calls.pillion cufft_sum cufftExecC2C)" 'dim=256x128 type=C2C batch=10 direction=-1' \
	"a transform with its plan's sizes"
like "$(report stats -q -r nccl_sum -f csv calls.pillion | grep ncclAllReduce)" \
	",1048576,float32,sum,,0x[0-9a-f]+,3 of 8,$((7 * 4 << 20))," \
	'a collective with count, type, operation, communicator, rank, bytes'
parts() { # CAPTURE: operation, communicator and rank of each collective, by name
	report stats -q -r nccl_sum -f csv "$1" | awk -F, '$9 == "ncclAllReduce" { print $12, $14, $15 }' | sort
}
is "$(parts calls.pillion | awk '{ print $2 }' | sort -u | wc -l)" 3 \
	'a communicator and two derived from it are distinct'
pillion -o ranks -t nccl sh -c 'for r in 0 1; do RANK=$r "$0" 2 || exit; done' "$targets/library_calls" >raw 2>err
is "$(parts ranks.pillion | sort -k 1,1 -u | awk '{ print $1 }' | tr '\n' ' ')$(parts ranks.pillion |
	awk '{ print $2 }' | sort -u | wc -l)" 'max min sum 3' \
	'two ranks have the same numbers for a communicator and for a derived one'
is "$(parts ranks.pillion | sed -n 's/^sum .* \(. of .\)$/\1/p' | tr '\n' ' ')" '0 of 8 1 of 8 ' \
	'each rank of the communicator has its number'
like "$(report stats -q -r nccl_sum -f csv calls.pillion | grep ncclSend)" ',4096,bfloat16,,5,' \
	'a message with its peer'

like "$(report stats -q -r nccl_sum -f csv calls.pillion | grep ncclAllGatherConfig)" \
	",512,float32,,,0x[0-9a-f]+,3 of 8,$((7 * 4 * 512 * 8))," 'a collective with a configuration'
like "$(report stats -q -r nccl_sum -f csv calls.pillion | grep ncclPutSignal)" ',8192,float32,,6,' \
	'a message into the window of a peer'
like "$(report stats -q -r nccl_sum -f csv calls.pillion | grep ncclSignal)" ',ncclSignal,.*,2,0x' \
	'a signal, by a communicator to which ranks were added'

ok 'chrome' report export -t chrome -o calls.json calls.pillion
like "$(cat calls.json)" '"shape":"transA=N transB=T m=64' 'chrome has the shapes'
if report export -t sqlite -o calls.sqlite calls.pillion 2>/dev/null && command -v python3 >/dev/null; then
	rows=$(python3 -c 'import sqlite3; print(sqlite3.connect("calls.sqlite").execute(
		"select count(*) from CUBLAS_EVENTS join StringIds on id = nameId " +
		"where value = ?", ("cublasSgemm",)).fetchone()[0])')
	is "$rows" 8 "nsys's tables have the calls"
else
	skip "nsys's tables" 'no sqlite or no python3'
fi

"$targets/library_local" "$targets/library_plugin.so" 3 | sed "$addresses" >wanted
pillion -o local -t $all "$targets/library_local" "$targets/library_plugin.so" 3 >raw 2>err
is "$? $(sed "$addresses" raw)" "0 $(cat wanted)" 'RTLD_LOCAL: arguments and results are unchanged'
is "$(recorded local.pillion)" "$(said wanted)" 'RTLD_LOCAL: every call is recorded once'

# The library is in a local scope, and no symbol of it is bound; the results are unchanged also if a stub of the same
# name forwards to it.
SIMLIBRARIES=$targets/libsimlibraries.so
export SIMLIBRARIES
for way in library_looked_up library_stubbed; do
	"$targets/$way" 3 | sed "$addresses" >wanted
	pillion -o $way -t $all "$targets/$way" 3 >raw 2>err
	is "$? $(sed "$addresses" raw)" "0 $(cat wanted)" "$way: arguments and results are unchanged"
	is "$(grep -v '^pillion: ' err)" '' "$way: nothing is printed"
	is "$(recorded $way.pillion)" "$(if [ $way = library_stubbed ]; then said wanted |
		sed 's/4 cublasSgemm/3 cublasSgemm/' | sort; else said wanted; fi)" \
		"$way: every call is recorded once"
done
is "$(shapes library_looked_up.pillion blas_sum cublasZgemm)" "$(shapes calls.pillion blas_sum cublasZgemm)" \
	'library_looked_up: the same arguments are recorded'
like "$(report stats -q -r nccl_sum -f csv library_looked_up.pillion | grep ncclAllReduce)" ',3 of 8,' \
	'library_looked_up: the rank of a communicator is recorded'
SIMNCCL_IN_PROGRESS=1 pillion -o progress -t nccl "$targets/library_calls" 1 >raw 2>err
like "$(report stats -q -r nccl_sum -f csv progress.pillion | grep ncclAllReduce)" ',3 of 8,' \
	'a communicator created in the background: its rank is recorded'
pillion -o one -t cublas "$targets/library_looked_up" 2 >raw 2>err
is "$(recorded one.pillion | sed 's/.* //' | sort -u | tr '\n' ' ')" \
	'cublasCreate cublasGemmStridedBatchedEx cublasLtMatmul cublasSgemm cublasZgemm ' \
	'looked up: only selected libraries are recorded'

# What a call's definition is in is used again, so that a later turn of the ring needs another one.
pillion -o kept --ring=100ms -t cublas,nccl "$targets/library_calls" 200000 >/dev/null 2>err
like "$(report stats -q -r ledger -f csv kept.pillion)" 'overwritten by the ring' 'with a ring: calls are overwritten'
is "$(report stats -q -r blas_sum -f csv kept.pillion | awk -F, '$9 == "cublasZgemm" { print $10 }')" \
	"$(shapes calls.pillion blas_sum cublasZgemm)" 'with a ring: those that are kept have their shape'
is "$(report stats -q -r nccl_sum -f csv kept.pillion | awk -F, '$9 == "ncclSend" { print $10, $13 }')" '4096 5' \
	'and their count and peer'

pillion -o none -t osrt "$targets/library_calls" 2 >raw 2>err
is "$? $(sed "$addresses" raw | head -n 20)" "0 $("$targets/library_calls" 2 | sed "$addresses" | head -n 20)" \
	'deselected: arguments and results are unchanged'
is "$(recorded none.pillion 2>/dev/null)" '' 'deselected: nothing is recorded'

is "$("$targets/library_weak")" '-1 -1 -1 -1' 'no library: weak references are null without pillion'
pillion -o weak -t $all,mpi "$targets/library_weak" >out 2>err
is "$? $(cat out)" '0 1 1001 2 16' 'with pillion each call returns "not initialized"'
doubles=$PILLION_BUILD_DIR/tests/doubles
if [ -x "$targets/cuda_gemm" ]; then
	LD_LIBRARY_PATH=$doubles pillion -o gemm -t cuda,cublas "$targets/cuda_gemm" 5 >out 2>err
	is "$? $(grep -v '^pillion: ' err)" '0 ' 'products on the simulated GPU'
	kernels=$(report stats -q -r cuda_gpu_kern_sum -f csv gemm.pillion |
		awk -F, '$2 ~ /^[0-9]+$/ { time += $2; n += $3 } END { print n, time }')
	is "${kernels% *}" 5 "the library's kernels, launched by its own runtime, are recorded once"
	is "$(report stats -q -r blas_sum -f csv gemm.pillion | awk -F, '$9 == "cublasSgemm" { print $3, $12 }')" \
		"5 ${kernels#* }" \
		'the report has their device time with the products'
else
	skip 'device time of products' 'built without CUDA headers'
fi
done_testing
