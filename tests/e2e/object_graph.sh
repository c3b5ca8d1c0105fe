#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The objects of each program call each other in one direction: their graph, as nm shows it, has no cycle. Those of
# libpillion.so import nothing from libc that takes a lock, but for one object that searches the loader's list.
. "$(dirname -- "$0")/lib.sh"

command -v nm >/dev/null || skip_all 'no nm'
command -v tsort >/dev/null || skip_all 'no tsort'
objects=$PILLION_BUILD_DIR/preload/libpillion.so.p
[ -d "$objects" ] || skip_all 'the build directory has no objects'

# graph FOLDER...: "OBJECT OBJECT" for each symbol that the first uses from the second.
graph() {
	(cd "$PILLION_BUILD_DIR" && find "$@" -name '*.o' -exec nm -A {} +) | awk '
		{ sub(/^.*\//, "", $1); split($1, part, ":"); object = part[1]; kind = $(NF - 1); name = $NF }
		kind ~ /^[TDBRVWCGS]$/ { from[name] = object }
		kind ~ /^[Uvw]$/ { needs[object " " name] = 1 }
		END {
			for (need in needs) {
				split(need, part, " ")
				if (part[2] in from && from[part[2]] != part[1])
					print part[1], from[part[2]]
			}
		}' | sort -u
}

# The names of kernels that device records lack come from the calls that correlate.c matches with them, for which it
# reads the records and their operations. kernel.h says how the recursion ends.
known='events_cuda_kernel.c.o events_cuda_correlate.c.o
events_cuda_kernel.c.o events_cuda_device.c.o'

while read -r program least folders; do
	# shellcheck disable=SC2086 # a list
	graph $folders | grep -vxF "$known" >graph.txt
	ok "$program: the objects refer to each other" test "$(wc -l <graph.txt)" -gt "$least"
	is "$(tsort graph.txt 2>&1 >/dev/null | grep -v 'input contains a loop' | sed 's/^tsort: //')" '' \
		"$program: the graph of objects has no cycle"
	# A test of the check: one reference back makes a cycle.
	awk 'NR == 1 { print $2, $1 } { print }' graph.txt >back.txt
	unlike "$(tsort back.txt 2>&1 >/dev/null)" '^$' "$program: a reference back is found"
done <<-END
	libpillion.so 100 preload/libpillion.so.p
	pillion-launch 50 runtime/pillion-launch.p
	pillion-report 200 report/libreport.a.p report/pillion-report.p
END

# ---- what the objects import ----

# Functions of libc that any signal handler may call: none allocates, prints or takes a lock. Fortified builds call
# __memcpy_chk and similar ones.
safe='^(__)?(mem[a-z]+|str(n?len|n?cmp|n?cpy|n?cat|r?chr|chrnul|c?spn|str)|stpn?cpy|bcmp)(_chk)?$'
safe="$safe|^(__errno_location|_*environ|getauxval|geteuid|dirfd|pthread_self|pthread_setcancelstate)$"
safe="$safe|^(sigdelset|sigismember|__stack_chk_(fail|guard)|_GLOBAL_OFFSET_TABLE_|_DYNAMIC|__ehdr_start|_end)$"
safe="$safe|^(__u(div|mod)ti3|__aarch64_[a-z0-9_]+|unwind_table_row)$" # of libgcc, and our static library
# Those of single objects: dl_iterate_phdr takes the loader's lock; on_exit, which may allocate, is called by our
# constructor and when CUDA's driver starts; wrappers of streams read stdin and stdout; the list of streams is read only
# before libc takes the same lock, which a thread may take again, to flush them all.
alone='runtime_recorder_loader_loader.c.o dl_iterate_phdr
init.c.o on_exit
runtime_recorder_device_cupti.c.o on_exit
hook_stream.c.o _IO_list_all
hook_stream.c.o _IO_list_lock
hook_stream.c.o _IO_list_unlock
libc_export_stream.c.o stdin
libc_export_stream.c.o stdout
libc_wrap_format.c.o stdin
libc_wrap_format.c.o stdout
libc_wrap_stream.c.o stdin
libc_wrap_stream.c.o stdout'

# imports: "OBJECT SYMBOL" for each symbol that none of the objects defines.
imports() {
	(cd "$objects" && find . -name '*.o' -exec nm -A {} +) | awk '
		{ sub(/^.*\//, "", $1); split($1, part, ":"); kind = $(NF - 1); name = $NF }
		kind ~ /^[TDBRVWCGS]$/ { own[name] = 1 }
		kind == "U" { needs[part[1] " " name] = 1 }
		END {
			for (need in needs) {
				split(need, part, " ")
				if (!(part[2] in own) && part[2] !~ /^__st(art|op)_/)
					print need
			}
		}' | sed -E 's/^(meson-generated_)?\.\._//' | sort -u
}

# unsafe: the imports that are not allowed.
unsafe() {
	grep -vxF "$alone" | awk -v safe="$safe" '$2 !~ safe'
}

imports >imports.txt
like "$(cat imports.txt)" ' memcpy$' 'the objects import from libc'
is "$(unsafe <imports.txt)" '' 'the objects import nothing that allocates, prints or takes a lock'
is "$(printf '%s\n' 'libc_wrap_file.c.o malloc' 'python_annotate.c.o dl_iterate_phdr' 'x.c.o dlsym' 'x.c.o printf' \
	'x.c.o pthread_mutex_lock' | unsafe | wc -l)" 5 'forbidden imports are found'
done_testing
