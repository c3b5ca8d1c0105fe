# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Times beside their bounds, on two processors, for scripts that have sourced tests/e2e/lib.sh. A time above its bound
# fails, unless other programs held the processors meanwhile.
#   NIGHTLY_SLOWNESS  multiplies the bounds, for a slow machine; default: 1

: "${work:?}" # of lib.sh
[ "$(nproc)" -le 2 ] || taskset -cp 0,1 $$ >/dev/null

# Seconds that processors have worked: "ALL OWN", of this machine and of the programs that this script has waited for.
processor_seconds() {
	times >"$work/own"
	awk -v ticks="$(getconf CLK_TCK)" -v own="$work/own" '
		FILENAME != own && $1 == "cpu" { all = ($2 + $3 + $4 + $7 + $8 + $9) / ticks }
		FILENAME == own && FNR == 2 { split($1 "m" $2, t, /[ms]+/); sum = t[1] * 60 + t[2] + t[3] * 60 + t[4] }
		END { printf "%.2f %.2f\n", all, sum }' /proc/stat "$work/own"
}

time_begins() {
	processor_seconds >"$work/before"
	begin=$(date +%s.%N)
}

time_ends() { # BOUND TEXT: one check
	local end cpu others seconds bound text
	end=$(date +%s.%N)
	processor_seconds >"$work/after"
	read -r seconds bound cpu others < <(awk -v begin="$begin" -v end="$end" -v bound="$1" \
		-v slowness="${NIGHTLY_SLOWNESS:-1}" '
		NR == 1 { all = $1; own = $2 }
		NR == 2 {
			others = ($1 - all - ($2 - own)) / (end - begin)
			printf "%.1f %g %.1f %.1f\n", end - begin, bound * slowness, $2 - own, (others > 0 ? others : 0)
		}' "$work/before" "$work/after")
	text="$2: $seconds s, at most $bound s"
	if awk -v a="$seconds" -v b="$bound" 'BEGIN { exit !(a <= b) }'; then
		pass "$text"
	elif awk -v a="$others" 'BEGIN { exit !(a >= 0.3) }'; then
		skip "$text" 'other programs held the processors'
	else
		fail "$text"
	fi
	diag "CPU time of it $cpu s; other programs held $others processors"
}
