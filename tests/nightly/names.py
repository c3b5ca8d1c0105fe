#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""names.py [--all]: functions that the newest wheels of NVIDIA's libraries export, that the releases in RELEASES do not
export, and that have no row in the hook table. Prints TAP; a library with such functions fails. After somebody has
added their rows, or decided that they need none, the release in RELEASES is raised. --all prints all functions without
a row, also those of the releases in RELEASES, and fails for none. Wheels are downloaded only where they are newer."""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

# The newest release whose functions were compared with the rows.
RELEASES = {
    'nvidia-nccl-cu13': '2.32.3',
    'nvidia-cuda-runtime': '13.5.37',
    'nvidia-cublas': '13.10.0.20',
    'nvidia-cudnn-cu13': '9.28.1.4',
    'nvidia-cusparse': '12.9.4.2',
    'nvidia-cusolver': '12.4.1.2',
}
PUBLIC = re.compile(r'(__)?(nccl|cuda|cublas|cudnn|cusparse|cusolver)[A-Z]\w*$')
PIP = [sys.executable, '-m', 'pip', '--quiet', '--disable-pip-version-check']


class Unreachable(Exception):
    """The package index or a wheel cannot be reached."""


def output_of(argv, limit_s):
    try:
        return subprocess.run(argv, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=limit_s).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise Unreachable((getattr(error, 'stderr', None) or str(error)).strip().splitlines()[-1]) from error


def newest(package):
    report = output_of([*PIP, 'install', '--dry-run', '--no-deps', '--ignore-installed', '--only-binary', ':all:',
                        '--report', '-', package], 120)
    return json.loads(report[report.index('{'):])['install'][0]['metadata']['version']


def exported(package, release):
    """The public functions that the shared libraries of the release's wheel export."""
    names = set()
    with tempfile.TemporaryDirectory() as directory:
        output_of([*PIP, 'download', '--no-deps', '--only-binary', ':all:', '-d', directory, f'{package}=={release}'],
                  3600)
        with zipfile.ZipFile(glob.glob(os.path.join(directory, '*.whl'))[0]) as wheel:
            libraries = [wheel.extract(name, directory) for name in wheel.namelist()
                         if re.search(r'/lib[^/]*\.so[.0-9]*$', name)]
        for library in libraries:
            for line in output_of(['nm', '-D', '--defined-only', library], 600).splitlines():
                name = line.split()[-1].partition('@')[0]
                if PUBLIC.match(name):
                    names.add(name)
    return names


def without_row(package, rows, show_all):
    """The newest release, and the functions to report."""
    release = newest(package)
    if show_all:
        return release, exported(package, release) - rows
    if release == RELEASES[package]:
        return release, set()
    return release, exported(package, release) - exported(package, RELEASES[package]) - rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--all', action='store_true', help='all functions without a row')
    parser.add_argument('packages', nargs='*', default=list(RELEASES), metavar='PACKAGE')
    arguments = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    build = os.environ.get('PILLION_BUILD_DIR', os.path.join(root, 'build'))
    rows = set(subprocess.run([os.path.join(build, 'tests', 'hook-names')], check=True, stdout=subprocess.PIPE,
                              text=True).stdout.split())
    failed = 0
    for number, package in enumerate(arguments.packages, 1):
        try:
            release, names = without_row(package, rows, arguments.all)
        except Unreachable as error:
            print(f'ok {number} - {package} # SKIP cannot be downloaded: {error}')
            continue
        is_new = bool(names) and not arguments.all
        failed += is_new
        print(f'{"not ok" if is_new else "ok"} {number} - {package} {release}: each function that is new since '
              f'{RELEASES[package]} has a row', flush=True)
        for name in sorted(names):
            print(f'# {name}', flush=True)
    print(f'1..{len(arguments.packages)}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
