# SPDX-License-Identifier: Apache-2.0
# NumPy's and SciPy's own tests, from PyPI.
# shellcheck shell=bash disable=SC2034
subset='numpy: memory, maps, threads, processes, files; scipy: threads of fft, files, callbacks'

obtain() {
	pypi numpy scipy pytest hypothesis threadpoolctl
}

build() {
	:
}

run() {
	local packages
	packages=$(echo "$SOURCE"/venv/lib/python3*/site-packages)
	OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2 "$SOURCE/venv/bin/python" -m pytest -q -rA -p no:cacheprovider \
		--tb=no --show-capture=no "$packages"/numpy/_core/tests/test_{memmap,mem_overlap,mem_policy}.py \
		"$packages"/numpy/_core/tests/test_{multithreading,multiprocessing,records}.py \
		"$packages"/numpy/lib/tests/test_{io,format,_datasource}.py \
		"$packages"/numpy/random/tests/test_smoke.py \
		"$packages"/scipy/fft/tests/test_multithreading.py "$packages"/scipy/io/tests/test_{mmio,fortran}.py \
		"$packages"/scipy/linalg/tests/test_blas.py "$packages"/scipy/_lib/tests/test_{ccallback,tmpdirs}.py
}

outcomes() { # LOG
	sed -nE 's/^(PASSED|FAILED|XFAIL|XPASS|ERROR) ([^ ]+::.*)$/\2\t\1/p' "$1" |
		sed -E 's/ - [^\t]*//; s|^[^\t]*site-packages/||'
}
