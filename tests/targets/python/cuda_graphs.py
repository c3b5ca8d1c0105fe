# SPDX-License-Identifier: Apache-2.0
"""cuda_graphs.py HOW REPLAYS NVTX_LIBRARY: makes CUDA graphs by ctypes and replays them. Prints "made", its own line
and the operator for each call that makes a node which the device executes, in their order, separated by tabs.

HOW: capture   as torch.cuda.graph does it: operators in ranges, a stream capture by the runtime, two streams
     explicit  as XLA's command buffers: nodes added by the driver API, then updated in place
     child     a captured graph added to another one twice, and one that is launched into a capture
     update    an executable graph updated by a graph captured again, and a clone
     branch    a conditional node with two bodies, the second one captured
     equal     two bodies of which the second is executed, then a child graph replaced by another, all equal"""
import contextlib
import ctypes
import os
import sys

how, replays = sys.argv[1], int(sys.argv[2])
nvtx = ctypes.CDLL(sys.argv[3])
flags = ctypes.c_ulonglong(int(os.environ.get('GRAPH_FLAGS', '0')))
operators = ['']
driver = ctypes.CDLL('libcuda.so.1')
runtime = ctypes.CDLL('libcudart.so.13')
Handle = ctypes.c_void_p


def need(result):
    if result:
        sys.exit(f'error {result} in line {sys._getframe(1).f_lineno}')


def made():
    """The caller's line makes a node."""
    print('made', sys._getframe(1).f_lineno, operators[-1].split(',')[0], sep='\t')


@contextlib.contextmanager
def operator(name):
    nvtx.text_push(name.encode())
    operators.append(name)
    yield
    operators.pop()
    nvtx.text_pop()


def handle(function, *arguments):
    """What the function stores through its first argument."""
    ret = Handle()
    need(function(ctypes.byref(ret), *arguments))
    return ret


need(runtime.cudaFree(None))
module = handle(driver.cuModuleLoadData, ctypes.create_string_buffer(4096))
kernels = {name: handle(driver.cuModuleGetFunction, module, name.encode())
           for name in ('_Z4gemmv', '_Z4softv', '_Z7bimodalv')}
memory = handle(runtime.cudaMalloc, ctypes.c_size_t(1 << 20))
other = ctypes.c_void_p(memory.value + (1 << 19))
stream = handle(runtime.cudaStreamCreateWithFlags, 1)
side = handle(runtime.cudaStreamCreateWithFlags, 1)
fork, join = handle(runtime.cudaEventCreate), handle(runtime.cudaEventCreate)


# The innermost Python frame of a call is that of the line that makes it, so these only compute arguments.
def grid(name, blocks, on):
    return kernels[name], blocks, 1, 1, 256, 1, 1, 0, on, None, None


def copying(size, on):
    return memory, other, ctypes.c_size_t(size), 3, on


def clearing(size, on):
    return memory, 0, ctypes.c_size_t(size), on


launch, copy, clear = driver.cuLaunchKernel, runtime.cudaMemcpyAsync, runtime.cudaMemsetAsync


@contextlib.contextmanager
def capturing(graph):
    need(runtime.cudaStreamBeginCapture(stream, 1))
    yield
    need(runtime.cudaStreamEndCapture(stream, ctypes.byref(graph)))


def forward(scale):
    with operator('aten::mm, seq = 1, sizes = [[3, 4], [4, 5]]'):
        made(); need(launch(*grid('_Z4gemmv', 64 * scale, stream)))
        with operator('aten::softmax, seq = 2'):
            made(); need(launch(*grid('_Z4softv', 8 * scale, stream)))
    with operator('aten::copy_, seq = 3'):
        made(); need(copy(*copying(4096 * scale, stream)))
        made(); need(clear(*clearing(512 * scale, stream)))
    for _ in range(2):
        made(); need(launch(*grid('_Z7bimodalv', 32 * scale, stream)))


def replay(executable):
    for step in range(replays):
        with operator(f'step {step}'):
            need(runtime.cudaGraphLaunch(executable, stream))
    need(runtime.cudaStreamSynchronize(stream))


def capture():
    graph = Handle()
    with operator('aten::forward, seq = 0'), capturing(graph):
        forward(1)
        need(runtime.cudaEventRecord(fork, stream))
        need(runtime.cudaStreamWaitEvent(side, fork, 0))
        made(); need(launch(*grid('_Z4softv', 100, side)))
        made(); need(launch(*grid('_Z4gemmv', 200, stream)))
        need(runtime.cudaEventRecord(join, side))
        need(runtime.cudaStreamWaitEvent(stream, join, 0))
        made(); need(launch(*grid('_Z4softv', 300, stream)))
    executable = handle(runtime.cudaGraphInstantiate, graph, flags)
    need(runtime.cudaGraphDestroy(graph))
    replay(executable)


class KernelNode(ctypes.Structure):
    _fields_ = [('func', Handle), ('dimensions', ctypes.c_uint * 6), ('shared', ctypes.c_uint), ('params', Handle),
                ('extra', Handle), ('kern', Handle), ('ctx', Handle)]


class MemsetNode(ctypes.Structure):
    _fields_ = [('dst', ctypes.c_uint64), ('pitch', ctypes.c_size_t), ('value', ctypes.c_uint),
                ('element', ctypes.c_uint), ('width', ctypes.c_size_t), ('height', ctypes.c_size_t)]


def kernel_node(name, blocks):
    return ctypes.byref(KernelNode(kernels[name], (ctypes.c_uint * 6)(blocks, 1, 1, 256, 1, 1)))


NONE, ONE = (None, ctypes.c_size_t(0)), ctypes.c_size_t(1)


def explicit():
    graph, first, node = handle(driver.cuGraphCreate, 0), Handle(), Handle()
    clear_node = MemsetNode(memory.value, 0, 0, 4, 1024, 1)
    with operator('jit::gemm, seq = 1'):
        made(); need(driver.cuGraphAddKernelNode_v2(ctypes.byref(first), graph, *NONE, kernel_node('_Z4gemmv', 64)))
    after = ctypes.byref(first), ONE
    with operator('jit::soft, seq = 2'):
        made(); need(driver.cuGraphAddKernelNode_v2(ctypes.byref(node), graph, *after, kernel_node('_Z4softv', 16)))
        made(); need(driver.cuGraphAddMemsetNode(ctypes.byref(node), graph, *NONE, ctypes.byref(clear_node), None))
    executable = handle(driver.cuGraphInstantiateWithFlags, graph, flags)
    replay(executable)
    need(driver.cuGraphExecKernelNodeSetParams_v2(executable, first, kernel_node('_Z7bimodalv', 128)))
    replay(executable)


def child():
    inner, outer = Handle(), Handle()
    with capturing(inner):
        forward(2)
    executable = handle(runtime.cudaGraphInstantiate, inner, ctypes.c_ulonglong(0))
    with capturing(outer):
        made(); need(launch(*grid('_Z4gemmv', 300, stream)))
        need(runtime.cudaGraphLaunch(executable, stream))
        made(); need(launch(*grid('_Z4softv', 400, stream)))
    handle(runtime.cudaGraphAddChildGraphNode, outer, None, ctypes.c_size_t(0), inner)
    replay(handle(runtime.cudaGraphInstantiate, outer, ctypes.c_ulonglong(0)))


def update():
    graph, again = Handle(), Handle()
    with capturing(graph):
        forward(1)
    executable = handle(runtime.cudaGraphInstantiate, graph, ctypes.c_ulonglong(0))
    replay(executable)
    with capturing(again):
        forward(3)
    need(runtime.cudaGraphExecUpdate(executable, again, None))
    replay(executable)
    clone = handle(runtime.cudaGraphClone, graph)
    replay(handle(runtime.cudaGraphInstantiate, clone, ctypes.c_ulonglong(0)))


class Conditional(ctypes.Structure):
    _fields_ = [('type', ctypes.c_int), ('reserved', ctypes.c_int * 3), ('handle', ctypes.c_uint64),
                ('kind', ctypes.c_int), ('size', ctypes.c_uint), ('bodies', ctypes.POINTER(Handle)), ('ctx', Handle),
                ('padding', ctypes.c_longlong * 26)]


def add_conditional(graph, after, default):
    """Adds an IF node. Returns its two bodies."""
    condition = ctypes.c_uint64()
    need(driver.cuGraphConditionalHandleCreate(ctypes.byref(condition), graph, None, default, 1))
    choice = Conditional(type=13, handle=condition, kind=0, size=2)
    handle(driver.cuGraphAddNode_v2, graph, *after, ctypes.byref(choice))
    return [Handle(choice.bodies[i]) for i in range(2)]


def branch():
    graph, first, node = handle(driver.cuGraphCreate, 0), Handle(), Handle()
    made(); need(driver.cuGraphAddKernelNode_v2(ctypes.byref(first), graph, *NONE, kernel_node('_Z4gemmv', 64)))
    met, unmet = add_conditional(graph, (ctypes.byref(first), None, ONE), 1)
    with operator('jit::met, seq = 1'):
        made(); need(driver.cuGraphAddKernelNode_v2(ctypes.byref(node), met, *NONE, kernel_node('_Z4softv', 32)))
    need(driver.cuStreamBeginCaptureToGraph(stream, unmet, None, None, ctypes.c_size_t(0), 1))
    with operator('jit::unmet, seq = 2'):
        made(); need(launch(*grid('_Z4softv', 32, stream)))
        made(); need(launch(*grid('_Z4gemmv', 500, stream)))
    need(driver.cuStreamEndCapture(stream, ctypes.byref(Handle())))
    replay(handle(driver.cuGraphInstantiateWithFlags, graph, ctypes.c_ulonglong(0)))


def equal():
    graph, node = handle(driver.cuGraphCreate, 0), Handle()
    met, unmet = add_conditional(graph, (None, None, ctypes.c_size_t(0)), 0)
    with operator('jit::met, seq = 1'):
        made(); need(driver.cuGraphAddKernelNode_v2(ctypes.byref(node), met, *NONE, kernel_node('_Z4softv', 32)))
    with operator('jit::unmet, seq = 2'):
        made(); need(driver.cuGraphAddKernelNode_v2(ctypes.byref(node), unmet, *NONE, kernel_node('_Z4softv', 32)))
    replay(handle(driver.cuGraphInstantiateWithFlags, graph, ctypes.c_ulonglong(0)))
    first, second = Handle(), Handle()
    with capturing(first):
        made(); need(launch(*grid('_Z4gemmv', 64, stream)))
    with capturing(second):
        made(); need(launch(*grid('_Z4gemmv', 64, stream)))
    graph, other = handle(driver.cuGraphCreate, 0), handle(driver.cuGraphCreate, 0)
    handle(driver.cuGraphAddChildGraphNode, graph, *NONE, first)
    handle(driver.cuGraphAddChildGraphNode, other, *NONE, second)
    executable = handle(driver.cuGraphInstantiateWithFlags, graph, ctypes.c_ulonglong(0))
    replay(executable)
    need(runtime.cudaGraphExecUpdate(executable, other, None))
    replay(executable)


{'capture': capture, 'explicit': explicit, 'child': child, 'update': update, 'branch': branch,
 'equal': equal}[how]()
