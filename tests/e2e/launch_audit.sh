#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --ld-audit with each object that can be preloaded, and with allocators that have much thread-local memory: programs
# run as without pillion. Objects that are loaded under an auditor get little of that memory.
. "$(dirname -- "$0")/lib.sh"

pillion --ld-audit -o probe true >out 2>err
! report info probe.pillion | grep -q 'ld-audit had no effect' || skip_all 'this loader is older than glibc 2.35'

# ---- what each object of ours needs ----

tls_bytes() { # FILE
	readelf -lW "$1" | awk '$1 == "TLS" { print $6 }'
}
if command -v readelf >/dev/null; then
	least=$(($(tls_bytes "$library")))
	for object in "${library%/*}"/libpillion*.so; do
		case $object in
		*/libpillion-audit.so) continue ;;
		esac
		bytes=$(($(tls_bytes "$object")))
		ok "${object##*/}: $bytes bytes of thread-local memory, at most 64 more than libpillion.so's $least" \
			test "$bytes" -le "$((least + 64))"
	done
else
	skip 'the size of thread-local memory' 'no readelf'
fi

# ---- programs ----

python=${PYTHON:-/usr/bin/python3}
cat >threads.py <<'END_OF'
import threading
made = []
threads = [threading.Thread(target=lambda: made.append([bytearray(i) for i in range(3000)])) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(made))
END_OF
programs=(true)
command -v "$python" >/dev/null && programs+=("$python threads.py")
cc=$(command -v gcc || command -v clang) && $cc -fopenmp -O1 -o regions \
	"${tests_dir%/*}/targets/openmp_regions.c" 2>err && programs+=('./regions 2 3 count.txt')

# The words of --memory and of --trace that choose another object, as --help has them.
words_of() { # OPTION
	"$PILLION" --help=table | awk -F'\t' -v name="$1" '$2 == name { gsub(/\|/, "\n", $6); print $6 }'
}
like "$(words_of memory)" '^native$' '--help=table has the words of --memory'
choices=('')
for word in $(words_of memory); do
	choices+=("--memory=$word")
done
choices+=('-t openmp,osrt' '-t openmp,cuda,nvtx --memory=all' '--lines-of=f' '--python-calls=all --jax=true')

as_bare() { # TEXT OPTIONS PRELOAD AUDIT COMMAND...
	local text=$1 options=$2 preload=$3 audit=$4 bare got
	shift 4
	bare=$(GLIBC_TUNABLES='' LD_PRELOAD=$preload LD_AUDIT=$audit "$@" 2>&1; echo "$?")
	# shellcheck disable=SC2086 # a list
	got=$(LD_PRELOAD=$preload LD_AUDIT=$audit pillion --ld-audit -f -o as_bare $options "$@" 2>&1 |
		grep -v '^pillion: '; echo "${PIPESTATUS[0]}")
	is "$got" "$bare" "$text"
}
for program in "${programs[@]}"; do
	for options in "${choices[@]}"; do
		# shellcheck disable=SC2086 # a list
		as_bare "--ld-audit $options: $program" "$options" '' '' $program
	done
done

# Allocators, preloaded and linked. Under an auditor jemalloc alone does not start without us.
printf 'int main(void) { return 3; }\n' >linked.c
for allocator in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
	file=$(ldconfig -p 2>/dev/null | awk -v name="$allocator" '$1 == name { print $NF; exit }')
	if [ ! -e "$file" ]; then
		skip "$allocator" 'it is not installed'
		continue
	fi
	for options in '' '--memory=all' '-t openmp,osrt' '--memory=all -s cpu'; do
		for program in "${programs[@]}"; do
			# shellcheck disable=SC2086 # a list
			as_bare "$allocator, --ld-audit $options: $program" "$options" "$file" '' $program
		done
	done
	if [ -n "$cc" ] && $cc -o linked linked.c -Wl,--no-as-needed "$file" 2>err && { ./linked; [ $? = 3 ]; }; then
		as_bare "a program that is linked with $allocator" '--memory=all' '' '' ./linked
		as_bare "the same as a child with a clean environment" '--memory=all' '' '' env -i ./linked
	fi
done

# ---- what is set for it ----

# shellcheck disable=SC2016 # the inner shell expands
{
	is "$(GLIBC_TUNABLES=glibc.malloc.arena_max=2 pillion --ld-audit -f -o set \
		sh -c 'echo "$GLIBC_TUNABLES"' 2>err)" 'glibc.malloc.arena_max=2:glibc.rtld.optional_static_tls=4096' \
		"the loader's room is added to a user's GLIBC_TUNABLES"
	is "$(GLIBC_TUNABLES=glibc.rtld.optional_static_tls=9000 pillion --ld-audit -f -o set \
		sh -c 'echo "$GLIBC_TUNABLES"' 2>err)" glibc.rtld.optional_static_tls=9000 "a user's own room is kept"
	is "$(pillion -f -o set sh -c 'echo "${GLIBC_TUNABLES-none}"' 2>err)" none 'without --ld-audit nothing is set'
}
done_testing
