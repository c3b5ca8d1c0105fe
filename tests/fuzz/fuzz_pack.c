/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer's entry point: reads a packed file by pack, the model and two reports. Any other input is used as the
 * columns of a block in a new zstd frame, because mutations rarely produce a valid one, and as data that must survive
 * packing and unpacking. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "report/read/pack.h"
#include "report/read/pack_block.h"
#include "report/tables/report.h"
#include "report/time/clocks/align.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *nowhere;
static struct block_coder *coder;

static void run_report(const struct report_context *context, const char *name)
{
	struct emit emit = {.file = nowhere, .format = FORMAT_CSV};
	struct table table = {0};

	report_find(name)->run(context, &table);
	emit_table(&emit, name, name, &table);
	table_done(&table);
}

static void run_pack(const uint8_t *data, size_t size)
{
	int fd = memfd_create("pack", MFD_CLOEXEC);
	char path[64], *paths[] = {path};
	struct report_context context = {0};
	struct model model;
	struct err err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size && !model_open(&model, paths, 1, &err)) {
		align_hosts(&model);
		context.model = &model;
		context.symbols = symbols_new(&model, false);
		run_report(&context, "osrt_sum");
		run_report(&context, "processes");
		symbols_free(context.symbols);
	}
	model_done(&model);
	close(fd);
}

static void run_block(const uint8_t *data, size_t size)
{
	size_t packed_size = ZSTD_compressBound(size);
	uint8_t *packed = malloc(packed_size), *ret = malloc(BLOCK_BYTES);

	packed_size = ZSTD_compress(packed, packed_size, data, size, 1);
	block_decode(coder, packed, packed_size, ret, size % (BLOCK_BYTES + 1));
	block_decode(coder, packed, packed_size, ret, BLOCK_BYTES);
	free(packed);
	size = size < BLOCK_BYTES ? size : BLOCK_BYTES;
	packed = (uint8_t *)block_encode(coder, data, size, &packed_size);
	if (!block_decode(coder, packed, packed_size, ret, size) || memcmp(data, ret, size) != 0)
		abort();
	free(ret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!nowhere) {
		nowhere = fopen("/dev/null", "we");
		coder = block_coder_new();
	}
	if (size >= 8 && !memcmp(data, &(uint64_t){TF_PACK_MAGIC}, 8))
		run_pack(data, size);
	else
		run_block(data, size);
	return 0;
}
