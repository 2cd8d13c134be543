"""Image files in memory."""
from __future__ import annotations

import re
import struct
import tempfile
from typing import TYPE_CHECKING, Any

from .._errors import InvalidArgumentError, InvalidFileError
from .._saccade import load_image

if TYPE_CHECKING:
    from .._saccade import Result

_PARAMETER = re.compile(r';\s*([^=;\s]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;"]*)', re.DOTALL)
# A header may continue on a line that begins with a blank.
_DISPOSITION = re.compile(r"^content-disposition:([^\r\n]*(?:\r\n[ \t][^\r\n]*)*)", re.IGNORECASE | re.MULTILINE)
# Markers of JPEG; those that begin a frame, and those without a length. 64 KiB may follow one.
_MARKER = re.compile(rb"\xff[^\x00\xff]", re.DOTALL)
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_BARE = {0x01, *range(0xD0, 0xD8)}
_MOST_MARKERS = 10_000


def decoded(file: bytes, max_pixels: int) -> Any:
    """The image in the bytes of a JPEG or PNG file: uint8, (height, width, 3), RGB. Raises saccade.Error, also if it
    declares more than MAX_PIXELS."""
    if not file:
        raise InvalidArgumentError("the body is empty: it is the bytes of a JPEG or PNG file")
    if not file.startswith((b"\xff\xd8", b"\x89PNG")):
        raise InvalidFileError("the image is neither a JPEG nor a PNG file")
    width, height = _size_of(file)
    if width * height > max_pixels:
        raise InvalidFileError(f"the image declares {width}x{height} pixels, more than the limit of {max_pixels}")
    with tempfile.NamedTemporaryFile() as opened:
        opened.write(file)
        opened.flush()
        try:
            return load_image(opened.name, color="rgb")
        except InvalidFileError as error:
            raise InvalidFileError(str(error).replace(f"'{opened.name}'", "the image")) from None


def _size_of(file: bytes) -> tuple[int, int]:
    """Width and height as the header of a JPEG or PNG FILE has them. Raises saccade.InvalidFileError."""
    try:
        if not file.startswith(b"\xff\xd8"):
            width, height = struct.unpack_from(">II", file, 16)
            return width, height
        at = 2
        for _ in range(_MOST_MARKERS):
            # As libjpeg does, what lies between segments is skipped.
            if (found := _MARKER.search(file, at)) is None:
                break
            marker, at = found[0][1], found.end()
            if marker in _FRAMES:
                height, width = struct.unpack_from(">HH", file, at + 3)
                return width, height
            if marker not in _BARE:
                at += struct.unpack_from(">H", file, at)[0]
    except struct.error:
        pass
    raise InvalidFileError("the image is damaged: its header has no size")


def drawn(result: Result) -> bytes:
    """The image of RESULT with the predictions drawn, as JPEG."""
    with tempfile.NamedTemporaryFile(suffix=".jpg") as opened:
        result.save(opened.name)
        # save() renames a new file over it.
        with open(opened.name, "rb") as written:
            return written.read()


def image_in(body: bytes, content_type: str) -> bytes:
    """The image's file in a request: its BODY, or the file of a form. Raises saccade.InvalidArgumentError."""
    if not body or not content_type.lower().startswith("multipart/form-data"):
        return body
    boundary = _parameters(content_type).get("boundary", "")
    if not 0 < len(boundary) <= 70:
        raise InvalidArgumentError("the multipart body has no valid boundary")
    files = []
    for part in (b"\r\n" + body).split(b"\r\n--" + boundary.encode("latin-1"))[1:-1]:
        head, blank, content = part.partition(b"\r\n\r\n")
        # Longer headers would keep this process busy for long.
        is_part = blank and len(head) <= 16 << 10
        disposition = _DISPOSITION.search(head.decode("latin-1")) if is_part else None
        if disposition and not {"filename", "filename*"}.isdisjoint(_parameters(disposition[1])):
            files.append(content)
    if len(files) > 1:
        raise InvalidArgumentError("the multipart body has several files: send one per request")
    if not files:
        raise InvalidArgumentError("the multipart body has no file")
    return files[0]


def _parameters(header: str) -> dict[str, str]:
    """The parameters "; NAME=VALUE" of a HEADER, by their names in lower case."""
    found: dict[str, str] = {}
    for name, value in _PARAMETER.findall(header):
        found.setdefault(name.lower(), value[1:-1] if value.startswith('"') else value.strip())
    return found
