#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The programs that the exports target read them: speedscope in headless Chromium and its schema, pprof-format, and
# HolisticTraceAnalysis and TensorBoard's plugin if HTA_PYTHON names a Python that has them; for the latter PYTHON_TORCH
# names one that has PyTorch. npm packages are fetched once per build directory.
set -u
. "$(dirname "$0")/lib.sh"

report export --help | grep -q '^  pprof .*this build has no' && skip_all 'this build has no zlib'
doubles=$PILLION_BUILD_DIR/tests/doubles
[ -x "$doubles/cuda_launches" ] || skip_all 'built without CUDA headers'

LD_LIBRARY_PATH=$doubles pillion -o cuda --osrt-threshold=0 "$doubles/cuda_launches" 50 >out 2>err
is $? 0 'a CUDA program'
for type in speedscope 'folded --metric calls' 'pprof --metric calls' chrome; do
	# shellcheck disable=SC2086
	report export -q -t $type cuda.pillion 2>err
	is "$?" 0 "exported: $type"
done

readers() {
	modules=$PILLION_BUILD_DIR/tests/readers
	node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null || { why='no Node 18' &&
		return 1; }
	chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
		{ why='no Chromium' && return 1; }
	[ ! -e "$modules/.whole" ] || return 0
	command -v npm >/dev/null || { why='no npm' && return 1; }
	mkdir -p "$modules" && printf '{"private":true}\n' >"$modules/package.json"
	why='npm cannot fetch them'
	timeout 60 npm install --prefix "$modules" --no-audit --no-fund --ignore-scripts speedscope@1.25 \
		pprof-format@2 ajv@8 \
		>npm.log 2>&1 && touch "$modules/.whole"
}

if readers; then
	adopt node "$tests_dir/export_readers.mjs" "$chromium" "$modules" cuda
	like "$(tail -n 1 seen)" 'no request' 'driven to the end'
else
	skip 'speedscope and pprof-format' "$why"
fi

if "${HTA_PYTHON:-python3}" -c 'import hta.trace_analysis' 2>/dev/null; then
	for table in cuda_gpu_kern_sum cuda_gpu_mem_time_sum; do
		report stats -q -r $table -f csv -o $table.csv cuda.pillion
	done
	ok 'HolisticTraceAnalysis finds the kernels of the tables' timeout "$patience" "${HTA_PYTHON:-python3}" \
		"$tests_dir/export_hta.py" \
		"$PWD/cuda.json" cuda_gpu_kern_sum.csv cuda_gpu_mem_time_sum.csv
else
	skip 'HolisticTraceAnalysis' 'HTA_PYTHON names no Python that has it'
fi

torch=${PYTHON_TORCH:-python3}
if ! "${HTA_PYTHON:-python3}" -c 'import torch_tb_profiler' 2>/dev/null; then
	skip "TensorBoard's plugin" 'HTA_PYTHON names no Python that has torch_tb_profiler'
elif ! "$torch" -c 'import torch.profiler' 2>/dev/null; then
	skip "TensorBoard's plugin" 'PYTHON_TORCH names no Python that has PyTorch'
else
	steps=${tests_dir%/e2e}/targets/train_steps.py
	timeout "$patience" "$torch" "$steps" torch.pt.trace.json >out 2>&1
	is "$?" 0 "PyTorch's own export"
	pillion -o steps --pytorch=autograd-shapes-nvtx "$torch" "$steps" >out 2>err
	is "$? $(cat out)" '0 ' 'the same program'
	report export -q -t chrome -o steps.pt.trace.json steps.pillion 2>err
	timeout "$patience" "${HTA_PYTHON:-python3}" "$tests_dir/export_tensorboard.py" torch.pt.trace.json \
		steps.pt.trace.json >differences 2>err
	is "$? $(grep -v ' operators$' differences)" '0 ' \
		"TensorBoard's plugin lists the operators of PyTorch's own export"
	like "$(cat differences)" '^[1-9][0-9]+ operators$' 'and there are some'
fi
done_testing
