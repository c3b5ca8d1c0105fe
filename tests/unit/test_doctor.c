/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/live/doctor/doctor.h"
#include "report/live/proc_file.h"

/* The text of the row about counters of a GPU, NULL: none. The caller frees it. */
static char *counters(const char *params)
{
	char path[] = "/tmp/pillion-doctor-XXXXXX", *ret = NULL;
	int fd = mkstemp(path);
	struct doctor d = {0};

	cr_assert_eq(write(fd, params, strlen(params)), (ssize_t)strlen(params));
	close(fd);
	doctor_counters(&d, path);
	unlink(path);
	cr_assert_eq(d.count, 1);
	ret = strdup(d.checks[0].found.data);
	doctor_counters(&d, path);
	cr_assert_eq(d.count, 1, "no file: no driver");
	doctor_done(&d);
	return ret;
}

Test(doctor, who_may_read_the_counters_of_a_gpu)
{
	char *restricted = counters("ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n");
	char *open = counters("RmProfilingAdminOnly: 0\n");

	cr_expect_not_null(strstr(restricted, "ERR_NVGPUCTRPERM"));
	cr_expect_not_null(strstr(restricted, "NVreg_RestrictProfilingToAdminUsers=0"));
	cr_expect_null(strstr(open, "ERR_NVGPUCTRPERM"));
	free(restricted);
	free(open);
}

Test(proc_file, has_what_it_has_read)
{
	size_t size;
	char *status = proc_file_read((uint32_t)getpid(), "status", &size), *other = strdup("another text");

	cr_assert(status);
	cr_expect_eq(strncmp(status, "Name:\t", strlen("Name:\t")), 0, "%.20s", status);
	cr_expect_eq(strlen(status), size);
	free(other);
	free(status);
}
