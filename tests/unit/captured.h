/* SPDX-License-Identifier: Apache-2.0 */
/* For suites in which each test writes a capture into its own directory and opens it as a model. Declare such a
 * suite with CAPTURED_SUITE(NAME); include this header in one file only. */
#ifndef PILLION_TEST_CAPTURED_H
#define PILLION_TEST_CAPTURED_H

#include <string.h>

#include "opened.h"

static char directory[] = "/tmp/pillion-unit-XXXXXX";
static struct model model;

static void captured_begin(void)
{
	cr_assert_not_null(mkdtemp(directory));
	capture_create(directory);
}

static void captured_end(void)
{
	model_done(&model);
	capture_remove(directory);
}

/* Of the model. */
static inline const struct machine *captured_host(const char *name)
{
	for (size_t i = 0; i < model.machine_count; i++)
		if (!strcmp(model.machines[i].host, name))
			return &model.machines[i];
	cr_assert_fail("no host %s", name);
	return NULL;
}

/* Writes the first page.begun capture ranges of run 0x77. */
static inline void capture_range(const char *path, const struct tf_range_page *page, const struct tf_range *spans)
{
	uint8_t bytes[sizeof(*page) + 16 * sizeof(*spans)];

	memcpy(bytes, page, sizeof(*page));
	memcpy(bytes + sizeof(*page), spans, page->begun * sizeof(*spans));
	capture_file(path, "node1.77.range", bytes, sizeof(*page) + page->begun * sizeof(*spans));
}

#define CAPTURED_SUITE(name) TestSuite(name, .init = captured_begin, .fini = captured_end)

#endif
