# SPDX-License-Identifier: Apache-2.0
"""What this machine has: GPU, driver, toolkit, profilers, frameworks; or the doubles in place of all of NVIDIA's."""
import glob
import json
import os
import subprocess
import sys
import tempfile

import session

DRIVER_PLACES = ["/usr/local/nvidia/lib64", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
    "/usr/lib/wsl/lib"]
DRIVER = "libcuda.so"

# In a process of its own: a driver that is up would not survive our forks.
ASK_DRIVER = """
import ctypes, json
cuda = ctypes.CDLL("libcuda.so.1")
said = {"result": cuda.cuInit(0)}
n, version = ctypes.c_int(), ctypes.c_int()
if said["result"] == 0:
    cuda.cuDeviceGetCount(ctypes.byref(n))
    cuda.cuDriverGetVersion(ctypes.byref(version))
    name = ctypes.create_string_buffer(256)
    path = next((line.split()[-1] for line in open("/proc/self/maps") if "libcuda.so" in line), "")
    said.update(devices=n.value, version=version.value, names=[], path=path)
    for i in range(n.value):
        cuda.cuDeviceGetName(name, 256, i)
        said["names"].append(name.value.decode())
print(json.dumps(said))
"""

ASK_FRAMEWORK = {
    "torch": "import torch; print(torch.__version__, 'CUDA', torch.version.cuda); "
             "assert torch.cuda.is_available(), 'PyTorch here has no GPU'",
    "triton": "import triton; print(triton.__version__)",
    "jax": "import jax; print(jax.__version__); "
           "assert jax.default_backend() == 'gpu', 'JAX here has no GPU: ' + jax.default_backend()",
    "cupy": "import cupy; print(cupy.__version__, 'CUDA', cupy.cuda.runtime.runtimeGetVersion())",
}


def output(argv, timeout=60, env=None):
    """What a command said, both streams, and whether it succeeded."""
    try:
        ran = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, env=env,
            stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, str(error)
    return ran.returncode == 0, ran.stdout.decode(errors="replace").strip()


def why_not(compiler, suffix):
    """Why a compiler cannot make a program; empty: it can."""
    if not compiler:
        return "none here"
    with tempfile.TemporaryDirectory() as place:
        source = os.path.join(place, "empty" + suffix)
        with open(source, "w", encoding="ascii") as file:
            file.write("int main(void) { return 0; }\n")
        ok, said = output([compiler, "-o", os.path.join(place, "empty"), source])
    return "" if ok else "does not work here: " + said[-150:]


def cuda_version(number):
    return f"{number // 1000}.{number % 1000 // 10}" if number else "unknown"


class Machine:
    def __init__(self, python, doubles=None):
        """doubles: a build whose simulated GPU takes the place of NVIDIA's."""
        self.python, self.doubles, self.environment = python, doubles and os.path.join(doubles, "tests", "doubles"), {}
        self.is_simulated = bool(doubles)
        self.root = self.find_toolkit()
        self.nvcc = session.which("nvcc", os.path.join(self.root or "", "bin"))
        self.cc = session.which("cc") or session.which("gcc") or session.which("clang")
        self.ncu = session.which("ncu", os.path.join(self.root or "", "bin"),
            *sorted(glob.glob("/opt/nvidia/nsight-compute/*")))
        self.nsys = session.which("nsys", os.path.join(self.root or "", "bin"),
            *sorted(glob.glob("/opt/nvidia/nsight-systems/*/bin")))
        self.wheels = self.find_wheels()
        self.include, self.libraries = self.find_headers(), self.find_libraries()
        self.driver, self.why_no_gpu = self.find_gpu()
        self.why_no = {"nvcc": why_not(self.nvcc, ".cu"), "cc": why_not(self.cc, ".c")}
        self.frameworks = {}

    # ---- what is there ----

    def find_toolkit(self):
        nvcc = session.which("nvcc")
        roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), nvcc
            and os.path.dirname(os.path.dirname(os.path.realpath(nvcc))),
                 "/usr/local/cuda", *sorted(glob.glob("/usr/local/cuda-*"), reverse=True)]
        return next((r for r in roots if r and os.path.exists(os.path.join(r, "include", "cuda_runtime_api.h"))), None)

    def find_wheels(self):
        """Where NVIDIA's Python packages have their libraries."""
        ok, said = output([self.python, "-c",
            "import sysconfig, site; print(sysconfig.get_path('purelib')); print(*site.getsitepackages(), sep='\\n')"])
        places = dict.fromkeys(said.splitlines() if ok else [])
        return [d for p in places for d in sorted(glob.glob(os.path.join(p, "nvidia", "*")))]

    def find_headers(self):
        places = [os.path.join(self.root, "include"),
            os.path.join(self.root, "extras/CUPTI/include")] if self.root else []
        places += [os.path.join(w, "include") for w in self.wheels]
        places += [os.path.join(os.path.dirname(__file__), "../../.cuda-headers/include")]  # from scripts/setup
        return [p for p in places if os.path.isdir(p)]

    def find_libraries(self):
        if self.is_simulated:
            return [self.doubles]
        places = [os.path.join(self.root, d) for d in ("lib64", "lib", "extras/CUPTI/lib64")] if self.root else []
        places += [os.path.join(w, "lib") for w in self.wheels] + DRIVER_PLACES
        return [p for p in places if os.path.isdir(p)]

    def shared_object(self, stem):
        """The file of a library, by the start of its name ("libcublas.so"); the newest of its major versions."""
        if stem == DRIVER:
            return self.driver.get("path")
        for place in self.libraries:
            found = sorted(glob.glob(os.path.join(place, stem + "*")), key=lambda p: (len(p), p))
            whole = [p for p in found if p.endswith(".so") or p.rpartition(".so.")[2].isdigit()]
            if whole:
                return whole[-1]
        return None

    def with_library(self, stem):
        """A LD_LIBRARY_PATH with a library's folder in it."""
        now = self.environment.get("LD_LIBRARY_PATH") or os.environ.get("LD_LIBRARY_PATH")
        return ":".join(filter(None, [now, os.path.dirname(self.shared_object(stem))]))

    def everywhere(self):
        return ":".join([*self.libraries, *filter(None, [self.environment.get("LD_LIBRARY_PATH"),
            os.environ.get("LD_LIBRARY_PATH")])])

    def find_gpu(self):
        env = dict(os.environ)
        if self.is_simulated:
            self.environment["LD_LIBRARY_PATH"] = self.doubles
        elif not self.driver_loads(env):
            place = next((p for p in DRIVER_PLACES if os.path.exists(os.path.join(p, "libcuda.so.1"))), None)
            if not place:
                return {}, "there is no libcuda.so.1: no NVIDIA driver"
            self.environment["LD_LIBRARY_PATH"] = ":".join(filter(None, [os.environ.get("LD_LIBRARY_PATH"), place]))
        ok, said = output([self.python, "-c", ASK_DRIVER], env={**env, **self.environment})
        if not ok:
            return {}, "the driver cannot be asked: " + said[-200:]
        driver = json.loads(said.splitlines()[-1])
        if driver["result"]:
            return driver, f"cuInit gave {driver['result']}"
        return driver, "" if driver["devices"] else "no GPU here"

    def driver_loads(self, env):
        return output([self.python, "-c", "import ctypes; ctypes.CDLL('libcuda.so.1')"], env=env)[0]

    def framework(self, name):
        """(version, why it cannot be used)"""
        if name not in self.frameworks:
            if self.is_simulated:
                self.frameworks[name] = "", f"{name}: the simulated GPU does not run it"
            else:
                ok, said = output([self.python, "-c", ASK_FRAMEWORK[name]], timeout=120,
                    env={**os.environ, **self.environment})
                lines = said.splitlines() or ["says nothing"]
                self.frameworks[name] = (lines[-1] if ok else "", "" if ok else f"{name}: {lines[-1]}")
        return self.frameworks[name]

    def lacks(self, name):
        """Why a check that needs it cannot be made; empty: it is there."""
        if name in ASK_FRAMEWORK:
            return self.framework(name)[1]
        if name == "real":
            return "not on the simulated GPU" if self.is_simulated else ""
        if name.startswith("lib"):
            return "" if self.shared_object(name) else f"no {name} found"
        compiler = {"cupti.h": "cc", "headers": "cc", "nvcc": "nvcc"}.get(name)
        if compiler and self.why_no[compiler]:
            return f"{compiler}: {self.why_no[compiler]}"
        if name == "cupti.h":
            return "" if self.header(name) else "no cupti.h found"
        if name == "headers":
            return "" if self.header("cuda_runtime_api.h") else "no CUDA headers found"
        return "" if getattr(self, name) else f"no {name} here"

    def toolkit(self):
        """What pillion is built with, if it is none that Meson would find."""
        headers = self.header("cuda_runtime_api.h")
        return self.root or (os.path.dirname(headers) if headers else None)

    def header(self, name):
        return next((p for p in self.include if os.path.exists(os.path.join(p, name))), None)

    # ---- compiling ----

    def linked(self, libraries, linker):
        """Libraries by their files' names, so that a .so without a version is not needed; found again at run time."""
        words = []
        for stem in libraries:
            path = self.shared_object(stem)
            if not path:
                raise session.Skip(f"no {stem} found")
            place, name = os.path.split(path)
            words += ["-L" + place, "-l:" + name]
            if stem != DRIVER:  # the loader finds it, or LD_LIBRARY_PATH names it
                words.append(f"{linker}-rpath={place}")
        return [*words, f"{linker}--disable-new-dtags"]  # libraries beside a library are found by its path, too

    def nvcc_line(self, source, out, cudart, libraries, shared):
        words = [self.nvcc, "-O2", "-Wno-deprecated-gpu-targets", "-I" + os.path.join(session.ROOT, "tests", "targets"),
            "-o", out, source]
        words += ["-I" + p for p in self.include if p != os.path.join(self.root or "", "include")] if libraries else []
        if cudart == "shared":
            words += ["--cudart", "none", *self.linked(["libcudart.so"], "-Xlinker=")]
        elif self.is_simulated:
            words += ["--cudart", "none", os.path.join(self.doubles, "libsimcudart.a")]
        else:
            words += ["--cudart", "static"]
        return words + self.linked(libraries, "-Xlinker=") + ["-ldl", "-lpthread"]

    def cc_line(self, source, out, cudart, libraries, shared):
        words = [self.cc, "-O2", "-o", out, source, *(["-shared", "-fPIC"] if shared else [])]
        words += ["-I" + p for p in self.include]
        if self.is_simulated:
            words += ["-DSIMULATED", "-I" + os.path.join(session.ROOT, "tests", "doubles")]
        if cudart == "shared":
            words += self.linked(["libcudart.so"], "-Wl,")
        return words + self.linked(libraries, "-Wl,") + ["-ldl", "-lpthread"]

    def injection(self, library):
        """How a library gets into a process that uses CUDA."""
        cupti = self.shared_object("libcupti.so")
        named = {"CUPTI_COUNT_LIBRARY": cupti} if cupti else {}
        if self.is_simulated:
            return {"LD_PRELOAD": library, "CUPTI_COUNT_NOW": "1", **named}
        return {"CUDA_INJECTION64_PATH": library, **named}

    # ---- in words ----

    def facts(self):
        rows = {"GPU": ", ".join(self.driver.get("names", [])) or self.why_no_gpu,
            "CUDA of the driver": cuda_version(self.driver.get("version"))}
        if not self.is_simulated and session.which("nvidia-smi", "/usr/local/nvidia/bin"):
            smi = session.which("nvidia-smi", "/usr/local/nvidia/bin")
            ok, said = output([smi, "--query-gpu=driver_version,memory.total,clocks.sm,clocks.max.sm",
                "--format=csv,noheader"])
            rows["nvidia-smi"] = said.splitlines()[0] if ok and said else "did not answer"
        rows["toolkit"] = self.root or "none"
        if self.nvcc:
            rows["nvcc"] = (output([self.nvcc, "--version"])[1].splitlines() or ["?"])[-1]
        rows["CUPTI"] = self.cupti_version()
        for tool in ("ncu", "nsys"):
            path = getattr(self, tool)
            rows[tool] = (output([path, "--version"])[1].splitlines() or ["?"])[-1] if path else "none"
        rows["python"] = f"{self.python} " + output(
            [self.python, '-c', 'import platform; print(platform.python_version())'])[1]
        for name in ASK_FRAMEWORK:
            version, why = self.framework(name)
            rows[name] = version or why
        rows["kernel"] = " ".join(os.uname()[i] for i in (0, 2, 4))
        rows["cores"] = str(os.cpu_count())
        return rows

    def cupti_version(self):
        path = self.shared_object("libcupti.so")
        if not path:
            return "none"
        ask = (f"import ctypes; v = ctypes.c_uint32(); c = ctypes.CDLL({path!r}); "
               "c.cuptiGetVersion(ctypes.byref(v)); print(v.value)")
        ok, said = output([sys.executable, "-c", ask], env={**os.environ, **self.environment})
        return f"{path}, interface {said if ok else 'unknown: ' + said[-100:]}"
