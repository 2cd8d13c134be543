#include "text.hpp"

#include "saccade/error.hpp"

namespace saccade::python {
namespace {

std::string string_of(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

}  // namespace

std::string path_of(nb::handle value, const std::string& argument) {
  if (!nb::isinstance<nb::str>(value) && !nb::isinstance<nb::bytes>(value) && !nb::hasattr(value, "__fspath__"))
    throw nb::type_error((argument + " is a str or os.PathLike, not " + class_of(value)).c_str());
  std::string path = string_of(nb::bytes(nb::module_::import_("os").attr("fsencode")(value)));
  // The system would take what is before it.
  if (path.find('\0') != std::string::npos)
    throw Error(ErrorCode::kInvalidArgument, argument + " has a zero byte: " + text_of(nb::repr(value)));
  return path;
}

nb::str to_str(std::string_view text) {
  PyObject* decoded = PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  if (decoded == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(decoded);
}

std::string text_of(nb::handle object) {
  PyObject* encoded = PyUnicode_AsEncodedString(nb::str(object).ptr(), "utf-8", "backslashreplace");
  if (encoded == nullptr) throw nb::python_error();
  return string_of(nb::steal<nb::bytes>(encoded));
}

std::string class_of(nb::handle object) { return text_of(object.type().attr("__name__")); }

}  // namespace saccade::python
