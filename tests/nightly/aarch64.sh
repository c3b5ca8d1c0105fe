#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/nightly/aarch64.sh [TEST...]: cross-compiles for aarch64, and runs unit tests (test_STEM, threads_STEM) and
# scripts of tests/e2e under qemu-user, in a root of Debian's arm64 packages. Needs root and Debian 12. By binfmt_misc
# the kernel starts qemu for each program; it is that of a user namespace (Linux 6.7), so the machine's does not change.
#   AARCH64_ROOT   where the root is kept; default: /var/cache/pillion-nightly/roots/arm64
#   AARCH64_BUILD  the build directory; default: build-aarch64 of this tree
#   AARCH64_QEMU   qemu-aarch64, linked statically; default: that of Debian's qemu-user-static
#   AARCH64_LOGS   a directory for the output of each test; default: none is kept
set -u
PATH=$PATH:/usr/sbin
. "$(dirname "$0")/../e2e/lib.sh"
tree=${tests_dir%/tests/*}
root=${AARCH64_ROOT:-/var/cache/pillion-nightly/roots/arm64}
build=${AARCH64_BUILD:-$tree/build-aarch64}
logs=${AARCH64_LOGS:-$work/logs}
qemu=${AARCH64_QEMU:-/usr/bin/qemu-aarch64-static}
packages=python3,gcc,libc6-dev,libcriterion-dev,libdw-dev,libelf-dev,libsqlite3-dev,libzstd-dev,zlib1g-dev,procps,file
scripts=(launch_bare launch_jobs launch_lines launch_options launch_output launch_range launch_signals launch_status
	record_clocks record_ends record_exports record_full record_hostile record_osrt record_processes record_python
	record_range record_short record_small_stacks record_stacks attach_threads python_annotate python_gil
	python_stacks stress_osrt library_calls library_passing cuda_callers cuda_deepbind cuda_launches cuda_lookups
	cuda_memory cupti_records nvtx_capture nvtx_ranges nvtx_payloads report_symbols stats_outputs summary lines
	pack_captures query export_formats)

[ "$(id -u)" -eq 0 ] || skip_all 'needs root, for chroot'
for tool in debootstrap dpkg-deb unshare aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ meson ninja "$qemu"; do
	command -v "$tool" >/dev/null || skip_all "no $tool"
done

# Configuring packages would take minutes under qemu: they are only unpacked.
make_root() {
	rm -rf "$root"
	debootstrap --arch=arm64 --foreign --variant=minbase --include="$packages" bookworm "$root" \
		>"$work/debootstrap.log" 2>&1 || return
	for package in "$root"/var/cache/apt/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$package" |
			tar -C "$root" -x --skip-old-files --keep-directory-symlink || return
	done
	rm -rf "$root/var/cache/apt/archives" "$root/debootstrap" "$root/proc"
	mkdir "$root/proc"
	cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
	cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
	ln -s mawk "$root/usr/bin/awk"
	touch "$root.complete"
}

configure() {
	[ ! -e "$build/build.ninja" ] || return 0
	mkdir -p "$build"
	cat >"$build/cross.ini" <<-END
		[binaries]
		c = ['aarch64-linux-gnu-gcc', '--sysroot=$root']
		cpp = ['aarch64-linux-gnu-g++', '--sysroot=$root']
		ar = 'aarch64-linux-gnu-ar'
		strip = 'aarch64-linux-gnu-strip'
		pkgconfig = 'pkg-config'
		pkg-config = 'pkg-config'
		[properties]
		sys_root = '$root'
		pkg_config_libdir = '$root/usr/lib/aarch64-linux-gnu/pkgconfig:$root/usr/share/pkgconfig'
		needs_exe_wrapper = true
		[host_machine]
		system = 'linux'
		cpu_family = 'aarch64'
		cpu = 'aarch64'
		endian = 'little'
	END
	meson setup "$build" "$tree" --cross-file "$build/cross.ini" -Dtests=auto -Dwerror=true
}

# The first 20 bytes of an ELF file for aarch64 and which of their bits count, for binfmt_misc.
zeros='\x00\x00\x00\x00\x00\x00\x00\x00\x00'
magic="\x7fELF\x02\x01\x01$zeros\x02\x00\xb7\x00"
ones='\xff\xff\xff\xff\xff\xff\xff'
mask="$ones\x00$ones\xff\xfe\xff\xff\xff"

# inside COMMAND...: in the root, with the tree, the build directory and the logs at their paths.
inside() {
	mkfifo "$work/mapped"
	# shellcheck disable=SC2016
	unshare --user sh -c '
		read -r _ <"$1" # until all user ids are mapped
		shift
		exec unshare --mount --pid --fork --kill-child sh -euc "$@"' sh "$work/mapped" '
		mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
		printf %s "$1" >/proc/sys/fs/binfmt_misc/register
		root=$2
		mount -t tmpfs -o mode=1777 none "$root/tmp"
		for directory in "$3" "$4" "$5" /usr/local/cuda; do
			[ -d "$directory" ] || continue
			mkdir -p "$root$directory"
			mount --rbind "$directory" "$root$directory"
		done
		shift 5
		mount -t proc proc "$root/proc"
		mount --rbind /dev "$root/dev"
		mount --rbind /sys "$root/sys"
		exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb \
			LC_ALL=C.UTF-8 chroot "$root" "$@"' sh \
		":aarch64:M::$magic:$mask:$qemu:FPOC" "$root" "$tree" "$build" "$logs" "$@" <&0 &
	until [ "$(readlink "/proc/$!/ns/user")" != "$(readlink /proc/self/ns/user)" ]; do
		sleep 0.05
	done
	echo '0 0 4294967295' >"/proc/$!/uid_map"
	echo '0 0 4294967295' >"/proc/$!/gid_map"
	echo >"$work/mapped"
	wait $!
	status=$?
	rm "$work/mapped"
	return "$status"
}

# What qemu-user does otherwise than Linux: the reason, for a check that fails by it.
beyond_qemu() { # NAME: TEXT
	case $1 in
	'launch_bare: a launcher that cannot be executed'*) echo 'qemu itself starts, and finds no loader' ;;
	'record_processes: vfork: 101 processes' | 'record_processes: cleanenv: 101 processes' | \
		'record_python: threads, forks, subprocesses: '* | 'record_osrt: each file has the bytes'* | \
		'record_osrt: bytes written by the child of a vfork'* | \
		'record_osrt: files by process: two processes') echo 'vfork is fork' ;;
	'record_processes: processes that record little'*) echo 'most calls take longer than the threshold' ;;
	'record_full: and the summary names it as the cause') echo '/proc/self is there without /proc' ;;
	'record_hostile: the child that shares the memory'*) echo 'clone shares no memory without a thread' ;;
	'cuda_callers: no CUDA: weak references'* | 'cuda_callers: with pillion each call returns "no device"'*)
		echo 'printf sets errno, without pillion, too' ;;
	'cupti_records: 200 threads '*) echo 'a note says that the launcher was late' ;;
	'record_hostile: seccomp filters that fail'*) echo 'there is no seccomp' ;;
	*) return 1 ;;
	esac
}

# results NAME: the checks of one test become checks of this script.
results() {
	local line text reason
	grep -qsE '^1\.\.[0-9]' "$logs/$1.tap" || {
		fail "$1: ran to its end" "$(tail -n 5 "$logs/$1.err")"
		[ -e "$logs/$1.tap" ] || return
	}
	while read -r line; do
		text=$(sed -E 's/^(not )?ok [0-9]* *(- )?//' <<<"$line")
		case $line in
		'1..0 # SKIP'*) skip "$1" "${line#1..0 # SKIP }" ;;
		'ok '*'# SKIP '*) skip "$1: ${text% # SKIP *}" "${text##* # SKIP }" ;;
		'ok '*) pass "$1: $text" ;;
		'not ok '*)
			if reason=$(beyond_qemu "$1: $text"); then
				skip "$1: $text" "$reason"
			else
				fail "$1: $text" "$(grep -A4 -xF "$line" "$logs/$1.tap" | grep '^#')"
			fi
			;;
		esac
	done <"$logs/$1.tap"
}

mkdir -p "$logs" "${root%/*}"
[ -e "$root.complete" ] || make_root || skip_all "debootstrap: $(tail -n 1 "$work/debootstrap.log")"
{ configure && ninja -C "$build"; } >"$work/build.log" 2>&1 || {
	tail -n 20 "$work/build.log" >&2
	fail 'it compiles'
	done_testing
}
pass 'it compiles'
tests=("$@")
if [ $# -eq 0 ]; then
	for program in "$build"/tests/test_* "$build"/tests/threads_*; do
		[ ! -f "$program" ] || tests+=("${program##*/}")
	done
	tests+=("${scripts[@]}")
fi
# shellcheck disable=SC2016
inside bash -c '
	export PILLION_BUILD_DIR=$2 PILLION_GOLDEN=$1/tests/golden
	logs=$3 tree=$1
	shift 3
	for name; do
		case $name in
		test_*) command=("$PILLION_BUILD_DIR/tests/$name" --tap) ;;
		threads_*) command=("$PILLION_BUILD_DIR/tests/$name") ;;
		*) command=("$tree/tests/e2e/$name.sh") ;;
		esac
		timeout 1800 "${command[@]}" >"$logs/$name.tap" 2>"$logs/$name.err" </dev/null
	done' bash "$tree" "$build" "$logs" "${tests[@]}"
for name in "${tests[@]}"; do
	results "$name"
done
done_testing
