/* SPDX-License-Identifier: Apache-2.0 */
/* hdf5_io FILE: creates a file of HDF5 with known objects, transfers known numbers of bytes, and prints what the
 * library told. With PARALLEL, FILE is one for all ranks of MPI, and each writes its part of a dataset. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef PARALLEL
#include <mpi.h>
#endif

enum { ELEMENTS = 1000, PARTS = 10, SPACES = 3 };

static double values[ELEMENTS];

static int bad(const char *what)
{
	printf("%s failed\n", what);
	exit(1);
}

#define MUST(call) ((call) < 0 ? bad(#call) : 0)

#ifdef PARALLEL
static void run(const char *path)
{
	int rank, ranks;
	hsize_t all, part = ELEMENTS, start;
	hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER), file, set, space, memory;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	all = part * (hsize_t)ranks;
	start = part * (hsize_t)rank;
	H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
	H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
	file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
	MUST(file);
	space = H5Screate_simple(1, &all, NULL);
	memory = H5Screate_simple(1, &part, NULL);
	set = H5Dcreate2(file, "shared", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	MUST(set);
	MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &part, NULL));
	MUST(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, transfer, values));
	MUST(H5Dclose(set));
	MUST(H5Fclose(file));
	if (!rank)
		printf("%d ranks\n", ranks);
}
#else

static void read_parts(hid_t set)
{
	hsize_t count = ELEMENTS / PARTS;
	hid_t memory = H5Screate_simple(1, &count, NULL), file = H5Dget_space(set);

	for (hsize_t i = 0; i < PARTS; i++) {
		hsize_t start = i * count;

		MUST(H5Sselect_hyperslab(file, H5S_SELECT_SET, &start, NULL, &count, NULL));
		MUST(H5Dread(set, H5T_NATIVE_FLOAT, memory, file, H5P_DEFAULT, values));
	}
	MUST(H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, file, H5P_DEFAULT, values));
	H5Sclose(memory);
	H5Sclose(file);
}

/* The error stack of a call that failed is there until the next call. */
static void fail(hid_t file)
{
	hid_t none;

	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
	none = H5Dopen2(file, "/none", H5P_DEFAULT);
	printf("%d, errors: %s\n", (int)none, H5Eget_num(H5E_DEFAULT) > 1 ? "some" : "none");
	none = H5Dread(file, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
	printf("%d, errors: %s\n", (int)none, H5Eget_num(H5E_DEFAULT) ? "some" : "none");
}

static void use_reference(hid_t file)
{
	hobj_ref_t reference;
	hid_t set;

	MUST(H5Rcreate(&reference, file, "/group/set", H5R_OBJECT, -1));
	set = H5Rdereference2(file, H5P_DEFAULT, H5R_OBJECT, &reference);
	MUST(set);
	MUST(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
	MUST(H5Dclose(set));
}

static void fork_reader(hid_t set)
{
	int status;
	pid_t child = fork();

	if (!child) {
		MUST(H5Dread(set, H5T_NATIVE_SHORT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
		_exit(0);
	}
	waitpid(child, &status, 0);
	printf("child %d\n", status);
}

static void write_attribute(hid_t set)
{
	hid_t space = H5Screate(H5S_SCALAR), attribute;

	attribute = H5Acreate2(set, "unit", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
	MUST(attribute);
	MUST(H5Awrite(attribute, H5T_NATIVE_INT, &(int){7}));
	H5Aclose(attribute);
	H5Sclose(space);
}

static void run(const char *path)
{
	hsize_t elements = ELEMENTS;
	hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), group, space, set, other[SPACES];
	hid_t timeless = H5Pcreate(H5P_DATASET_CREATE); /* two files are then equal */

	MUST(file);
	MUST(H5Pset_obj_track_times(timeless, 0));
	group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	space = H5Screate_simple(1, &elements, NULL);
	set = H5Dcreate2(group, "set", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, timeless, H5P_DEFAULT);
	MUST(set);
	MUST(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
	write_attribute(set);
	MUST(H5Fflush(file, H5F_SCOPE_GLOBAL));
	MUST(H5Dclose(set));
	set = H5Dopen2(group, "set", H5P_DEFAULT);
	MUST(set);
	read_parts(set);
	fork_reader(set);
	MUST(H5Dclose(set));
	set = H5Oopen(group, "set", H5P_DEFAULT);
	MUST(set);
	MUST(H5Dread(set, H5T_NATIVE_DOUBLE, space, space, H5P_DEFAULT, values));
	H5Oclose(set);
	use_reference(file);
	fail(file);
	for (int i = 0; i < SPACES; i++)
		other[i] = H5Scopy(space);
	printf("handles %d of %d\n", (int)(other[SPACES - 1] - other[0]), SPACES);
	H5Sclose(space);
	H5Gclose(group);
	MUST(H5Fclose(file));
}
#endif

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2)
		return 2;
	for (int i = 0; i < ELEMENTS; i++)
		values[i] = i;
#ifdef PARALLEL
	MPI_Init(&argc, &argv);
#endif
	run(argv[1]);
#ifdef PARALLEL
	MPI_Finalize();
#endif
	return 0;
}
