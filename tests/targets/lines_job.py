# SPDX-License-Identifier: Apache-2.0
# lines_job.py WHAT: a training script in which one line is slow: the line marked `PLANTED WHAT`.
import ctypes
import multiprocessing
import os
import struct
import sys
import tempfile
import threading
import time

batches = 12
kernel_name = ctypes.create_string_buffer(b"_Z5stepsv")


def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for i in range(500): i % 7  # PLANTED spin


def order(seconds):
    words = [str(i) for i in range(5000)]
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sorted(words)  # PLANTED order


def fetch(sample):
    time.sleep(0.02)  # PLANTED fetch
    return sample


def collate(samples):
    total = 0
    for s in samples:
        total += sum(i * i % 7 for i in range(s * 4000))  # PLANTED collate
    return total


def step(batch):
    time.sleep(0.002)
    return batch % 10


def load(indices, out):
    for i in indices:
        out.put(sum([fetch(s) for s in range(i, i + 24)]))
    out.put(None)


def train_with_workers(method):
    context = multiprocessing.get_context(method)
    out = context.Queue()
    workers = [context.Process(target=load, args=(range(k, batches, 3), out)) for k in range(3)]
    for w in workers:
        w.start()
    running = len(workers)
    while running:
        batch = out.get()
        running -= batch is None
        step(batch or 0)
    for w in workers:
        w.join()


def train_alone():
    for i in range(batches):
        step(collate(range(i, i + 24)))


class Cache:
    def __init__(self):
        self.lock = threading.Lock()

    def get(self, i):
        with self.lock:  # PLANTED lock
            time.sleep(0.01)
            return i


def train_with_lock():
    cache = Cache()
    threads = [threading.Thread(target=lambda: [step(cache.get(i)) for i in range(batches)]) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def read_labels(path):
    labels = []
    for i in range(400):
        with open(path, "rb", buffering=0) as f:
            labels.append(f.read())  # PLANTED file
    return labels


def train_with_file():
    with tempfile.NamedTemporaryFile() as f:
        f.write(os.urandom(4 << 20))
        f.flush()
        read_labels(f.name)
    for i in range(batches):
        step(i)


class Samples(list):
    """A data set: what torch asks of one is __len__ and __getitem__."""


def collate_tensors(samples):
    import torch
    return torch.tensor([float(fetch(s)) for s in samples])


def train_with_torch():
    import torch
    torch.set_num_threads(1)
    loader = torch.utils.data.DataLoader(Samples(range(batches * 24)), batch_size=24, num_workers=2,
        collate_fn=collate_tensors)
    model = torch.nn.Linear(24, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()


def register_kernel(cuda):
    """What nvcc's start-up code does, for a kernel that the simulated device runs: getpid(), which takes no
    arguments."""
    run = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value
    kernels = (ctypes.c_uint64 * 12)(ctypes.addressof(kernel_name), run)
    image = struct.pack("16sQQ", b"simgpu-kernels1", 1, ctypes.addressof(kernels))
    image = ctypes.create_string_buffer(image, len(image))
    binary = struct.pack("IIQQ", 0x466243B1, 1, ctypes.addressof(image), 0)
    binary = ctypes.create_string_buffer(binary, len(binary))
    getattr(cuda, "__cudaRegisterFatBinary").restype = ctypes.c_void_p
    handle = ctypes.c_void_p(getattr(cuda, "__cudaRegisterFatBinary")(binary))
    host = ctypes.create_string_buffer(8)
    getattr(cuda, "__cudaRegisterFunction")(handle, host, kernel_name, kernel_name, -1, None, None, None, None, None)
    getattr(cuda, "__cudaRegisterFatBinaryEnd")(handle)
    return host, (kernels, image, binary)


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


def train_on_device():
    cuda = ctypes.CDLL(os.environ["LINES_CUDART"])
    kernel, keep = register_kernel(cuda)
    size, items = 8 << 20, ctypes.c_void_p()
    cuda.cudaMalloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    cuda.cudaMemcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    cuda.cudaLaunchKernel.argtypes = [ctypes.c_void_p, Dim3, Dim3, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    cuda.cudaFree.argtypes = [ctypes.c_void_p]
    host = ctypes.create_string_buffer(size)
    assert cuda.cudaMalloc(ctypes.byref(items), size) == 0  # PLANTED allocate
    for i in range(batches):
        assert cuda.cudaMemcpy(items, host, size, 1) == 0  # PLANTED copy
        assert cuda.cudaLaunchKernel(kernel, Dim3(4, 1, 1), Dim3(32, 1, 1), None, 0, None) == 0  # PLANTED launch
    assert cuda.cudaDeviceSynchronize() == 0
    assert cuda.cudaFree(items) == 0


if __name__ == "__main__":
    {
        "spin": lambda: spin(0.5),
        "order": lambda: order(0.5),
        "alone": train_alone,
        "fork": lambda: train_with_workers("fork"),
        "spawn": lambda: train_with_workers("spawn"),
        "lock": train_with_lock,
        "file": train_with_file,
        "torch": train_with_torch,
        "device": train_on_device,
    }[sys.argv[1]]()
    print("done")
