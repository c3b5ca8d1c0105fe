#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""join.py OUTPUT NAME PAGE STYLE MODULE...: writes the page, with its style and script inserted, as the C array NAME.
Each module must be listed after those that it imports; imports and exports are removed, because all modules share one
function."""
import base64
import hashlib
import re
import sys


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def script(paths):
    """All modules in one strict function. A name at the top of two of them would be one variable: that is an error."""
    owners = {}
    parts = []
    for path in paths:
        text = re.sub(r'^import .*?;\n', '', read(path), flags=re.M | re.S)
        text = re.sub(r'^export ', '', text, flags=re.M)
        text = re.sub(r'^\s*//.*\n', '', text, flags=re.M)
        for name in re.findall(r'^(?:async )?(?:function|class|const|let) (\w+)', text, flags=re.M):
            if name in owners:
                sys.exit(f'join.py: {name} is in {owners[name]} and in {path}')
            owners[name] = path
        parts.append(text)
    return '(() => {\n"use strict";\n' + '\n'.join(parts) + '})();\n'


def content_hash(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def as_c(text):
    numbers = [str(byte) for byte in text.encode()] + ['0']
    return '{' + ','.join(numbers) + '}'


def main():
    output, name, page_path, style_path, *modules = sys.argv[1:]
    style, code, page = read(style_path), script(modules), read(page_path)
    assert '</script' not in code and '</style' not in style
    page = page.replace('@STYLE_HASH@', content_hash(style)).replace('@SCRIPT_HASH@', content_hash(code))
    page = page.replace('@STYLE@', style).replace('@SCRIPT@', code)
    parts = re.split('@TITLE@|@SUMMARY@|@DATA@', page)
    with open(output, 'w', encoding='utf-8') as file:
        file.write('/* Made by report/page/view/join.py. */\n#include "report/page/html_page.h"\n\n')
        for i, part in enumerate(parts):
            file.write(f'static const char part{i}[] = {as_c(part)};\n')
        names = ', '.join(f'part{i}' for i in range(len(parts)))
        file.write(f'const char *const {name}[HTML_PARTS] = {{{names}}};\n')


main()
