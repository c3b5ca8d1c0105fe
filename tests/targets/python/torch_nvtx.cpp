/* SPDX-License-Identifier: Apache-2.0 */
/* What a CUDA build of PyTorch brings along and a CPU build lacks: the one class by which its profiler reaches NVTX.
 * With it a CPU build's own emit_nvtx works, and writes the texts that it writes on a GPU. Built by the test against
 * PyTorch's headers. */
#include <nvtx3/nvToolsExt.h>
#include <torch/csrc/profiler/stubs/base.h>

using namespace torch::profiler::impl;

namespace {
struct Nvtx : ProfilerStubs {
	void record(c10::DeviceIndex *, ProfilerVoidEventStub *, int64_t *) const override {}
	float elapsed(const ProfilerVoidEventStub *, const ProfilerVoidEventStub *) const override { return 0; }
	void mark(const char *name) const override { nvtxMarkA(name); }
	void rangePush(const char *name) const override { nvtxRangePushA(name); }
	void rangePop() const override { nvtxRangePop(); }
	bool enabled() const override { return true; }
	void onEachDevice(std::function<void(int)>) const override {}
	void synchronize() const override {}
};
Nvtx nvtx;
struct Register {
	Register() { registerCUDAMethods(&nvtx); }
} registered;
} /* namespace */
