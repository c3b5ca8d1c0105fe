# SPDX-License-Identifier: Apache-2.0
# PyTorch's own tests, of the sources that PYTORCH_SOURCE names, by the PyTorch of NIGHTLY_PYTHON, which has pytest and
# expecttest, too. Its operators are recorded.
# shellcheck shell=bash disable=SC2034
subset='autograd, nn, jit, data loader, futures, schedulers, FLOPs, record_function; PYTORCH_TESTS names other files'
tests=${PYTORCH_TESTS:-autograd/test_complex.py autograd/test_functional.py nn/test_dropout.py nn/test_init.py
	nn/test_lazy_modules.py nn/test_load_state_dict.py nn/test_module_hooks.py nn/test_packed_sequence.py
	nn/test_parametrization.py nn/test_pruning.py jit/test_async.py jit/test_list_dict.py jit/test_profiler.py
	optim/test_lrscheduler.py profiler/test_profiler_tree.py profiler/test_record_function.py
	test_autograd_fallback.py test_dataloader.py test_flop_counter.py test_futures.py test_module_tracker.py
	test_stateless.py}

# Tests of the data loader that take longest, or fail without us as well.
left_out='get_worker_info or segfault or shuffle or large_sampler or test_sampler or timeout or out_of_order'

obtain() {
	built PYTORCH_SOURCE test/test_autograd.py
}

build() {
	:
}

run() {
	local file
	export OMP_NUM_THREADS=1 PILLION_PYTORCH=autograd-shapes-nvtx
	for file in $tests; do
		echo "== $file"
		(cd "$SOURCE/source/test/$(dirname "$file")" && "${NIGHTLY_PYTHON:-python3}" -m pytest -v --noconftest \
			-p no:cacheprovider --tb=no --show-capture=no -k "not (DataLoader and ($left_out))" \
			"$(basename "$file")")
	done
}

outcomes() { # LOG
	sed -nE 's/^([^ ]+::[^ ]+) (PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR)\>.*%\]$/\1\t\2/p' "$1"
}
