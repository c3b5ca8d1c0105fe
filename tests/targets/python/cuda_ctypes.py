# SPDX-License-Identifier: Apache-2.0
"""cuda_ctypes.py ROUNDS: two CUDA runtimes and the driver by ctypes: allocations, copies, memsets, launches; prints
what came back."""
import ctypes
import sys

rounds = int(sys.argv[1])
driver = ctypes.CDLL('libcuda.so.1')
grid = [ctypes.c_uint(n) for n in (2, 1, 1, 64, 1, 1)]


def need(result):
    if result:
        sys.exit(f'error {result}')


def launch(name):
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    need(driver.cuModuleLoadData(ctypes.byref(module), ctypes.create_string_buffer(4096)))
    need(driver.cuModuleGetFunction(ctypes.byref(function), module, name))
    need(driver.cuLaunchKernel(function, *grid, 0, None, None, None))


for soname in ('libcudart.so.13', 'libcudart.so.12'):
    runtime = ctypes.CDLL(soname)
    size = ctypes.c_size_t(4096)
    for i in range(rounds):
        p, host = ctypes.c_void_p(), ctypes.create_string_buffer(4096)
        need(runtime.cudaMalloc(ctypes.byref(p), size))
        need(runtime.cudaMemcpy(p, host, size, 1))
        need(runtime.cudaMemset(p, i + 1, size))
        launch(b'_Z3addPii')
        need(runtime.cudaMemcpyAsync(host, p, size, 2, None))
        need(runtime.cudaDeviceSynchronize())
        need(runtime.cudaFree(p))
        print(host.raw[:4].hex())
