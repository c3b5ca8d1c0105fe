# SPDX-License-Identifier: Apache-2.0
# CPython's own tests, of the Python named by NIGHTLY_PYTHON (python3): processes, threads, signals, files, sockets.
# shellcheck shell=bash disable=SC2034
subset='processes, threads, signals, memory, sockets, asyncio, multiprocessing by fork; PYTHON_TESTS names others'
tests=${PYTHON_TESTS:-test_os test_posix test_subprocess test_threading test_thread test_signal test_threadsignals
	test_fork1 test_wait3 test_wait4 test_mmap test_fcntl test_pty test_select test_epoll test_socket test_asyncio
	test_multiprocessing_fork test_faulthandler test_ctypes test_cmd_line test_sys test_capi test_tempfile
	test_resource test_gc}

obtain() {
	"${NIGHTLY_PYTHON:-python3}" -c 'import test.test_os'
}

build() {
	:
}

# Distributions leave some tests out, others come with a later version. Those of vsock wait for ever in some virtual
# machines.
run() {
	local python=${NIGHTLY_PYTHON:-python3} present
	# shellcheck disable=SC2086
	present=$("$python" -c 'import importlib.util, sys
print(*(n for n in sys.argv[1:] if importlib.util.find_spec("test." + n)))' $tests)
	# shellcheck disable=SC2086
	"$python" -m test -j2 --timeout 300 -i '*VSOCK*' --junit-xml "$PWD/junit.xml" $present
	local status=$?
	echo "== junit.xml"
	cat junit.xml
	return $status
}

outcomes() { # LOG
	sed -nE 's/^[0-9:]+ .*\] (test_\w+) (passed|failed|crashed|skipped|timed out)\>.*/\1\t\2/p' "$1"
	sed '1,/^== junit.xml$/d' "$1" | "${NIGHTLY_PYTHON:-python3}" -c '
import sys, xml.etree.ElementTree as tree
text = sys.stdin.read()
end = text.rindex("</testsuites>") + len("</testsuites>")
for case in tree.fromstring(text[:end]).iter("testcase"):
    outcome = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
    print(case.get("name"), (outcome or [case.get("result", "run")])[0], sep="\t")'
}
