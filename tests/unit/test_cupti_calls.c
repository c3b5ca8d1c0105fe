/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the list of calls that are enabled in CUPTI with the callback ids of NVIDIA's headers: those of the build's
 * toolkit and those in the colon-separated directories of PILLION_CUDA_HEADERS. */
#include <criterion/criterion.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/recorder/device/cupti_calls.h"
#include "runtime/recorder/device/cupti_client.h"
#include "runtime/recorder/device/cupti_layout.h"

/* Name patterns of the calls that launch, copy, set, allocate or free. */
#define WORK                                                                                                           \
	"Launch|Mem(cpy|set)|M(em)?[aA]lloc|Free|HostAlloc|Host(Un)?[rR]egister|Prefetch|Discard|Decompress|"          \
	"Array(3D)?(Create|Destroy)"

/* Names that match these patterns and are left out of the list on purpose. */
static const char *const excluded[] = {
	"^cu(da)?Graph.*Node", /* describes a node: the work begins with the graph's launch */
	"LaunchHostFunc", /* runs on the host: CUPTI has no record of it */
	"^cuMem(GetAllocation|RetainAllocation)", /* queries about an allocation */
	"^cuMemAddressFree$", /* gives up addresses; CUPTI has no record of virtual memory management */
	"^cuNNSetAllocator$", "^cuBinaryFree$", /* never public */
	"^cuGraphLaunchWithArguments$", "^cuSubgridScheduleLaunch", /* never public, and only in 13.1 and 13.2 */
};

/* Reserved ids, some under a name that no library exports. */
#define RESERVED "^cuda[0-9]+(_|$)|^cu64|^(INVALID|SIZE|FORCE_INT)$"

struct row {
	const char *name;
	uint16_t id;
};

#define ROWS(first, first_id, last, last_id) {#first, first_id}, {#last, last_id},
static const struct row runtime_rows[] = {CUPTI_RUNTIME_CALLS(ROWS) {0}},
	driver_rows[] = {CUPTI_DRIVER_CALLS(ROWS) {0}};

/* Functions that cupti_calls.c references and this test does not use. */
bool cupti_client_name_threads(int how)
{
	return false;
}

int cupti_client_set_call(bool is_driver, uint32_t function, bool is_on)
{
	return 0;
}

int cupti_client_set_kind(uint32_t kind, bool is_on)
{
	return 0;
}

static regex_t work, reserved, exclusions[sizeof(excluded) / sizeof(*excluded)];

static void compile(regex_t *to, const char *pattern)
{
	cr_assert_eq(regcomp(to, pattern, REG_EXTENDED | REG_NOSUB), 0, "%s", pattern);
}

static void compile_all(void)
{
	compile(&work, WORK);
	compile(&reserved, RESERVED);
	for (size_t i = 0; i < sizeof(excluded) / sizeof(*excluded); i++)
		compile(&exclusions[i], excluded[i]);
}

static bool is(const regex_t *pattern, const char *name)
{
	return regexec(pattern, name, 0, NULL, 0) == 0;
}

static bool is_excluded(const char *name)
{
	for (size_t i = 0; i < sizeof(excluded) / sizeof(*excluded); i++) {
		if (is(&exclusions[i], name))
			return true;
	}
	return false;
}

static void check_id(const char *path, const struct row *rows, const char *name, unsigned id)
{
	bool is_listed = cupti_calls_wanted(rows == driver_rows, id);

	for (const struct row *r = rows; r->name; r++)
		cr_expect(strcmp(r->name, name) != 0 || r->id == id, "%s: %s is %u, not %u", path, name, id, r->id);
	if (is(&reserved, name))
		return;
	if (is_listed)
		cr_expect(is(&work, name) && !is_excluded(name), "%s: %s (%u) is listed, and is not to be", path,
			  name, id);
	else
		cr_expect(!is(&work, name) || is_excluded(name), "%s: %s (%u) is not listed", path, name, id);
}

static void check_header(const char *directory, const char *layer, const struct row *rows)
{
	char path[4096], line[512], wanted[64], name[128];
	unsigned id, count = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/cupti_%s_cbid.h", directory, layer);
	snprintf(wanted, sizeof(wanted), " CUPTI_%s_TRACE_CBID_%%127s = %%u",
		 rows == driver_rows ? "DRIVER" : "RUNTIME");
	file = fopen(path, "r");
	cr_assert_not_null(file, "%s", path);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, wanted, name, &id) == 2) {
			check_id(path, rows, name, id);
			count++;
		}
	}
	fclose(file);
	cr_expect_gt(count, 300, "%s: %u ids", path, count);
}

static void check_directory(const char *directory)
{
	check_header(directory, "runtime", runtime_rows);
	check_header(directory, "driver", driver_rows);
}

Test(cupti_calls, are_those_of_every_header_at_hand, .init = compile_all)
{
	char *list = strdup(getenv("PILLION_CUDA_HEADERS") ?: ""), *rest;

	check_directory(CUPTI_HEADERS);
	for (char *at = strtok_r(list, ":", &rest); at; at = strtok_r(NULL, ":", &rest))
		check_directory(at);
	free(list);
}

/* cupti_calls_wanted searches from the first range. */
Test(cupti_calls, stand_in_the_order_of_their_ids)
{
	for (const struct row *r = runtime_rows; r[1].name; r++)
		cr_expect_leq(r[0].id, r[1].id, "%s", r[0].name);
	for (const struct row *r = driver_rows; r[1].name; r++)
		cr_expect_leq(r[0].id, r[1].id, "%s", r[0].name);
}

Test(cupti_calls, have_each_launch_that_a_compiler_writes)
{
	static const uint16_t launches[] = {13 /* CUDA 6 */, 211, 214, 430, 431, 505 /* CUDA 13 */, 506};

	for (size_t i = 0; i < sizeof(launches) / sizeof(*launches); i++)
		cr_expect(cupti_calls_wanted(false, launches[i]), "%u", launches[i]);
}
