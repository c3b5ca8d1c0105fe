#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# scripts/setup: what it says where something is missing, each with the next command. Nothing is installed: the parts
# that look and download are called on their own. Servers are on loopback. Then scripts/dist, scripts/demo and the build
# itself in an environment that lacks something.
. "$(dirname -- "$0")/lib.sh"

root=${tests_dir%/tests/*}
python3 -m pip --version >/dev/null 2>&1 || skip_all 'no pip'
unset CC "${!PIP_@}" http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy no_proxy NO_PROXY
sed '/^# ---- begin ----/,$d' "$root/scripts/setup" >functions.sh
mkdir -p subprojects scripts && cp "$root/subprojects/libunwind.wrap" subprojects/
printf '#!/bin/sh\necho "fetch-libunwind: timed out" >&2\nexit 1\n' >scripts/fetch-libunwind
chmod +x scripts/fetch-libunwind

setup() { # FUNCTION
	timeout "$patience" sh -c '. ./functions.sh; yes=false what=build; '"$1" 2>&1
}

is "$(setup see_to_compiler)" '' 'a compiler that works: silence'
mkdir empty
like "$(PATH=$work/empty:/bin CC=no-such-cc setup see_to_compiler)" \
	'no-such-cc is not on PATH\. Next: apt-get install gcc' \
	'no compiler on PATH'
printf '#!/bin/sh\necho "fatal error: stdio.h: No such file" >&2\nexit 1\n' >empty/cc && chmod +x empty/cc
said=$(CC=$work/empty/cc setup see_to_compiler)
like "$said" 'fatal error: stdio.h' 'a compiler that fails: its error'
like "$said" 'cannot build a program.*Next: apt-get install gcc libc6-dev' 'and the next command'

# A proxy that does not answer: a port that was free a moment ago.
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export PIP_INDEX_URL=https://127.0.0.1:$port/simple PIP_RETRIES=0 PIP_CONFIG_FILE=/dev/null HOME=$work
said=$(https_proxy=http://127.0.0.1:$port PIP_INDEX_URL=https://example.invalid/simple setup fetch_cuda_headers)
like "$said" '[Pp]roxy' "a proxy that does not answer: pip's error"
like "$said" "unset https_proxy \(http://127.0.0.1:$port\)" 'and what to change'
said=$(setup fetch_cuda_headers)
like "$said" 'Connection refused|NewConnection|No matching distribution' "no network: pip's error"
like "$said" 'Next: ' 'and what to do'
not_ok 'and nothing is left' test -e .cuda-headers.new

# A server whose certificate nobody has signed.
if command -v openssl >/dev/null && openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 \
	-subj /CN=localhost -addext 'subjectAltName=IP:127.0.0.1' 2>err; then
	cat >serve.py <<-'END'
		import http.server, ssl
		server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
		context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
		context.load_cert_chain("cert.pem", "key.pem")
		server.socket = context.wrap_socket(server.socket, server_side=True)
		print(server.server_port, file=open("port.new", "w"), flush=True)
		import os; os.rename("port.new", "port")
		server.serve_forever()
	END
	python3 serve.py 2>server.log &
	server=$!
	eventually test -e port
	said=$(PIP_INDEX_URL=https://127.0.0.1:$(cat port)/simple setup fetch_cuda_headers)
	like "$said" '[Cc]ertificate' "a certificate that cannot be verified: pip's error"
	like "$said" 'Next: apt-get install ca-certificates' 'and what to do'
	kill "$server"
	wait "$server" 2>/dev/null
else
	skip 'certificates' 'no openssl'
fi

said=$(setup see_to_libunwind)
like "$said" 'fetch-libunwind: timed out' "libunwind's source is not in the distribution: why"
like "$said" 'is left to Meson, which downloads https.*no native stacks' 'and what follows'
is "$(ls -A subprojects)" 'libunwind.wrap' 'scripts/setup does not download it'
printf '#!/bin/sh\nexit 0\n' >scripts/fetch-libunwind
is "$(setup see_to_libunwind)" '' "libunwind's source of the distribution: silence"

# ---- scripts/dist: libunwind's source is the first thing that it looks for ----

mkdir -p dist/scripts dist/subprojects dist/packaging dist/bin
cp "$root/scripts/dist" dist/scripts/
cp "$root/subprojects/libunwind.wrap" dist/subprojects/
cp "$root/packaging/zig.txt" dist/packaging/
cp "$root/meson.build" dist/
printf '#!/bin/sh\necho "no mirror" >&2\nexit 1\n' >dist/scripts/fetch-libunwind
printf '#!/bin/sh\necho "no upstream: $*"\nexit 1\n' >dist/bin/meson
for tool in ninja pkg-config make m4 tclsh dpkg-source xz gcc python3; do
	printf '#!/bin/sh\necho "$0 $*" >>"%s/ran"\n' "$work" >"dist/bin/$tool"
done
chmod +x dist/scripts/fetch-libunwind dist/bin/*
SOURCE_DATE_EPOCH=1 PATH=$work/dist/bin:$PATH timeout "$patience" dist/scripts/dist >out 2>&1
is "$? $(grep -vc 'pip --version' ran)" '1 0' "dist without libunwind's source: nothing was downloaded or built"
like "$(cat out)" 'no upstream: subprojects download libunwind' 'dist: why'

# ---- scripts/demo: no pager ----

mkdir -p demo/scripts demo/bin
cp "$root/scripts/demo" demo/scripts/
printf '#!/bin/sh\n' | tee demo/scripts/setup demo/bin/meson >demo/bin/ninja
printf '#!/bin/sh\nexit 1\n' >demo/bin/nvidia-smi
printf '#!/bin/sh\necho "$1 with pager ${PILLION_PAGER-that is default}"\n' >demo/scripts/pillion
chmod +x demo/scripts/* demo/bin/*
PATH=$work/demo/bin:$PATH timeout "$patience" demo/scripts/demo >out 2>&1
is "$? $(grep 'with pager' out | sort -u | tr '\n' ' ')" '0 --version with pager  -f with pager  view with pager  ' \
	'the demo runs without a pager'

# ---- a build without Criterion: it says so ----

if command -v meson >/dev/null; then
	PKG_CONFIG_LIBDIR=$work/empty timeout "$patience" meson setup -Dtests=auto "$work/bare" "$root" >out 2>&1
	is $? 0 'a build without Criterion is configured'
	like "$(cat out)" 'unit tests +: none: Criterion was not found' 'its summary says that there are no unit tests'
	meson setup "$work/plain" "$root" >out 2>&1
	is "$(ninja -C "$work/plain" -t targets all | grep -c '^tests/')" 0 'a plain build has no tests'
	like "$(timeout "$patience" meson test -C "$work/bare" --no-rebuild --suite unit unit-tests 2>&1)" \
		'unit-tests +SKIP' 'and so does meson test'
else
	skip 'a build without Criterion' 'no meson'
fi
done_testing
