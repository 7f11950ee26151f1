"""50 proved digits of every activation of the table: CPU time of the first call.

`python benchmarks/activations.py [DIGITS] [PROCESSES]` asks in each process for f, f', f^2 and f'^2
of all rows in a random order, each once, as text, and prints the least over the processes: what
else the machine does only adds to it.
"""

import json
import random
import statistics
import subprocess
import sys
import time

FORMS = ("{}(x)", "{}'(x)", "{}(x)^2", "{}'(x)^2")


def first_calls(digits: int, seed: int) -> dict[str, float]:
    """Milliseconds by text, after calls of other functions."""
    import varlaw as vl
    from varlaw.symbolic.activations import ACTIVATIONS

    for text in ("max(x, 0)^2", "atan(x)^2"):
        vl.moment(text).digits(digits)
    texts = [form.format(name) for name in ACTIVATIONS for form in FORMS]
    random.Random(seed).shuffle(texts)
    found = {}
    for text in texts:
        began = time.process_time()
        vl.moment(text).digits(digits)
        found[text] = (time.process_time() - began) * 1e3
    return found


def main() -> None:
    digits, processes, *seed = [*map(int, sys.argv[1:]), *(50, 9)[len(sys.argv) - 1 :]]
    if seed:
        print(json.dumps(first_calls(digits, *seed)))
        return
    runs = []
    for k in range(processes):
        command = [sys.executable, __file__, str(digits), "1", str(k)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout))
    least = {text: min(run[text] for run in runs) for text in runs[0]}
    for text, ms in sorted(least.items(), key=lambda item: -item[1]):
        print(f"{text:22s} {ms:7.2f} ms")
    values = list(least.values())
    over = sum(ms > 5 for ms in values)
    print(f"median {statistics.median(values):.2f} ms, {over} of {len(values)} above 5 ms")


if __name__ == "__main__":
    main()
