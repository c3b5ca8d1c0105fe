/* SPDX-License-Identifier: Apache-2.0 */
/* Which GPU of a machine that was sampled is a device of a process. */
#include "energy_fixture.h"
#include "report/events/energy/energy.h"

CAPTURED_SUITE(energy_device);

/* properties: of device 1; NULL: the recorder could not ask for them. */
struct properties {
	struct tf_device_facts facts;
	struct tf_attribute_value values[3];
};

static const char *gpu_with(const struct properties *properties, const char *variables, size_t size, uint32_t device)
{
	const struct energy_source *s;
	struct writer_thread t;
	struct writer w;

	writer_init(&w, 1, 100, 1, 900 * MS);
	writer_variables(&w, variables, size);
	if (properties) {
		writer_thread(&w, &t, 100, "main", 4 * TF_PAGE);
		writer_blob(&t, TF_BLOB_DEVICE_FACTS, 1, properties, sizeof(*properties));
	}
	writer_end(&w, TF_END_EXIT, 0, 3000 * MS);
	writer_save(&w, directory);
	writer_done(&w);
	read_capture();
	s = energy_of_device(&model, &model.images[0], device);
	return s ? s->id : "none";
}

static const char *gpu_of(const char *variables, size_t size, uint32_t device)
{
	return gpu_with(NULL, variables, size, device);
}

static void three_gpus(void)
{
	static struct file f;

	file_begin(&f, 0x77);
	file_source(&f, TF_ENERGY_CPU, 5, 0, "intel-rapl:0");
	file_source(&f, TF_ENERGY_GPU, 0, 0, "GPU-cc");
	file_source(&f, TF_ENERGY_GPU, 1, 0, "GPU-aa");
	file_source(&f, TF_ENERGY_GPU, 2, 0, "GPU-bb");
	file_save(&f, "node1.77.energy");
}

Test(energy_device, devices_are_numbered_by_address)
{
	three_gpus();
	cr_expect_str_eq(gpu_of("", 1, 2), "GPU-cc");
}

Test(energy_device, visible_devices_are_numbered_in_their_order)
{
	static const char variables[] = "CUDA_VISIBLE_DEVICES=2,0\0";

	three_gpus();
	cr_expect_str_eq(gpu_of(variables, sizeof(variables), 1), "GPU-aa");
}

Test(energy_device, visible_devices_may_be_named)
{
	static const char variables[] = "CUDA_VISIBLE_DEVICES=GPU-bb,GPU-c\0";

	three_gpus();
	cr_expect_str_eq(gpu_of(variables, sizeof(variables), 1), "GPU-cc");
}

Test(energy_device, a_device_that_is_not_visible_is_none)
{
	static const char variables[] = "CUDA_VISIBLE_DEVICES=1\0";

	three_gpus();
	cr_expect_str_eq(gpu_of(variables, sizeof(variables), 1), "none");
}

/* The driver numbers the devices that a process sees; NVML knows all of them. */
Test(energy_device, a_device_is_known_by_its_uuid_or_its_address)
{
	struct properties p = {{1 << 30, ""}, {{TF_ATTRIBUTE_PCI_DOMAIN, 0}, {TF_ATTRIBUTE_PCI_BUS, 0x3b},
					       {TF_ATTRIBUTE_PCI_DEVICE, 0}}};
	static struct file f;

	file_begin(&f, 0x77);
	file_source(&f, TF_ENERGY_GPU, 0, 0, "GPU-31323334-3536-3738-3930-616263646566");
	file_source(&f, TF_ENERGY_GPU, 1, 0, "00000000:3B:00.0");
	file_source(&f, TF_ENERGY_GPU, 2, 0, "00000000:3C:00.0");
	file_save(&f, "node1.77.energy");
	cr_expect_str_eq(gpu_with(&p, "", 1, 1), "00000000:3B:00.0");
	model_done(&model);
	p.values[1].value = 0x3d;
	cr_expect_str_eq(gpu_with(&p, "", 1, 1), "none", "it is none of those that were sampled");
	model_done(&model);
	memcpy(p.facts.uuid, "1234567890abcdef", sizeof(p.facts.uuid));
	cr_expect_str_eq(gpu_with(&p, "", 1, 1), "GPU-31323334-3536-3738-3930-616263646566");
}
