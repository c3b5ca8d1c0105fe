# SPDX-License-Identifier: Apache-2.0
"""pillion recipe NAME CAPTURE...: analyses of many captures, one task of Dask's distributed scheduler for each."""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

NEEDED = ("dask", "distributed", "pandas", "pyarrow")


def positive(text):
    """A number of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return value


def missing_packages():
    import importlib.util
    return [name for name in NEEDED if importlib.util.find_spec(name) is None]


def check_tables(parser, options):
    """What recipes other than stats take."""
    if options.further or options.by:
        parser.error("unrecognized arguments: " + " ".join(options.further or ["--by"]))
    if options.format not in ("csv", "json", "parquet"):
        parser.error(f"-f {options.format}: csv, json or parquet")
    if options.format == "parquet" and not options.output:
        parser.error("-f parquet needs -o FILE")


def parse(words, recipes):
    listing = "\n".join(f"  {name:24}{(r.__doc__ or '').splitlines()[0]}" for name, r in recipes.items())
    parser = argparse.ArgumentParser(
        prog="pillion recipe", description="Analyses of many captures, on Dask's distributed scheduler.",
        epilog="Recipes:\n" + listing, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", metavar="NAME", choices=list(recipes), help="one of the recipes below")
    parser.add_argument("captures", metavar="CAPTURE", nargs="+")
    parser.add_argument("-f", "--format", default="csv", help="csv, json, parquet; stats: any format of pillion stats")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: standard output; needed for parquet")
    parser.add_argument("--scheduler", metavar="ADDRESS",
                        help="a running scheduler of Dask, whose workers see the captures; default: processes here")
    parser.add_argument("--scheduler-file", metavar="FILE", help="likewise, by the file that dask-mpi has written")
    parser.add_argument("--workers", type=positive, metavar="N", help="processes of the local scheduler")
    parser.add_argument("--name", help="cuda_gpu_kern_pace, nvtx_gpu_proj_pace: each instance of that kernel or range")
    parser.add_argument("--bins", type=positive, default=30, help="mpi_gpu_time_util_map: intervals of time (30)")
    parser.add_argument("--gap", type=float, default=500, help="gpu_gaps: the shortest one in ms (500)")
    parser.add_argument("-r", "--report", help="diff: the report that is compared (cuda_gpu_kern_sum); stats: "
                        "the reports (the default set)")
    parser.add_argument("--by", metavar="WHAT", help="stats: as of pillion stats; so are all other options that are "
                        "written as --name=VALUE")
    options, options.further = parser.parse_known_args(words)
    if options.recipe != "stats":
        check_tables(parser, options)
    if options.recipe == "diff" and len(options.captures) != 2:
        parser.error("diff compares two captures")
    return options


def run(recipe, options):
    from dask.distributed import Client, LocalCluster
    if options.scheduler or options.scheduler_file:
        with Client(options.scheduler, scheduler_file=options.scheduler_file) as client:
            return result(client, recipe, options)
    workers = options.workers or min(len(options.captures), len(os.sched_getaffinity(0)))
    with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            return result(client, recipe, options)


class RecipeError(Exception):
    """What is said instead of a table."""


def result(client, recipe, options):
    # The workers may have another working directory, and import the recipes by the file.
    here = os.path.dirname(os.path.abspath(__file__))
    is_mapped = hasattr(recipe, "map")
    for name in ("parts.py", "capture.py", "recipes.py") if is_mapped else ("parts.py",):
        client.upload_file(os.path.join(here, name))
    paths = [os.path.abspath(path) for path in options.captures]
    if is_mapped:
        return map_and_reduce(client, recipe, paths, options)
    from parts import CaptureError
    try:
        return recipe.run(client, paths, options)
    except CaptureError as error:
        raise RecipeError(str(error)) from None


def map_and_reduce(client, recipe, paths, options):
    from recipes import attempt
    results = client.gather(client.map(attempt, [recipe] * len(paths), paths, [options] * len(paths), pure=False))
    for _, problem in results:
        if problem:
            raise RecipeError(problem)
    return 0, recipe.reduce([frame for frame, _ in results], options)


def write(table, options):
    if isinstance(table, bytes):
        text = table
    elif options.format == "parquet":
        table.to_parquet(options.output, index=False)
        return
    else:
        text = table.to_csv(index=False) if options.format == "csv" else table.to_json(orient="records") + "\n"
        text = text.encode()
    if options.output:
        with open(options.output, "wb") as file:
            file.write(text)
    else:
        sys.stdout.buffer.write(text)


def main():
    from parts import report_program
    from recipes import RECIPES
    if sys.argv[1:] == ["--version"]:
        os.execvp(report_program(), ["pillion-report", "--version"])
    options = parse(sys.argv[1:], RECIPES)
    missing = missing_packages()
    if missing:
        print(f"pillion recipe: {sys.executable} has no {', '.join(missing)}; install with `python3 -m pip install "
              f"{' '.join(NEEDED)}`, or name a Python that has them in PILLION_PYTHON", file=sys.stderr)
        return 2
    os.umask(0o077)  # what is written is as private as a capture
    try:
        status, table = run(RECIPES[options.recipe], options)
        if table is not None:
            write(table, options)
    except RecipeError as error:
        print(f"pillion recipe: {error}", file=sys.stderr)
        return 2
    return status


if __name__ == "__main__":
    sys.exit(main())
