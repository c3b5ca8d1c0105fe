/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_io KIND FILE: ranks that write the same bytes to a file. small: each writes 16 bytes at a time, by itself; large:
 * all write together, in large blocks. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { SMALL = 16, BLOCK = 1 << 20, WRITES = 65536 };

static char block[BLOCK];

int main(int argc, char **argv)
{
	int rank, ranks;
	MPI_File file;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc < 3 || MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file))
		MPI_Abort(MPI_COMM_WORLD, 1);
	memset(block, 'a' + rank, sizeof(block));
	if (!strcmp(argv[1], "small"))
		for (MPI_Offset i = 0; i < WRITES; i++)
			MPI_File_write_at(file, (i * ranks + rank) * SMALL, block, SMALL, MPI_BYTE, MPI_STATUS_IGNORE);
	else
		MPI_File_write_at_all(file, (MPI_Offset)rank * BLOCK, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_File_close(&file);
	if (!rank)
		printf("%d ranks\n", ranks);
	MPI_Finalize();
	return 0;
}
