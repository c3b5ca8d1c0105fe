# SPDX-License-Identifier: Apache-2.0
"""xla.py STEPS NVTX_LIBRARY: launches kernels in ranges of domain TSL as XLA does on a GPU: a module that is compiled
once and executed STEPS times, by two operations, a command buffer and a kernel outside of them."""
import contextlib
import ctypes
import sys

steps, nvtx = int(sys.argv[1]), ctypes.CDLL(sys.argv[2])
driver, runtime = ctypes.CDLL('libcuda.so.1'), ctypes.CDLL('libcudart.so.13')
runtime.cudaFree(None)
module = ctypes.c_void_p()
driver.cuModuleLoadData(ctypes.byref(module), ctypes.create_string_buffer(4096))


@contextlib.contextmanager
def xla(text):
    nvtx.xla_push(text.encode())
    yield
    nvtx.xla_pop()


def launch(name):
    kernel = ctypes.c_void_p()
    driver.cuModuleGetFunction(ctypes.byref(kernel), module, name.encode())
    if driver.cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, None, None, None):
        sys.exit('a launch failed')


with xla('XlaCompile:#module=jit_step,program_id=7#'), xla('XlaCompileBackend:#module=jit_step,program_id=7#'):
    pass
for i in range(steps):
    with xla('XlaModule:#prefix=jit(step)/jit(main),hlo_module=jit_step,program_id=7#'):
        with xla('Thunk:#hlo_op=fusion.1#'):
            launch('fusion_1')
        with xla('Thunk:#name=dot.2#'):
            launch('gemm')
            launch('splitk_reduce')
        with xla('Thunk:#hlo_op=command_buffer#'):
            launch('loop_add_fusion')
        launch('copy_fusion')
launch('of_another_library')
runtime.cudaDeviceSynchronize()
