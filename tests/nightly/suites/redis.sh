# SPDX-License-Identifier: Apache-2.0
# Redis's Tcl tests, of Debian's source package.
# shellcheck shell=bash disable=SC2034
subset='data types, expiry, scan, multi, pubsub, scripting, AOF, RDB, replication, shutdown'
packages='tcl tcl-tls pkg-config libsystemd-dev'
user=nobody

obtain() {
	debian_source redis
}

build() {
	make -C source -j2 MALLOC=libc OPTIMIZATION=-O1 CFLAGS=-g0
}

# --clients 2: two servers at a time.
run() {
	local units=(unit/auth unit/protocol unit/keyspace unit/scan unit/info unit/type/string unit/type/incr
		unit/type/set unit/type/zset unit/type/hash unit/expire unit/quit unit/multi unit/pubsub unit/shutdown
		unit/limits unit/bitops unit/introspection unit/slowlog unit/scripting unit/oom-score-adj
		integration/aof integration/rdb integration/logging integration/redis-cli
		integration/replication-2 integration/redis-benchmark) unit single=()
	for unit in "${units[@]}"; do
		single+=(--single "$unit")
	done
	cd "$SOURCE/source" && rm -rf tests/tmp && mkdir tests/tmp && ./runtest --clients 2 --timeout 300 "${single[@]}"
}

outcomes() { # LOG
	sed -E 's/\x1b\[[0-9;]*m//g' "$1" |
		sed -nE 's/^\[(ok|err|skip|ignore|exception)\]: (.*)$/\2\t\1/p' |
		sed -E 's/( in tests\/.*| \([0-9]+ ms\))\t/\t/'
}
