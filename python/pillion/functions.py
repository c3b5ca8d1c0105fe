# SPDX-License-Identifier: Apache-2.0
"""python3 -m pillion.functions MODULE...: the functions of these modules, for --python-functions-trace.

    $ python3 -m pillion.functions json 'email.*' >functions.json
    $ pillion --python-functions-trace=functions.json python3 job.py

MODULE.* is a package with all its modules. The modules are imported. Each has a domain of its own, named after it."""
import importlib
import json
import pkgutil
import sys
import types

# From 3.14 on, the compiler makes these; they evaluate the annotations of a module or class.
_GENERATED = "__annotate__", "__annotate_func__"


def _functions(owner, module, prefix=""):
    """Qualified names of what is written in Python in this module or class."""
    for name, value in vars(owner).items():
        function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        if isinstance(function, types.FunctionType) and function.__module__ == module:
            if name not in _GENERATED:
                yield prefix + name
        elif isinstance(value, type) and value.__module__ == module and not prefix.count(".") > 8:
            if value.__qualname__ == prefix + name:
                yield from _functions(value, module, prefix + name + ".")


def listed_of(module):
    """Qualified names of the functions of an imported module."""
    return list(_functions(module, module.__name__))


def _modules(name):
    if not name.endswith(".*"):
        return [name]
    package = importlib.import_module(name[:-2])
    found = pkgutil.walk_packages(getattr(package, "__path__", []), package.__name__ + ".", onerror=lambda _: None)
    return [package.__name__, *(m.name for m in found if not m.name.endswith(".__main__"))]


def listed(names):
    """What the option's file contains, for the modules of these names."""
    rows = []
    for name in (m for n in names for m in _modules(n)):
        try:
            module = importlib.import_module(name)
        except Exception as error:
            print(f"pillion.functions: {name}: {error}", file=sys.stderr)
            continue
        functions = listed_of(module)
        if functions:
            rows.append({"domain": name, "module": name, "functions": functions})
    return rows


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if sys.argv[1:] == ["--help"] else 2
    rows = listed(sys.argv[1:])
    json.dump(rows, sys.stdout, indent=1)
    print()
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
