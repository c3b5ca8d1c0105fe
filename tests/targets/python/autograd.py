# SPDX-License-Identifier: Apache-2.0
"""autograd.py STEPS NVTX_LIBRARY: launches kernels in ranges like those of PyTorch's emit_nvtx: a forward pass, and a
backward pass on a thread of its own, with the gradient of a gradient and checkpointing. Each line's backward kernels
have a name of their own. Prints for each such line: its number, launches, and the name."""
import contextlib
import ctypes
import sys
import threading
import time

steps, nvtx = int(sys.argv[1]), ctypes.CDLL(sys.argv[2])
driver, runtime = ctypes.CDLL('libcuda.so.1'), ctypes.CDLL('libcudart.so.13')
Handle = ctypes.c_void_p
runtime.cudaFree(None)
module, memory = Handle(), Handle()
driver.cuModuleLoadData(ctypes.byref(module), ctypes.create_string_buffer(4096))
runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(1 << 20))
kernels = {}
for name in 'forward', 'again', 'of_linear', 'of_wide', 'of_block':
    kernels[name] = Handle()
    driver.cuModuleGetFunction(ctypes.byref(kernels[name]), module, name.encode())


@contextlib.contextmanager
def ranges(*texts):
    for text in texts:
        nvtx.text_push(text.encode())
    yield
    for text in texts:
        nvtx.text_pop()


def arguments(kernel):
    return kernels[kernel], 8, 1, 1, 128, 1, 1, 0, None, None, None


def linear(seq):
    with ranges(f'aten::linear, seq = {seq}, op_id = 1, sizes = [[32, 64], [16, 64]]',
                f'aten::mm, seq = {seq}, op_id = 2, sizes = [[32, 64], [64, 16]]'):
        driver.cuLaunchKernel(*arguments('forward'))  # linear


def wide(seq):
    with ranges(f'aten::mm, seq = {seq}, op_id = 3, sizes = [[8, 64], [64, 128]]'):
        driver.cuLaunchKernel(*arguments('forward'))  # wide


def block(kernel, seq):
    with ranges(f'aten::relu, seq = {seq}, op_id = 4'):
        driver.cuLaunchKernel(*arguments(kernel))  # block


def node(name, seq):
    return ranges(f'autograd::engine::evaluate_function: {name}, seq = {seq}', f'{name}, seq = {seq}')


def backward(first):
    runtime.cudaFree(None)  # the thread has a context
    with node('CheckpointFunctionBackward', first + 2):
        block('again', first + 7)
        with node('ReluBackward0', first + 7):
            driver.cuLaunchKernel(*arguments('of_block'))
    with node('MmBackward0', first + 1), ranges(f'aten::mm, seq = {first + 9}, sizes = [[8, 128], [128, 64]]'):
        driver.cuLaunchKernel(*arguments('of_wide'))
    with node('MmBackward0', first + 9), ranges('aten::mm, sizes = [[8, 64], [64, 128]]'):
        driver.cuLaunchKernel(*arguments('of_wide'))
    with node('MmBackward0', first):
        with ranges('aten::mm, sizes = [[64, 32], [32, 16]]'):
            driver.cuLaunchKernel(*arguments('of_linear'))
        with ranges('aten::mm, sizes = [[32, 16], [16, 64]]'):
            driver.cuLaunchKernel(*arguments('of_linear'))
    runtime.cudaMemset(memory, 0, ctypes.c_size_t(1 << 20))


for step in range(steps):
    linear(10 * step)
    wide(10 * step + 1)
    with ranges(f'CheckpointFunction, seq = {10 * step + 2}'):
        block('forward', 10 * step + 2)
    engine = threading.Thread(target=backward, args=(10 * step,))
    engine.start()
    engine.join()
    runtime.cudaDeviceSynchronize()
time.sleep(0.2)  # the summary of a run of less than 100 ms has no tables
lines = open(__file__).read().split('\n')
for what, launches, kernel in ('linear', 3, 'of_linear'), ('wide', 3, 'of_wide'), ('block', 3, 'of_block|again'):
    number, = [i for i, line in enumerate(lines, 1) if line.endswith('# ' + what)]
    print(number, launches * steps, kernel)
