# SPDX-License-Identifier: Apache-2.0
# Programs of OpenJDK: the compiler, each garbage collector, the tools that attach to a running process, the recorder.
# The outcome is the status and the digest of what is printed.
# shellcheck shell=bash disable=SC2034,SC2154
subset='javac, jar, jshell, jlink, jcmd, five collectors, small stacks, flight recorder, signals'
packages='default-jdk-headless'

obtain() {
	:
}

build() {
	javac -d classes "$here/Jobs.java" "$here/Faults.java"
}

# The status of a command, and the digest of what it prints.
program() { # NAME COMMAND...
	local name=$1 status
	shift
	timeout 120 "$@" >output 2>errors </dev/null
	status=$?
	cat errors
	echo "== $name	$status $(sha256sum <output | cut -c 1-16)"
}

run() {
	local gc
	for gc in Serial Parallel G1 Z Shenandoah; do
		program "Jobs, $gc" java -XX:+Use${gc}GC -Xmx256m -cp "$SOURCE/classes" Jobs
	done
	program 'Jobs, -Xint' java -Xint -cp "$SOURCE/classes" Jobs
	program 'Jobs, small stacks' java -Xss256k -XX:CompilerThreadStackSize=512 -cp "$SOURCE/classes" Jobs
	program 'Jobs, native memory tracking' java -XX:NativeMemoryTracking=detail -cp "$SOURCE/classes" Jobs
	program 'Jobs, large pages and numa' java -XX:+UseTransparentHugePages -XX:+UseNUMA -cp "$SOURCE/classes" Jobs
	program 'javac' javac -d out "$here/Jobs.java"
	program 'digest of the classes' sh -c 'cat out/*.class'
	program 'jar' jar --create --date 2026-01-01T00:00:00Z --file out.jar -C out .
	program 'digest of the archive' cat out.jar
	printf 'System.out.println(6 * 7)\n/exit\n' >jobs.jsh
	program 'jshell' jshell -s jobs.jsh
	program 'jlink' jlink --add-modules java.base --output image
	program 'image of jlink' image/bin/java -cp "$SOURCE/classes" Jobs
	# Its messages contain the time and its process id.
	program 'flight recorder' bash -o pipefail -c '
		java -XX:StartFlightRecording=filename=jobs.jfr,settings=profile -cp "$SOURCE/classes" Jobs |
			sed "/\[jfr,startup\]/d"'
	program 'jfr summary' sh -c 'jfr summary jobs.jfr | grep -c jdk.ThreadStart'
	program 'jcmd' sh -c 'sleep 60 | jshell -s - & p=$!
		until jcmd -l | grep -q jdk.jshell; do sleep 0.2; done
		for what in Thread.print GC.heap_info VM.native_memory; do
			jcmd "$(jcmd -l | sed -n "/jdk.jshell/{s/ .*//p;q}")" $what >answer; echo $? ; done; kill $p'
	program 'stack overflow on eight threads' java -cp "$SOURCE/classes" Faults overflow
	program 'null pointers' java -cp "$SOURCE/classes" Faults null
	program 'a hook of SIGTERM' java -cp "$SOURCE/classes" Faults hook
}

outcomes() { # LOG
	sed -n 's/^== //p' "$1"
}
