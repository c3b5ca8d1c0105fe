#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes ops_cnn.sqlite and ops_lstm.sqlite: what Nsight Systems 2022.4 exports of two small PyTorch programs.

    tests/data/ops_sqlite.py DIRECTORY

The CNN has the ranges of PyProf, and of emit_nvtx without sizes. The LSTM consists of two processes whose sequence
numbers are equal: one with PyProf's ranges around LSTMCell, one with those of emit_nvtx(record_shapes=True).
"""
import os
import sqlite3
import sys

SCHEMA = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,
    category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER,
    domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, uint32Value INTEGER,
    int32Value INTEGER, floatValue REAL, jsonTextId INTEGER, jsonText TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
    globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL,
    callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER,
    cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL,
    gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL,
    staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL,
    localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL,
    sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);
"""

PUSH_POP, START_END, RUNTIME = 59, 60, 0


class Database:
    def __init__(self, path):
        if os.path.exists(path):
            os.remove(path)
        self.db = sqlite3.connect(path)
        self.db.execute("PRAGMA page_size = 512")
        self.db.executescript(SCHEMA)
        self.strings = {}
        self.now = 1000
        self.device_now = 1000000

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings) + 1
            self.db.execute("INSERT INTO StringIds VALUES (?, ?)", (self.strings[text], text))
        return self.strings[text]

    def tick(self):
        self.now += 10
        return self.now

    def done(self):
        self.db.commit()
        self.db.execute("VACUUM")
        self.db.close()


class Thread:
    """A thread of a process: its ranges nest as the calls of range() do."""

    def __init__(self, database, pid, tid):
        self.d = database
        self.process = pid << 24
        self.thread = self.process | tid
        self.launches = 0

    def range(self, *texts, registered=False):
        return Range(self, texts, registered)

    def launch(self, kernel, ns, grid=(1, 1, 1), block=(128, 1, 1), template=""):
        d = self.d
        start, end = d.tick(), d.tick()
        d.correlation = getattr(d, "correlation", 0) + 1
        d.db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,?,?,?,?,?,?)",
                     (start, end, RUNTIME, self.thread, d.correlation, d.string("cudaLaunchKernel_v7000"), 0, None))
        name = d.string(kernel)
        d.db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + ",".join("?" * 27) + ")",
                     (d.device_now, d.device_now + ns, 0, 1, 7, d.correlation, self.process,
                      d.string("void " + kernel + template) if template else name, name, name, None, 0, 32,
                      *grid, *block, 0, 0, 0, 0, d.correlation, 32768, None, 0))
        d.device_now += ns + 100


class Range:
    def __init__(self, thread, texts, registered):
        self.t, self.texts, self.registered = thread, texts, registered

    def __enter__(self):
        self.starts = [self.t.d.tick() for _ in self.texts]

    def __exit__(self, *_):
        d = self.t.d
        for start, text in zip(reversed(self.starts), reversed(self.texts)):
            text_id = d.string(text) if self.registered else None
            d.db.execute("INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, endGlobalTid, textId, "
                         "domainId) VALUES (?,?,?,?,?,?,?,?)",
                         (start, d.tick(), PUSH_POP, None if self.registered else text, self.t.thread, self.t.thread,
                          text_id, 0))


# ---- PyProf's texts ----

def tensor(*shape, dtype="float16", name=""):
    return {"name": name, "type": "tensor", "shape": tuple(shape), "dtype": dtype}


def value(v, name=""):
    return {"name": name, "type": type(v).__name__, "value": v}


def call(line, mod, op, *args):
    """The two ranges around a function."""
    return (str({"traceMarker": ["/opt/torch/nn/modules/module.py:1102", line]}),
            str({"mod": mod, "op": op, "args": list(args)}))


FUNCTIONAL = "torch.nn.functional"


def cnn(path):
    """FLOPs: of conv1 2 * 4*6*28*28 * 1*5*5 = 940800, conv2 2 * 4*16*10*10 * 6*5*5 = 1920000, of up, which is
    transposed, 2 * 4*16*10*10 * 8*2*2 = 409600, of the layer 2 * 4*120*400 = 384000."""
    d = Database(path)
    main, autograd = Thread(d, 100, 100), Thread(d, 100, 101)

    def forward(layer, line, op, args, seq, aten, kernels):
        with main.range("layer:" + layer), main.range(*call(line, FUNCTIONAL, op, *args)):
            with main.range(f"aten::{op}, seq = {seq}"), main.range(f"aten::{aten}, seq = {seq}"):
                for k in kernels:
                    main.launch(*k)

    def backward(node, seq, parts):
        """parts: operator, kernels"""
        with autograd.range(f"autograd::engine::evaluate_function: {node}, seq = {seq}", f"{node}, seq = {seq}"):
            for operator, kernels in parts:
                with autograd.range(operator):
                    for k in kernels:
                        autograd.launch(*k)

    with main.range("step"):
        forward("conv1", "lenet.py:20", "conv2d",
                [tensor(4, 1, 28, 28), tensor(6, 1, 5, 5), tensor(6), value((1, 1)), value((2, 2)), value((1, 1)),
                 value(1)], 1, "cudnn_convolution",
                [("nchwToNhwcKernel", 300), ("sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc", 2000)])
        with main.range(*call("lenet.py:21", FUNCTIONAL, "relu", tensor(4, 6, 28, 28))):
            with main.range("aten::relu, seq = 2", registered=True):
                main.launch("vectorized_elementwise_kernel", 400, (19, 1, 1), (128, 1, 1), "<4, relu>(int, T)")
        forward("conv2", "lenet.py:22", "conv2d",
                [tensor(4, 6, 14, 14), tensor(16, 6, 5, 5), tensor(16), value((1, 1), "stride")], 3,
                "cudnn_convolution", [("turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp", 3000)])
        forward("up", "lenet.py:23", "conv_transpose2d",
                [tensor(4, 16, 10, 10, dtype="float32"), tensor(16, 8, 2, 2, dtype="float32"), value(None),
                 value(2, "stride")], 4, "cudnn_convolution_transpose",
                [("cudnn::cnn::dgrad2d_alg1_1", 1500)])
        forward("fc", "lenet.py:25", "linear",
                [tensor(4, 400), tensor(120, 400), tensor(120)], 5, "addmm",
                [("ampere_fp16_s16816gemm_fp16_64x64_ldg8_f2f_tn", 900, (2, 1, 1)), ("splitKreduce_kernel", 100)])
    with main.range("optimizer"):
        main.launch("multi_tensor_apply_kernel", 700, (40, 1, 1), (512, 1, 1))
    backward("AddmmBackward0", 5,
             [("aten::mm", [("ampere_fp16_s16816gemm_fp16_64x64_ldg8_f2f_nn", 800)]),
              ("aten::mm", [("ampere_fp16_s16816gemm_fp16_64x64_ldg8_f2f_nt", 850)]),
              ("aten::sum", [("reduce_kernel", 200)])])
    backward("ConvolutionBackward0", 3,
             [("aten::convolution_backward", [("cudnn_dgrad_f16", 2500), ("cudnn_wgrad_f16", 2600),
                                              ("reduce_kernel", 210)])])
    backward("ConvolutionBackward0", 1,
             [("aten::convolution_backward", [("cudnn_wgrad_f16", 1900)])])
    d.done()


def lstm(path):
    """FLOPs of each step: of the input 2 * 8 * 32 * 256 = 131072, of the state 2 * 8 * 64 * 256 = 262144. Those of
    the layer in cuDNN: 2 * 5*8 * (256*32 + 256*64) = 1966080."""
    d = Database(path)
    cell, shapes, autograd = Thread(d, 200, 200), Thread(d, 201, 201), Thread(d, 201, 202)
    with cell.range("layer:cell"):
        for seq in 1, 5:
            with cell.range(*call("lstm.py:9", "LSTMCell", "forward", tensor(8, 32), tensor(8, 64), tensor(8, 64))):
                with cell.range(f"aten::lstm_cell, seq = {seq}"):
                    with cell.range(f"aten::linear, seq = {seq}", f"aten::addmm, seq = {seq}"):
                        cell.launch("volta_fp16_s884gemm_fp16_64x64_ldg8_f2f_tn", 600)
                    with cell.range(f"aten::linear, seq = {seq + 1}", f"aten::addmm, seq = {seq + 1}"):
                        cell.launch("volta_fp16_s884gemm_fp16_64x64_ldg8_f2f_tn", 650)
                    with cell.range(f"aten::_thnn_fused_lstm_cell, seq = {seq + 2}"):
                        cell.launch("lstm_cell_forward", 150)
    sizes = "sizes = [[8, 32], [8, 64], [8, 64], [256, 32], [256, 64], [256], [256]]"
    with shapes.range("recurrent", f"aten::lstm_cell, seq = 1, op_id = 1, {sizes}"):
        for seq, width in (1, 32), (2, 64):
            with shapes.range(f"aten::linear, seq = {seq}, op_id = {2 * seq}, sizes = [[8, {width}], [256, {width}], "
                              "[256]]",
                              f"aten::addmm, seq = {seq}, op_id = {2 * seq + 1}, sizes = [[256], [8, {width}], "
                              f"[{width}, 256], [], []]"):
                shapes.launch("ampere_sgemm_32x32_sliced1x4_tn", 500)
        with shapes.range("aten::_thnn_fused_lstm_cell, seq = 3, op_id = 6, sizes = [[8, 256], [8, 256], [8, 64], "
                          "[256], [256]]"):
            shapes.launch("lstm_cell_forward", 140)
    with shapes.range("recurrent"):
        with shapes.range("aten::lstm, seq = 4, op_id = 7, sizes = [[5, 8, 32], [], [], [], [], [], [], []]",
                          "aten::_cudnn_rnn, seq = 4, op_id = 8, sizes = [[5, 8, 32], [256, 32], [256, 64], [256], "
                          "[256], [], [25088], [1, 8, 64], [1, 8, 64], [], [], [], [], [], [], [], []]"):
            shapes.launch("elemWiseRNNcell", 90)
            shapes.launch("RNN_blockPersist_fp_LSTM", 5000)
    with autograd.range("autograd::engine::evaluate_function: AddmmBackward0, seq = 2, op_id = 10",
                        "AddmmBackward0, seq = 2, op_id = 11, sizes = [[8, 256]]"):
        with autograd.range("aten::mm, op_id = 12, sizes = [[8, 256], [256, 64]]"):
            autograd.launch("ampere_sgemm_32x32_sliced1x4_nn", 520)
        with autograd.range("aten::mm, op_id = 13, sizes = [[256, 8], [8, 64]]"):
            autograd.launch("ampere_sgemm_32x32_sliced1x4_nt", 530)
    shapes.launch("no_range", 10)
    d.done()


if __name__ == "__main__":
    cnn(os.path.join(sys.argv[1], "ops_cnn.sqlite"))
    lstm(os.path.join(sys.argv[1], "ops_lstm.sqlite"))
