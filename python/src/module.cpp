#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <string>

#include "arrays.hpp"
#include "model.hpp"
#include "pipeline.hpp"
#include "result.hpp"
#include "saccade/error.hpp"
#include "saccade/unrecognised_model.hpp"
#include "saccade/version.hpp"
#include "session.hpp"
#include "text.hpp"

namespace saccade::python {
namespace {

/// Raises the class of saccade._errors for ERROR's code.
void raise(const Error& error) {
  try {
    const nb::object make = nb::module_::import_("saccade._errors").attr("make");
    const auto* unrecognised = dynamic_cast<const UnrecognisedModel*>(&error);
    const nb::object card = unrecognised != nullptr ? nb::object(to_str(unrecognised->card())) : nb::none();
    const nb::object exception = make(to_str(to_string(error.code())), to_str(error.what()), card);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  } catch (nb::python_error& instead) {
    // A signal that came meanwhile is handled by the call into Python: Ctrl-C, above all.
    instead.restore();
  }
}

void translate(const std::exception_ptr& thrown, void* /*payload*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    raise(error);
  }
}

}  // namespace
}  // namespace saccade::python

NB_MODULE(_saccade, module) {
  using namespace saccade::python;  // NOLINT(google-build-using-namespace)
  module.doc() = "Saccade's engine.";
  // At the end of a process PyTorch's caches hold objects of this module longer than nanobind's check waits.
  nb::set_leak_warnings(false);
  nb::register_exception_translator(translate);
  check_process();  // notes the process
  module.attr("version") = std::string(saccade::version());
  define_results(module);
  define_model(module);
  define_pipeline(module);
  define_session(module);
  module.def(
      "load_image",
      [](const nb::object& path, const std::string& color) {
        return image_array(load_image_unlocked(path_of(path, "path"), color_format(color)));
      },
      nb::arg("path"), nb::kw_only(), nb::arg("color") = "bgr",
      nb::sig("def load_image(path: str | os.PathLike[str], *, color: str = 'bgr') -> "
              "numpy.typing.NDArray[numpy.uint8]"),
      "The image file at PATH, upright as its EXIF orientation says: uint8, (height, width, 3), in COLOR (\"bgr\", "
      "\"rgb\"). Raises NotFoundError, IoError, or InvalidFileError if it is damaged, of another kind or has more than "
      "2^28 pixels.");
}
