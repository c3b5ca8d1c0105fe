#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/nightly/install.sh [SUITE...]: installs what scripts/dist made in roots of other distributions, which
# debootstrap makes, records a job as root and as a user, upgrades, removes, and compares the files before and after;
# and builds the recipe for Docker on the last of them, if podman is installed. Needs root.
#   PILLION_DIST   where scripts/dist wrote; default: dist/ of this tree
#   INSTALL_ROOTS  where the roots are kept; default: /var/cache/pillion-nightly/roots
#   INSTALL_MIRROR_DEBIAN, INSTALL_MIRROR_UBUNTU  mirrors; default: those of debootstrap
set -u
PATH=$PATH:/usr/sbin
. "$(dirname "$0")/../e2e/lib.sh"
tree=${tests_dir%/tests/*}
dist=${PILLION_DIST:-$tree/dist}
roots=${INSTALL_ROOTS:-/var/cache/pillion-nightly/roots}
suites=("$@")
[ $# -gt 0 ] || suites=(bullseye bookworm trixie sid xenial bionic focal jammy noble)
machine=$(uname -m)
[ "$(id -u)" -eq 0 ] || skip_all 'needs root, for debootstrap and chroot'
for tool in debootstrap dpkg-deb unshare; do
	command -v "$tool" >/dev/null || skip_all "no $tool"
done
tarball=$(echo "$dist"/pillion-*-"$machine".tar.xz)
[ -e "$tarball" ] || skip_all "nothing in $dist: run scripts/dist"

packages_of() { # SUITE
	case $1 in
	xenial | bionic) echo python3 ;; # their Python is older than what the wheel needs
	bookworm | trixie) echo python3,python3-venv,python3-pip,rpm ;;
	*) echo python3,python3-venv,python3-pip ;;
	esac
}

# Ubuntu's scripts of debootstrap are one; a debootstrap that is older than a release has no link for it.
make_root() { # SUITE
	local mirror=${INSTALL_MIRROR_DEBIAN:-} script='' options=()
	case $1 in
	xenial | bionic | focal | jammy | noble)
		mirror=${INSTALL_MIRROR_UBUNTU:-}
		script=/usr/share/debootstrap/scripts/gutsy
		options=('--components=main,universe')
		# Debian has no key of Ubuntu's releases.
		[ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ] || options+=(--no-check-gpg)
		;;
	esac
	rm -rf "${roots:?}/$1"
	debootstrap --variant=minbase --include="$(packages_of "$1")" "${options[@]}" "$1" "$roots/$1" "$mirror" \
		${script:+"$script"} >"$work/debootstrap.log" 2>&1 && touch "$roots/$1.complete"
}

# The wheel and the .deb of the next version, with the same files.
make_next() {
	python3 - "$tree/packaging/pack" "$tarball" "$work/next" <<-'END'
		import importlib.machinery, importlib.util, os, platform, sys, tarfile
		os.environ["SOURCE_DATE_EPOCH"] = "1767225600"
		loader = importlib.machinery.SourceFileLoader("pack", sys.argv[1])
		sys.dont_write_bytecode = True
		pack = importlib.util.module_from_spec(importlib.util.spec_from_loader("pack", loader))
		loader.exec_module(pack)
		arch, to = platform.machine(), sys.argv[3]
		with tarfile.open(sys.argv[2]) as archive:
		    archive.extractall(to)
		    tree = os.path.join(to, archive.getnames()[0])
		version = "999.0"
		tag = pack.WHEEL_PLATFORM.format(arch)
		pack.write_wheel(f"{to}/pillion-{version}-py3-none-{tag}.whl", tree, version, tag)
		pack.below_usr(tree, f"{to}/root")
		pack.write_deb(f"{to}/pillion_{version}_{arch}.deb", f"{to}/root", version, arch)
	END
}

# inside SUITE: the checks of one root, with its files and /tmp, /dev and /proc of its own; the root stays as it is.
inside() {
	local root=$work/root job=/mnt/job/job.py
	chroot "$roots/$1" python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' || job=/mnt/job/install_job.py
	mkdir -p "$root" "$work/job"
	cp "$tree"/examples/python/*.py "$tests_dir/install_job.py" "$tests_dir/install_inside.sh" "$work/job/"
	chmod -R a+rX "$work/job"
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child sh -euc '
		mount -t tmpfs none "$2"
		mkdir "$2/upper" "$2/work" "$2/merged"
		mount -t overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" none "$2/merged"
		cd "$2/merged"
		mount -t proc proc proc
		mkdir -p dev/shm mnt/dist mnt/next mnt/job
		mount -t tmpfs -o mode=1777 none dev/shm
		mount -t tmpfs -o mode=1777 none tmp
		mount --bind "$3" mnt/dist
		mount --bind "$4" mnt/next
		mount --bind "$5" mnt/job
		exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			chroot . sh /mnt/job/install_inside.sh "$6" /mnt/dist /mnt/next "$7"
		' sh "$roots/$1" "$root" "$dist" "$work/next" "$work/job" "$1" "$job"
}

# The recipe for Docker, built by podman from the root of a suite.
make_image() { # SUITE
	local recipes runtime
	recipes=$(basename "$tarball" .tar.xz)-recipes
	podman=(podman --root "$work/podman" --runroot "$work/podman.run" --storage-driver vfs
		--cgroup-manager cgroupfs --events-backend none)
	mkdir context && cp "$tarball" context
	tar -C context --strip-components=1 -xf "$dist/$recipes.tar" "$recipes/Dockerfile"
	tar -C "$roots/$1" -c . | "${podman[@]}" import - base >podman.log 2>&1 || return
	ok "$1: podman builds the image of the Dockerfile" "${podman[@]}" build --isolation chroot --network host \
		--build-arg BASE=localhost/base -t image context
	for runtime in crun runc; do
		"${podman[@]}" --runtime "$runtime" run --rm --network none --ulimit nofile=1024:1024 \
			--ulimit nproc=4096:4096 image -o /tmp/c sh -c 'exit 3' >podman.log 2>&1
		[ $? -ne 3 ] || break
	done
	like "$(cat podman.log)" '^ledger +[0-9]+ recorded' "$1: the image records its command"
	"${podman[@]}" rmi -af >/dev/null 2>&1 || :
}

mkdir -p "$roots"
ok 'a wheel and a .deb of the next version' make_next
for suite in "${suites[@]}"; do
	if [ ! -e "$roots/$suite.complete" ] && ! make_root "$suite"; then
		skip "$suite" "debootstrap: $(tail -n 1 "$work/debootstrap.log")"
		continue
	fi
	inside "$suite" >"inside-$suite" 2>&1 || echo "not ok - $suite: every check ran" >>"inside-$suite"
	adopt cat "inside-$suite"
	latest=$suite
done
if ! command -v podman >/dev/null; then
	skip 'the Dockerfile' 'no podman'
elif [ -n "${latest:-}" ]; then
	make_image "$latest" || fail "$latest: podman imports the root" "$(tail -n 1 podman.log)"
fi
done_testing
