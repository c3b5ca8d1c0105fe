# SPDX-License-Identifier: Apache-2.0
"""profiled.py JOB [FILE]: a job of the standard library, profiled by cProfile into FILE, or in the capture range of a
pillion.Profiler. Prints what the job returns. FILE.json has all functions: of several with the same name on one line,
as of lambdas, FILE has only one."""
import cProfile
import difflib
import html.parser
import ipaddress
import json.encoder
import random
import re
import shlex
import statistics
import string
import sys
import textwrap
import urllib.parse

import pillion

try:
    from re import _parser as parser
except ImportError:
    import sre_parse as parser


def job_json():
    data = [{"a": [1, 2.5, None, True, "x" * i], "b": {"c": [i]}} for i in range(20)]
    return sum(len(json.dumps(json.loads(json.dumps(data, indent=i)), sort_keys=i > 1)) for i in range(4))


def job_textwrap():
    words = " ".join("word%d" % i * (i % 4) for i in range(300))
    return [len(textwrap.fill(words, w)) for w in range(20, 60, 5)] + [textwrap.shorten(words, 40)]


def job_difflib():
    a, b = [str(i % 7) for i in range(120)], [str(i % 5) for i in range(100)]
    return len(list(difflib.unified_diff(a, b))), difflib.get_close_matches("appel", ["ape", "apple", "peach"])


def job_statistics():
    values = [(i * 37) % 101 / 4 for i in range(200)]
    return statistics.stdev(values), statistics.median(values), statistics.quantiles(values), statistics.mode(values)


def job_html():
    class Reader(html.parser.HTMLParser):
        found = 0

        def handle_starttag(self, tag, attributes):
            self.found += 1 + len(attributes)

    reader = Reader()
    reader.feed("<html><body class='x'>" + "<p id=1>a &amp; b<br/><!-- c -->" * 40 + "</body></html>")
    return reader.found


def job_ipaddress():
    networks = [ipaddress.ip_network("10.%d.0.0/16" % i) for i in range(12)]
    found = [str(n) for n in ipaddress.collapse_addresses(networks)]
    return found, ipaddress.ip_address("2001:db8::1") in ipaddress.ip_network("2001:db8::/32")


def job_parser():
    return [len(parser.parse(p)) for p in (r"(a|b(c|(d+?e*)))*[^x-z]{2,5}(?P<n>\d+)(?=end)\b", r"((((a))))" * 6)]


def job_urllib():
    urls = ["http://u:p@host.example:%d/a/../b;c?d=%%41&e=f#g" % (i + 1) for i in range(20)]
    return [urllib.parse.urlparse(u).port for u in urls][-1], urllib.parse.parse_qs("a=1&b=2%20"), \
        urllib.parse.urljoin(urls[0], "../x"), urllib.parse.quote("a b/ü")


def job_random():
    source = random.Random(7)
    return source.sample(range(100), 5), source.choices("abc", k=4), source.gauss(0, 1) < 9, re.escape("a.b")


def job_shlex():
    return shlex.split("a 'b c' \"d\\\"e\" f#g --h=\"i j\"" * 8), shlex.join(["x", "y z"])


def job_string():
    texts = [string.Template("$a ${b} $$").substitute(a=i, b="x") for i in range(20)]
    return texts[-1], string.Formatter().format("{0:>{1}} {x[k]!r}", 1, 5, x={"k": 2}), string.capwords("a bc d")


job = globals()["job_" + sys.argv[1]]
if len(sys.argv) > 2:
    profiler = cProfile.Profile()
    result = profiler.runcall(job)
    profiler.dump_stats(sys.argv[2])
    label = sys.modules[cProfile.Profile.__module__].label  # from 3.15 on in profiling.tracing
    with open(sys.argv[2] + ".json", "w") as file:
        json.dump([(*label(e.code), e.callcount, e.reccallcount) for e in profiler.getstats()], file)
else:
    with pillion.Profiler(cuda=False):
        result = job()
print(result)
