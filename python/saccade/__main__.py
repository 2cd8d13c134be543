"""`python -m saccade`: the command itself."""
from ._command import main

if __name__ == "__main__":
    main()
