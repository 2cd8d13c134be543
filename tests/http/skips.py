"""What a file of tests says about those that it skipped: ctest sees no more than its exit status."""
import collections
import re
import sys
import unittest


def tests_of(skipped):
    """How many tests SKIPPED stands for: one, or those of a class whose setUpClass() could not run."""
    found = re.fullmatch(r"setUpClass \(__main__\.(\w+)\)", skipped.id())
    return len(unittest.defaultTestLoader.getTestCaseNames(getattr(sys.modules["__main__"], found[1]))) if found else 1


def main(arguments=None):
    """Runs the tests of the program, as ARGUMENTS say (None: those of the command line). Prints
    "SKIPPED: WHY (N tests)", which script/summarize-tests reads; exits with 77, ctest's SKIP_RETURN_CODE, if none was run."""
    argv = sys.argv if arguments is None else [sys.argv[0], *arguments]
    result = unittest.main(module="__main__", argv=argv, exit=False).result
    counts = collections.Counter()
    for test, reason in result.skipped:
        counts[reason] += tests_of(test)
    for reason, count in counts.items():
        print(f"SKIPPED: {reason} ({count} tests)")
    # Those of a class that could not be set up are not among testsRun. A skipped part of a test leaves the others.
    whole = sum(type(test).__module__ == "__main__" for test, _ in result.skipped)
    is_skipped = counts and result.wasSuccessful() and result.testsRun == whole
    sys.exit(77 if is_skipped else not result.wasSuccessful())
