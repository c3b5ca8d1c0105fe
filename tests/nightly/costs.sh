#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# costs.sh list: the names of the workloads. costs.sh NAME COMMAND...: runs one in the current, empty directory;
# COMMAND is put before the measured program (under), not before its clients.
# A workload does a fixed amount of work. It ends with a status other than 0 if the work was not done, and with 77 if
# something that it needs is missing.
set -u -o pipefail
here=$(dirname "$(readlink -f "$0")")

need() { # COMMAND...
	command -v "$@" >/dev/null || {
		echo "missing: $*"
		exit 77
	}
}

under() {
	exec "${wrapper[@]}" "$@"
}

eventually() { # COMMAND...
	local i
	for ((i = 0; i < 1200; i++)); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.1
	done
	return 1
}

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# A server in the background, which ends by a command.
server() { # COMMAND...
	(under "$@") >server.log 2>&1 &
}

workload_redis() {
	local redis=${REDIS_DIRECTORY:-$(dirname "$(command -v redis-server || echo missing/.)")}
	need "$redis/redis-server" "$redis/redis-benchmark" "$redis/redis-cli"
	server "$redis/redis-server" --port 0 --unixsocket "$PWD/socket" --save '' --appendonly no
	eventually "$redis/redis-cli" -s socket ping || return
	"$redis/redis-benchmark" -s socket -q -c 20 -n 200000 -t set,get,lpush,lrange_100 -r 10000 || return
	"$redis/redis-cli" -s socket shutdown nosave
	wait
}

workload_nginx() {
	need nginx ab
	local port
	port=$(free_port)
	mkdir html && head -c 8000 "$here/costs.sh" >html/file
	cat >nginx.conf <<-END2
		daemon off;
		worker_processes 1;
		pid nginx.pid;
		error_log error.log;
		events { worker_connections 100; }
		http {
			access_log access.log;
			client_body_temp_path body;
			proxy_temp_path proxy;
			fastcgi_temp_path fastcgi;
			uwsgi_temp_path uwsgi;
			scgi_temp_path scgi;
			server { listen 127.0.0.1:$port; root html; }
		}
	END2
	server nginx -p "$PWD" -c nginx.conf
	eventually ab -n 1 "http://127.0.0.1:$port/file" || return
	ab -q -k -n 60000 -c 16 "http://127.0.0.1:$port/file" | grep -q '^Failed requests: *0$' || return
	kill -QUIT "$(cat nginx.pid)"
	wait
}

workload_pgbench() {
	local directories=(/usr/lib/postgresql/*/bin) bin
	bin=${directories[-1]}
	need "$bin/initdb" "$bin/pgbench"
	"$bin/initdb" -D data -A trust -U user --no-sync >/dev/null || return
	server "$bin/postgres" -D data -k "$PWD" -h '' -c fsync=off -c autovacuum=off
	eventually "$bin/pg_isready" -q -h "$PWD" || return
	export PGHOST=$PWD PGUSER=user PGDATABASE=postgres
	"$bin/pgbench" -q -i -s 2 && "$bin/pgbench" -n -c 4 -t 2000 && "$bin/pgbench" -n -S -c 4 -t 8000 || return
	"$bin/pg_ctl" -D data -m fast stop
	wait
}

workload_gcc() {
	need gcc
	python3 - >big.c <<-'END2'
		for i in range(2000):
		    print(f"int f{i}(const int *a, int n) {{ int s = {i}; for (int j = 0; j < n; j++)")
		    print(f"s += a[j] * (j ^ {i}); return s ? s % {i + 3} : {i}; }}")
	END2
	(under gcc -O2 -c big.c)
}

workload_sqlite() {
	need sqlite3
	cat >script.sql <<-'END2'
		PRAGMA journal_mode = WAL;
		CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b TEXT);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700000)
		INSERT INTO t SELECT i, (i * 7919) % 100003, printf('row %d', i) FROM n;
		CREATE INDEX t_a ON t (a);
		UPDATE t SET b = b || '!' WHERE a % 10 = 0;
		SELECT count(*), sum(a), max(b) FROM t WHERE a BETWEEN 100 AND 60000;
		DELETE FROM t WHERE a % 3 = 0;
		VACUUM;
	END2
	(under sqlite3 -bail data.db) <script.sql
}

workload_python_server() {
	need python3 ab
	local port
	port=$(free_port)
	cat >serve.py <<-'END2'
		import http.server, json, signal, sys
		class Handler(http.server.BaseHTTPRequestHandler):
		    protocol_version = "HTTP/1.1"
		    def do_GET(self):
		        body = json.dumps({"path": self.path, "sum": sum(i * i for i in range(2000))}).encode()
		        self.send_response(200)
		        self.send_header("Content-Length", str(len(body)))
		        self.end_headers()
		        self.wfile.write(body)
		    def log_message(self, *words):
		        pass
		signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
		open("pid", "w").write(str(__import__("os").getpid()))
		http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
	END2
	server python3 serve.py "$port"
	eventually ab -n 1 "http://127.0.0.1:$port/a" || return
	ab -q -n 5000 -c 8 "http://127.0.0.1:$port/a" | grep -q '^Failed requests: *0$' || return
	kill "$(cat pid)"
	wait
}

workload_make() {
	need make gcc
	local i
	for i in {1..150}; do
		printf '#include <stdio.h>\nint f%d(void) { return puts("%d"); }\n' "$i" "$i" >"f$i.c"
	done
	printf 'program: %s main.o\n\tgcc -o $@ $^\n%%.o: %%.c\n\tgcc -O1 -c -o $@ $<\n' "$(echo f{1..150}.o)" >Makefile
	echo 'int main(void) { return 0; }' >main.c
	(under make -s -j2) && ./program
}

workload_shell() {
	cat >script.sh <<-'END2'
		for i in {1..300}; do
			line=$(echo "$i" | sed 's/1/one/' | tr a-z A-Z)
			(cd / && [ -d usr ]) && case $line in *ONE*) echo "$line" ;; esac
		done | sort | uniq -c | tail -n 1
	END2
	(under bash script.sh)
}

workload_torch() {
	local python=${PYTHON_TORCH:-python3}
	"$python" -c 'import torch' 2>/dev/null || need "a Python with PyTorch (PYTHON_TORCH)"
	cat >train.py <<-'END2'
		import torch
		torch.manual_seed(0)
		torch.set_num_threads(2)
		model = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), torch.nn.ReLU(), torch.nn.Flatten(),
		    torch.nn.Linear(16 * 30 * 30, 100), torch.nn.ReLU(), torch.nn.Linear(100, 10))
		optimizer = torch.optim.Adam(model.parameters())
		data = torch.randn(64, 3, 32, 32)
		target = torch.randint(10, (64,))
		for step in range(150):
		    optimizer.zero_grad()
		    loss = torch.nn.functional.cross_entropy(model(data), target)
		    loss.backward()
		    optimizer.step()
		print(f"{loss.item():.3f}")
	END2
	(under "$python" train.py)
}

if [ "$1" = list ]; then
	declare -F | sed -n 's/^declare -f workload_//p'
	exit
fi
name=$1
shift
wrapper=("$@")
"workload_$name"
