/* SPDX-License-Identifier: Apache-2.0 */
/* hdf5loop KIND ROUNDS: calls of HDF5 on a file that is in memory only. read: H5Dread of 8 bytes by selections; all:
 * likewise of a whole dataset of 8 bytes; open: H5Dopen2 and H5Dclose. Prints ns per call: median and best round. */
#include <hdf5.h>
#include <string.h>

#include "bench.h"

enum { CALLS = 2000 };

static hid_t file, set, space;

static void make_calls(const char *kind)
{
	double value;

	for (int i = 0; i < CALLS; i++) {
		hid_t opened;

		if (!strcmp(kind, "open")) {
			opened = H5Dopen2(file, "/group/set", H5P_DEFAULT);
			if (opened < 0 || H5Dclose(opened) < 0)
				abort();
		} else if (H5Dread(set, H5T_NATIVE_DOUBLE, *kind == 'a' ? H5S_ALL : space,
				   *kind == 'a' ? H5S_ALL : space, H5P_DEFAULT, &value) < 0) {
			abort();
		}
	}
}

int main(int argc, char **argv)
{
	long rounds = argc > 2 ? bench_number(argv[2], "ROUNDS", 1, 100000) : 0;
	double *ns = malloc((size_t)rounds * sizeof(*ns)), median;
	hid_t access = H5Pcreate(H5P_FILE_ACCESS);

	if (!rounds || !ns)
		return 2;
	H5Pset_fapl_core(access, 1 << 20, 0);
	file = H5Fcreate("hdf5loop.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
	space = H5Screate_simple(1, &(hsize_t){1}, NULL);
	H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	set = H5Dcreate2(file, "/group/set", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	if (H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &(double){1}) < 0)
		return 1;
	make_calls(argv[1]);
	for (long i = 0; i < rounds; i++) {
		uint64_t start = bench_now_ns();

		make_calls(argv[1]);
		ns[i] = (double)(bench_now_ns() - start) / CALLS;
	}
	median = bench_median(ns, (size_t)rounds);
	printf("median=%.2f min=%.2f end_ns=%llu\n", median, ns[0], (unsigned long long)bench_now_ns());
	return 0;
}
