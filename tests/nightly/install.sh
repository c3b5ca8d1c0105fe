#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/nightly/install.sh [SUITE...]: installs what scripts/dist made in roots of other distributions, which
# debootstrap makes, records a job as root and as a user, upgrades, removes, and compares the files before and after;
# and builds the recipe for Docker on the last of them, if podman is installed. Needs root.
#   PILLION_DIST   where scripts/dist wrote; default: dist/ of this tree
set -u
. "$(dirname "$0")/../e2e/lib.sh"
. "$tests_dir/root.sh"
tree=${tests_dir%/tests/*}
dist=$(realpath "${PILLION_DIST:-$tree/dist}")
suites=("$@")
[ $# -gt 0 ] || suites=(bullseye bookworm trixie sid xenial bionic focal jammy noble)
machine=$(uname -m)
needs_roots
command -v dpkg-deb >/dev/null || skip_all 'no dpkg-deb'
tarball=$(echo "$dist"/pillion-*-"$machine".tar.xz)
[ -e "$tarball" ] || skip_all "nothing in $dist: run scripts/dist"

packages_of() { # SUITE
	case $1 in
	xenial | bionic) echo python3 ;; # their Python is older than what the wheel needs
	bookworm | trixie) echo python3,python3-venv,python3-pip,rpm ;;
	*) echo python3,python3-venv,python3-pip ;;
	esac
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

inside() { # SUITE: the checks of one root
	local job=/mnt/job/job.py
	chroot "$roots/$1" python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' || job=/mnt/job/install_job.py
	mkdir -p job
	cp "$tree"/examples/python/*.py "$tests_dir/install_job.py" "$tests_dir/install_inside.sh" job/
	chmod -R a+rX job
	enter_root "$1" "$dist" "$work/next" "$work/job" -- sh /mnt/job/install_inside.sh "$1" "/mnt/${dist##*/}" \
		/mnt/next "$job"
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
	like "$(cat podman.log)" '^recording +[0-9]+ recorded' "$1: the image records its command"
	"${podman[@]}" rmi -af >/dev/null 2>&1 || :
}

ok 'a wheel and a .deb of the next version' make_next
for suite in "${suites[@]}"; do
	if ! make_root "$suite" "$suite" "$(packages_of "$suite")"; then
		skip "$suite" "$why"
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
