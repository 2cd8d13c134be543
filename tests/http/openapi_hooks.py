"""What schemathesis can't guess of `saccade serve`: image files. For serve_openapi.py."""
import os

import schemathesis
from hypothesis import strategies

with open(os.environ["SACCADE_TEST_IMAGE"], "rb") as file:
    IMAGE = strategies.just(file.read())
for media_type in ("image/jpeg", "image/png"):
    schemathesis.openapi.media_type(media_type, IMAGE)
