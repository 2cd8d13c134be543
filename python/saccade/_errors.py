"""The exceptions of the package. A message names the object and the remedy."""


class Error(Exception):
    """What Saccade raises."""

    code = "unknown"
    """The category, as a class's own; of a command that failed, it may be unknown."""
    card: str | None = None
    """Of a model that is not recognised: a model card to complete (TOML)."""


class InvalidArgumentError(Error, ValueError):
    """A value given to a function is invalid."""

    code = "invalid argument"


class NotFoundError(Error, FileNotFoundError):
    """A file, device, module or name does not exist."""

    code = "not found"


class IoError(Error, OSError):
    """The operating system refused to read or write."""

    code = "input or output"


class InvalidFileError(Error, ValueError):
    """A model, image, video, card or plan is damaged or of another kind."""

    code = "invalid file"


class ConflictError(Error, ValueError):
    """Outputs and inputs collide."""

    code = "conflict"


class UnsupportedError(Error):
    """Valid, but not supported."""

    code = "unsupported"


class DeviceError(Error):
    """A camera or accelerator failed."""

    code = "device"


class InternalError(Error):
    """A bug in Saccade."""

    code = "internal"


_CLASSES = {
    kind.code: kind
    for kind in (InvalidArgumentError, NotFoundError, IoError, InvalidFileError, ConflictError, UnsupportedError,
                 DeviceError, InternalError)
}


def make(code: str, message: str, card: str | None) -> Error:
    """The exception of CODE with MESSAGE, as the engine calls it."""
    error = _CLASSES[code](message)
    error.card = card
    return error
