"""client.py FILE [URL]: sends an image by HTTP, and repeats the request while a replica is replaced or all are busy.

A prediction has no effects, so that a request may be run twice.
"""
import http.client
import sys
import time
import urllib.error
import urllib.request


def predict(url, image, patience=30):
    """The body of the response to IMAGE, the bytes of a file. Raises OSError or HTTPException after PATIENCE
    seconds."""
    end, pause = time.monotonic() + patience, 0.1
    while True:
        try:
            with urllib.request.urlopen(urllib.request.Request(url, image), timeout=patience) as response:
                return response.read()
        except (OSError, http.client.HTTPException) as error:
            # 4xx is the request's own fault, but for 429: too many.
            is_ours = isinstance(error, urllib.error.HTTPError) and error.code < 500 and error.code != 429
            if is_ours or time.monotonic() + pause > end:
                raise
        time.sleep(pause)
        pause = min(2 * pause, 2)


if __name__ == "__main__":
    path, *rest = sys.argv[1:]
    with open(path, "rb") as file:
        print(predict(rest[0] if rest else "http://127.0.0.1:8000/predict/yolov8n", file.read()).decode())
