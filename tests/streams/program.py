"""What the programs of this folder have in common: their arguments, and how they skip and run their cases."""
import argparse
import subprocess
import sys
import unittest

from servers import Missing


def parser_of(doc):
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--model", required=True)
    return parser


def require_srt():
    known = subprocess.run(["ffmpeg", "-v", "error", "-protocols"], capture_output=True, text=True, check=True)
    if "srt" not in known.stdout.split():
        raise Missing("this ffmpeg has no SRT")


def run_cases(cases, find_servers, names=()):
    """Runs the tests of CASES, those of NAMES if there are any, and ends the program. FIND_SERVERS raises Missing: they are
    skipped."""
    try:
        find_servers()
    except Missing as missing:
        print(f"Skipped: {missing}")
        sys.exit(0)
    suite = unittest.TestSuite()
    for case in cases:
        for name in unittest.defaultTestLoader.getTestCaseNames(case):
            if not names or name in names:
                suite.addTest(case(name))
    sys.exit(0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1)
