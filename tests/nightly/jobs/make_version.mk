# SPDX-License-Identifier: Apache-2.0
# make -f make_version.mk planted|clean: compiles 24 generated sources with the version of the data that they belong to.
# Planted: the version is a variable that make expands, by running its commands, in each recipe. Clean: it is computed
# once.
NAMES := $(shell seq 1 24)
SUM = head -c 48000000 /dev/zero | sha256sum | cut -c 1-12

ifeq ($(MAKECMDGOALS),planted)
VERSION = $(shell $(SUM)) # PLANT
else
VERSION := $(shell $(SUM))
endif

.SECONDARY:
planted clean: library.a
	@nm -A library.a | grep -c ' T table_'

library.a: $(NAMES:%=table_%.o)
	@rm -f $@
	@ar rcD $@ $^

table_%.o: table_%.c
	@gcc -O2 -DVERSION='"$(VERSION)"' -c $< -o $@

table_%.c:
	@awk -v n=$* 'BEGIN { \
		for (i = 0; i < 60; i++) \
			printf "int table_%d_%d(int x) { while (x %% 7) x ^= x * %d + 1; return x; }\n", n, i, i; \
		printf "const char *version_%d(void) { return VERSION; }\n", n }' >$@
