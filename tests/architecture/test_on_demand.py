"""Parts of the package that come with ``import shedjoin``, when asked for."""

import json
import subprocess
import sys

PROGRAM = """
import json, sys
import shedjoin as sj
heavy = ("numba", "scipy", "pyspark", "matplotlib")
before = [name for name in heavy if name in sys.modules]
parts = [sj.local.join, sj.plan.Costs, sj.policies.Prob, sj.testing.check_policy]
parts += [sj.lab]
try:
    sj.remote
except AttributeError as error:
    print(json.dumps([before, len(parts), str(error)]))
"""


def test_parts_are_imported_when_asked_for() -> None:
    call = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    before, parts, error = json.loads(done.stdout)
    assert before == []
    assert parts == 5
    assert error == "module 'shedjoin' has no attribute 'remote'"
