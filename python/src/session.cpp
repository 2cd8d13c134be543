#include "session.hpp"

#include <nanobind/stl/string.h>

#include <array>
#include <mutex>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "model.hpp"
#include "saccade/error.hpp"

namespace saccade::python {
namespace {

struct ArrayType {
  DType dtype;
  const char* numpy;
  nb::dlpack::dtype_code code;
  std::uint8_t bits;
};

constexpr auto kTypes = std::to_array<ArrayType>({
    {DType::kFloat32, "float32", nb::dlpack::dtype_code::Float, 32},
    {DType::kFloat16, "float16", nb::dlpack::dtype_code::Float, 16},
    {DType::kFloat64, "float64", nb::dlpack::dtype_code::Float, 64},
    {DType::kInt8, "int8", nb::dlpack::dtype_code::Int, 8},
    {DType::kInt16, "int16", nb::dlpack::dtype_code::Int, 16},
    {DType::kInt32, "int32", nb::dlpack::dtype_code::Int, 32},
    {DType::kInt64, "int64", nb::dlpack::dtype_code::Int, 64},
    {DType::kUInt8, "uint8", nb::dlpack::dtype_code::UInt, 8},
    {DType::kUInt16, "uint16", nb::dlpack::dtype_code::UInt, 16},
    {DType::kUInt32, "uint32", nb::dlpack::dtype_code::UInt, 32},
    {DType::kUInt64, "uint64", nb::dlpack::dtype_code::UInt, 64},
    {DType::kBool, "bool", nb::dlpack::dtype_code::Bool, 8},
});

const ArrayType& type_of(const TensorInfo& tensor) {
  for (const ArrayType& type : kTypes)
    if (type.dtype == tensor.dtype) return type;
  throw Error(ErrorCode::kUnsupported,
              "'" + tensor.name + "' is " + std::string(to_string(tensor.dtype)) + ", for which NumPy has no type");
}

/// A NumPy array of TENSOR's type and full shape.
nb::object empty_array(const TensorInfo& tensor) {
  return nb::module_::import_("numpy").attr("empty")(to_tuple(tensor.shape), type_of(tensor).numpy);
}

void* data_of(nb::handle array) { return nb::cast<nb::ndarray<nb::c_contig, nb::device::cpu>>(array).data(); }

class PySession {
 public:
  explicit PySession(PyModel& model) : model_(model.get()), session_(model_) {}

  nb::dict run(const nb::dict& arrays) {
    check_process();
    std::vector<nb::object> inputs;
    std::vector<InputBuffer> from;
    for (const TensorInfo& tensor : model_.inputs()) {
      inputs.push_back(input(tensor, arrays));
      from.push_back(buffer(tensor, inputs.back()));
    }
    if (arrays.size() != inputs.size()) refuse_unknown(arrays);
    std::vector<nb::object> outputs;
    std::vector<OutputBuffer> to;
    for (const TensorInfo& tensor : model_.outputs()) {
      outputs.push_back(empty_array(tensor));
      const auto bytes = static_cast<std::size_t>(tensor.shape.elements()) * bits_of(tensor.dtype) / 8;
      to.push_back({data_of(outputs.back()), bytes, tensor.dtype, tensor.shape});
    }
    {
      nb::gil_scoped_release unlocked;
      const std::lock_guard lock(mutex_);
      session_.run(from, to);
    }
    nb::dict results;
    for (std::size_t i = 0; i < to.size(); ++i)
      results[model_.outputs()[i].name.c_str()] = cut(outputs[i], model_.outputs()[i], to[i].shape);
    return results;
  }

 private:
  static nb::object input(const TensorInfo& tensor, const nb::dict& arrays) {
    if (!arrays.contains(tensor.name.c_str()))
      throw Error(ErrorCode::kInvalidArgument, "the input '" + tensor.name + "' is missing");
    return nb::module_::import_("numpy").attr("ascontiguousarray")(arrays[tensor.name.c_str()]);
  }

  static InputBuffer buffer(const TensorInfo& tensor, const nb::object& array) {
    const auto view = nb::cast<nb::ndarray<nb::c_contig, nb::device::cpu>>(array);
    const ArrayType& type = type_of(tensor);
    const nb::dlpack::dtype given = view.dtype();
    if (given.code != static_cast<std::uint8_t>(type.code) || given.bits != type.bits)
      throw Error(ErrorCode::kInvalidArgument, "the input '" + tensor.name + "' is " + type.numpy + ", not " +
                                                   nb::cast<std::string>(array.attr("dtype").attr("name")));
    Shape shape;
    for (std::size_t i = 0; i < view.ndim(); ++i) shape.push_back(static_cast<std::int64_t>(view.shape(i)));
    return {view.data(), tensor.dtype, shape};
  }

  [[noreturn]] void refuse_unknown(const nb::dict& arrays) const {
    for (const auto& [key, value] : arrays) {
      const auto name = nb::cast<std::string>(nb::str(key));
      bool is_known = false;
      for (const TensorInfo& tensor : model_.inputs()) is_known = is_known || tensor.name == name;
      if (!is_known) throw Error(ErrorCode::kInvalidArgument, "the model has no input '" + name + "'");
    }
    throw Error(ErrorCode::kInternal, "an input is there twice");
  }

  /// ARRAY cut to the SHAPE that a run has written, without a copy.
  static nb::object cut(const nb::object& array, const TensorInfo& tensor, const Shape& shape) {
    if (shape == tensor.shape) return array;
    return array.attr("reshape")(-1)[nb::slice(nb::none(), nb::int_(shape.elements()), nb::none())].attr("reshape")(
        to_tuple(shape));
  }

  Model model_;
  std::mutex mutex_;
  Session session_;
};

}  // namespace

void define_session(nb::module_& module) {
  nb::class_<PySession>(
      module, "Session",
      "Runs a model on raw tensors. Threads that share a session wait for each other; several sessions "
      "of a model run side by side.")
      .def(nb::init<PyModel&>(), nb::arg("model"), "Compiles the model's plan if this is its first session.")
      .def("run", &PySession::run, nb::arg("inputs"),
           nb::sig("def run(self, inputs: dict[str, numpy.typing.ArrayLike]) -> dict[str, "
                   "numpy.typing.NDArray[typing.Any]]"),
           "INPUTS: an array for each input, by name, of exactly its type and shape. Returns one for each output, cut "
           "to its actual size if that depends on the data. Raises saccade.Error naming a mismatched input.");
}

}  // namespace saccade::python
