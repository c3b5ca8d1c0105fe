#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Reads, writes and bytes of each file in the working directory, and the bytes of pipes, under ordinary tools: those
# that strace sees in another run of the same command. PILLION_IO_TOOLS=all has more of them, which take longer.
set -u
. "$(dirname "$0")/lib.sh"

command -v strace >/dev/null || skip_all 'no strace'
(strace -o /dev/null true) || skip_all 'strace may not trace here'
command -v python3 >/dev/null || skip_all 'no python3'

prepare() { # a working directory with the same files each time
	rm -rf w
	mkdir -p w/x
	cp random w/a.bin
	cp random w/b.bin
	cp data w/data
	gzip -c random >w/e.gz
	seq 20000 >w/lines.txt
	(cd w && tar cf f.tar a.bin)
	printf 'all: out\nout: lines.txt\n\tsort -r lines.txt >out\n' >w/make.mk
	printf '%s\n' 'program p' 'integer i' 'open (10, file="f.txt")' 'do i = 1, 2000' 'write (10, *) i' 'end do' \
		'close (10)' 'print *, i' 'end program' >w/p.f90
	printf '%s\n' '#include <stdio.h>' 'int main(void) {' 'FILE *f = fopen("c.txt", "w"); int i;' \
		'for (i = 0; i < 5000; i++) { fprintf(f, "%d\n", i); printf("%d ", i); }' 'return fclose(f); }' >w/p.c
}

# compare COMMAND
compare() {
	local tool=${1%% *}
	if ! command -v "$tool" >/dev/null; then
		skip "$1" "no $tool"
		return
	fi
	prepare
	(cd w && strace -f -y -o ../strace.out bash -c "$1" >/dev/null 2>&1)
	prepare
	(cd w && pillion -f -t osrt --osrt-threshold=0 -o ../io bash -c "$1" >/dev/null 2>&1)
	report stats -r files -f csv io.pillion >files.csv
	is "$(python3 "$tests_dir/io_account.py" strace.out files.csv "$work/w/")" '' "$1"
}

# Files that libc reads by itself are in no recorded call: here it reads neither files of a locale nor /etc/passwd, in
# which bash looks for the user's shell if SHELL is not set.
export LC_ALL=C SHELL=/bin/bash
PATH=$targets:$PATH # io_known, a program with system calls that are not made through libc
head -c 3000000 /dev/urandom >random
head -c 100000 /dev/zero >data
while IFS= read -r command; do
	compare "$command"
done <<'END'
cp a.bin c.bin
cat a.bin b.bin >d.bin
dd if=a.bin of=c.bin bs=4096 count=100 status=none
head -c 1000000 a.bin | wc -c >count.txt
gzip -c <a.bin >g.gz
tar cf g.tar a.bin b.bin
sort -o s.txt lines.txt
cut -c1-3 lines.txt >cut.txt
io_known read raw:read raw:write write
python3 -c 'import csv; w = csv.writer(open("r.csv", "w")); [w.writerow([i, i * i]) for i in range(9000)]'
END
if [ "${PILLION_IO_TOOLS:-}" = all ]; then
	while IFS= read -r command; do
		compare "$command"
	done <<-'END'
		gunzip -c e.gz >f.bin
		tar xf f.tar -C x
		grep -c 7 lines.txt >grep.txt
		tail -n 5 lines.txt >tail.txt
		sed s/1/2/ lines.txt >sed.txt
		awk '{ n += $1 } END { print n }' lines.txt >awk.txt
		uniq lines.txt uniq.txt
		split -b 100000 a.bin x/part
		cmp a.bin b.bin
		md5sum a.bin >sum.txt
		tee t1 t2 <lines.txt >t3
		mv lines.txt x/lines
		xargs -n 100 echo <lines.txt >xargs.txt
		paste lines.txt lines.txt >paste.txt
		diff lines.txt make.mk >diff.txt
		python3 -c 'import json; json.dump(list(range(5000)), open("j", "w")); json.load(open("j"))' >p.txt
		perl -e 'open(F, "lines.txt"); while (<F>) { $n += $_ } print "$n\n"' >perl.txt
		sqlite3 x/db 'create table t(a); insert into t values (1), (2); select * from t' >sqlite.txt
		git init -q x/repo && cp lines.txt x/repo && git -C x/repo add lines.txt
		make -s -f make.mk
		rsync -a lines.txt a.bin x/copy/
		gcc -o ../p p.c && ../p >out.txt
		gfortran -o ../p p.f90 && ../p >out.txt
	END
fi
done_testing
