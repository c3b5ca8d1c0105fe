# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2016,SC2154,SC2206
# Containers in a job step: bubblewrap as COMMAND, and around pillion; podman with an image of Debian's debootstrap.
file inside.py <<'END'
import os, time
for _ in range(5):
    os.stat("/etc/hostname")
    time.sleep(0.01)
print("inside", os.environ["SLURM_PROCID"], flush=True)
END
python=$(python3 -c 'import sys; print(sys.executable)')
export python

# num_inside CAPTURE: the processes that ran the script.
num_inside() {
	report stats -q -r processes -f csv "$1" | grep -c 'exit 0,[^, ]*python3[0-9.]* inside.py$'
}

# in_container TEXT COMMAND: a job of two ranks, each in a container.
in_container() {
	submit -N 2 -n 2 --mem=2000 <<-END
		#!/bin/bash
		$2
		echo "status \$?"
	END
	compare "$1"
	captured "$1" 'job.pillion '
	is "$(ranks_of job.pillion)" '0 1 ' "$1: the ranks"
	is "$(num_inside job.pillion)" 2 "$1: what runs inside is recorded"
	like "$(printed .)" '^inside 1$' "$1: it ran"
}

file wrapped <<'END'
exec bwrap --ro-bind / / --bind "$PWD" "$PWD" --unshare-pid --proc /proc --dev /dev "$@"
END
if bwrap --ro-bind / / --unshare-pid --proc /proc --dev /dev true 2>/dev/null; then
	in_container 'bubblewrap under pillion' 'srun record sh wrapped "$python" inside.py'
	part inside
	in_container 'pillion in bubblewrap' 'srun sh wrapped record "$python" inside.py'
else
	skip 'bubblewrap' 'no bwrap, or it may not create namespaces'
fi

# The recorder, the report and its libraries come from the host, the programs from the image.
needs='python3-minimal,libdw1,libsqlite3-0,libzstd1,libstdc++6'
podman=(podman --root "$work/podman" --runroot "$work/podman.run" --storage-driver vfs --cgroup-manager cgroupfs
	--events-backend none)
run=(run --rm --network none --ulimit "nofile=1024:1024" --ulimit "nproc=4096:4096")
image_made() {
	local root=${CONTAINER_ROOT:-$work/root} runtime
	if [ ! -x "$root/usr/bin/python3" ]; then
		debootstrap --variant=minbase --include=$needs bookworm "$root" >"$work/debootstrap.log" 2>&1 || return
	fi
	tar -C "$root" -c . | "${podman[@]}" import - pillion_test >/dev/null 2>"$work/podman.log" || return
	for runtime in crun runc; do
		"${podman[@]}" --runtime $runtime "${run[@]}" pillion_test true 2>>"$work/podman.log" || continue
		podman+=(--runtime "$runtime")
		return
	done
	return 1
}
if ! command -v podman >/dev/null || ! command -v debootstrap >/dev/null; then
	skip 'podman' 'no podman, or no debootstrap'
elif ! image_made; then
	skip 'podman' "$(tail -n 1 "$work/debootstrap.log" "$work/podman.log" 2>/dev/null | tr '\n' ' ')"
else
	tree=${PILLION%/scripts/*}
	file contained <<-END
		exec ${podman[*]} ${run[*]} -v "$work:$work" -v "$tree:$tree:ro" \\
			-v "$PILLION_BUILD_DIR:$PILLION_BUILD_DIR:ro" -w "\$PWD" -e 'SLURM_*' -e 'PILLION_*' \\
			-e PATH pillion_test "\$@"
	END
	part podman
	in_container 'pillion in podman' 'srun sh contained record python3 inside.py'
fi
