/* SPDX-License-Identifier: Apache-2.0 */
/* For suites whose tests write a capture into a directory of their own, and open it as a model: CAPTURED_SUITE(NAME). Included once. */
#ifndef PILLION_TEST_CAPTURED_H
#define PILLION_TEST_CAPTURED_H

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

#define CAPTURED_SUITE(name) TestSuite(name, .init = captured_begin, .fini = captured_end)

#endif
