// SPDX-License-Identifier: Apache-2.0
// c_small_reads planted|clean: writes a file of records, then reads it and computes a digest and a histogram.
// Planted: it is read in pieces of 64 bytes, one record each. Clean: in pieces of 1 MiB.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORD = 64, RECORDS = 1 << 20, PASSES = 8, PIECE = 1 << 20 };

static uint64_t histogram[256];
static uint64_t digest;

static void add_record(const unsigned char *record)
{
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < RECORD; i++) {
			digest = (digest ^ record[i]) * 1099511628211ull;
			histogram[digest >> 56]++;
		}
	}
}

static void write_file(const char *path)
{
	FILE *file = fopen(path, "w");
	unsigned char record[RECORD];

	if (!file)
		exit(1);
	for (int i = 0; i < RECORDS; i++) {
		for (int j = 0; j < RECORD; j++)
			record[j] = (unsigned char)(i * 31 + j * j);
		fwrite(record, 1, RECORD, file);
	}
	fclose(file);
}

static void read_file(const char *path, size_t piece)
{
	static unsigned char buffer[PIECE];
	int fd = open(path, O_RDONLY);
	ssize_t got;

	while ((got = read(fd, buffer, piece)) > 0) { // PLANT
		for (ssize_t at = 0; at < got; at += RECORD)
			add_record(buffer + at);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	int planted = argc > 1 && strcmp(argv[1], "planted") == 0;

	write_file("records");
	for (int pass = 0; pass < PASSES; pass++)
		read_file("records", planted ? RECORD : PIECE);
	printf("digest %016llx, %llu\n", (unsigned long long)digest, (unsigned long long)histogram[7]);
	return unlink("records");
}
