# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2028
# Forty sources and a library of them, built by make -j8 with a recursive make in a subdirectory.
mkdir below
for i in $(seq 40); do
	echo "int f$i(int x); int f$i(int x) { return x * $i + 1; }" >"below/f$i.c"
done
{
	echo '#include <stdio.h>'
	for i in $(seq 40); do echo "int f$i(int);"; done
	echo 'int main(void) { int x = 1;'
	for i in $(seq 40); do echo "x = f$i(x) % 10007;"; done
	echo 'printf("%d\n", x); return 0; }'
} >main.c
printf 'main: main.c below/all.a\n\tcc -O1 -o $@ main.c below/all.a\nbelow/all.a: FORCE\n'\
'\t+$(MAKE) -s -C below all.a\nFORCE:\n' >Makefile
printf 'all.a: $(patsubst %%.c,%%.o,$(wildcard *.c))\n\tar rcsD $@ $^\n'\
'%%.o: %%.c\n\tcc -O1 -c -o $@ $<\n' >below/Makefile
make -s -j8 || exit 1
./main
make -s -j8 -q && echo 'nothing is left to do'
printf 'fails:\n\t@exit 3\n' >Makefile
make -s fails 2>/dev/null
echo "status $?"
