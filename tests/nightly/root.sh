# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Roots of other distributions, for scripts that have sourced tests/e2e/lib.sh: debootstrap makes them once, and each
# use has files, processes, /tmp and /dev/shm of its own, so that a root stays as it was made.
#   INSTALL_ROOTS  where the roots are kept; default: /var/cache/pillion-nightly/roots
#   INSTALL_MIRROR_DEBIAN, INSTALL_MIRROR_UBUNTU  mirrors; default: those of debootstrap

: "${work:?}" # of lib.sh
PATH=$PATH:/usr/sbin
roots=${INSTALL_ROOTS:-/var/cache/pillion-nightly/roots}

needs_roots() {
	local tool
	[ "$(id -u)" -eq 0 ] || skip_all 'needs root, for debootstrap and chroot'
	for tool in debootstrap unshare; do
		command -v "$tool" >/dev/null || skip_all "no $tool"
	done
	mkdir -p "$roots"
}

# make_root NAME SUITE PACKAGE[,PACKAGE]...: makes it unless it is complete; otherwise `why` says what failed. Ubuntu's
# scripts of debootstrap are one; a debootstrap that is older than a release has no link for it.
# shellcheck disable=SC2034 # `why` is read by the callers
make_root() {
	local mirror=${INSTALL_MIRROR_DEBIAN:-} script='' options=()
	[ ! -e "$roots/$1.complete" ] || return 0
	case $2 in
	xenial | bionic | focal | jammy | noble)
		mirror=${INSTALL_MIRROR_UBUNTU:-}
		script=/usr/share/debootstrap/scripts/gutsy
		options=('--components=main,universe')
		# Debian has no key of Ubuntu's releases.
		[ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ] || options+=(--no-check-gpg)
		;;
	esac
	rm -rf "${roots:?}/$1"
	debootstrap --variant=minbase --include="$3" "${options[@]}" "$2" "$roots/$1" "$mirror" \
		${script:+"$script"} >"$work/debootstrap.log" 2>&1 && touch "$roots/$1.complete" && return
	why="debootstrap: $(tail -n 1 "$work/debootstrap.log")"
	return 1
}

# enter_root NAME SHARE... -- COMMAND...: runs it in the root; SHARE is a directory that appears as /mnt/ITS-NAME.
enter_root() {
	local lower=$roots/$1 shares=()
	shift
	while [ "$1" != -- ]; do
		shares+=("$1")
		shift
	done
	shift
	mkdir -p "$work/root"
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child sh -euc '
		lower=$1 top=$2 count=$3
		shift 3
		mount -t tmpfs none "$top"
		mkdir "$top/upper" "$top/work" "$top/merged"
		mount -t overlay -o "lowerdir=$lower,upperdir=$top/upper,workdir=$top/work" none "$top/merged"
		cd "$top/merged"
		mount -t proc proc proc
		mkdir -p dev/shm
		mount -t tmpfs -o mode=1777 none dev/shm
		mount -t tmpfs -o mode=1777 none tmp
		while [ "$count" -gt 0 ]; do
			mkdir -p "mnt/${1##*/}"
			mount --bind "$1" "mnt/${1##*/}"
			shift
			count=$((count - 1))
		done
		exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot . "$@"
		' sh "$lower" "$work/root" "${#shares[@]}" "${shares[@]}" "$@"
}
