"""Image files in memory."""
from __future__ import annotations

import re
import tempfile
from typing import TYPE_CHECKING, Any

from .._errors import InvalidArgumentError, InvalidFileError
from .._saccade import load_image

if TYPE_CHECKING:
    from .._saccade import Result

_BOUNDARY = re.compile(r'boundary="?([^";,]{1,70})')


def decoded(file: bytes) -> Any:
    """The image in the bytes of a JPEG or PNG file: uint8, (height, width, 3), RGB. Raises saccade.Error."""
    if not file:
        raise InvalidArgumentError("the body is empty: it is the bytes of a JPEG or PNG file")
    if not file.startswith((b"\xff\xd8", b"\x89PNG")):
        raise InvalidFileError("the image is neither a JPEG nor a PNG file")
    with tempfile.NamedTemporaryFile() as opened:
        opened.write(file)
        opened.flush()
        try:
            return load_image(opened.name, color="rgb")
        except InvalidFileError as error:
            raise InvalidFileError(str(error).replace(f"'{opened.name}'", "the image")) from None


def drawn(result: Result) -> bytes:
    """The image of RESULT with the predictions drawn, as JPEG."""
    with tempfile.NamedTemporaryFile(suffix=".jpg") as opened:
        result.save(opened.name)
        # save() renames a new file over it.
        with open(opened.name, "rb") as written:
            return written.read()


def image_in(body: bytes, content_type: str) -> bytes:
    """The image's file in a request: its BODY, or the file of a form."""
    if not content_type.startswith("multipart/form-data"):
        return body
    boundary = _BOUNDARY.search(content_type)
    if boundary is None:
        raise InvalidArgumentError("the multipart body has no valid boundary")
    delimiter = b"\r\n--" + boundary[1].encode()
    for part in (b"\r\n" + body).split(delimiter)[1:-1]:
        head, blank, content = part.partition(b"\r\n\r\n")
        if blank and b"filename=" in head:
            return content
    raise InvalidArgumentError("the multipart body has no file")
