#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

namespace saccade::python {

namespace nb = nanobind;

/// The file name VALUE: a str, bytes or os.PathLike. ARGUMENT is the name in errors. Throws nb::type_error, Error
/// (kInvalidArgument) for a zero byte.
std::string path_of(nb::handle value, const std::string& argument);

/// TEXT, UTF-8, as Python has it. Bytes that are not UTF-8, as in names of files, become what os.fsencode() takes.
nb::str to_str(std::string_view text);

/// str(OBJECT) in UTF-8; what UTF-8 can't encode is escaped.
std::string text_of(nb::handle object);

/// The name of the class of OBJECT.
std::string class_of(nb::handle object);

}  // namespace saccade::python
