#include "session.hpp"

#include <nanobind/stl/string.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "model.hpp"
#include "saccade/error.hpp"
#include "text.hpp"

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

bool is_of(const ArrayType& type, const nb::dlpack::dtype& given) {
  return given.code == static_cast<std::uint8_t>(type.code) && given.bits == type.bits && given.lanes == 1;
}

std::string known_name(const nb::dlpack::dtype& given) {
  for (const ArrayType& type : kTypes)
    if (is_of(type, given)) return type.numpy;
  return "of another type";
}

/// A NumPy array of TENSOR's type and full shape.
nb::object empty_array(const TensorInfo& tensor) {
  return nb::module_::import_("numpy").attr("empty")(to_tuple(tensor.shape), type_of(tensor).numpy);
}

void* data_of(nb::handle array) { return nb::cast<nb::ndarray<nb::c_contig, nb::device::cpu>>(array).data(); }

class PySession {
 public:
  explicit PySession(PyModel& model) : model_(in_this_process(model)), session_(model_) {}

  nb::dict run(const nb::dict& arrays) {
    check_process();
    if (is_on_gpu(arrays)) return run_on_gpu(arrays);
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

  void enqueue(const nb::dict& inputs, const nb::dict& outputs, std::uintptr_t stream) {
    check_process();
    std::vector<GpuArray> kept;
    std::vector<InputBuffer> from;
    for (const TensorInfo& tensor : model_.inputs()) {
      kept.push_back(gpu_array("input", tensor, inputs));
      from.push_back({kept.back().data(), tensor.dtype, shape_of(kept.back())});
    }
    if (inputs.size() != from.size()) refuse_unknown(inputs);
    std::vector<OutputBuffer> to;
    for (const TensorInfo& tensor : model_.outputs()) {
      const GpuArray& array = kept.emplace_back(gpu_array("output", tensor, outputs));
      if (shape_of(array) != tensor.shape)
        throw Error(ErrorCode::kInvalidArgument, "the output '" + tensor.name + "' has the shape " +
                                                     tensor.shape.to_string() + ", not " + shape_of(array).to_string());
      to.push_back({array.data(), array.nbytes(), tensor.dtype, tensor.shape});
    }
    if (outputs.size() != to.size())
      throw Error(ErrorCode::kInvalidArgument,
                  "the model has " + std::to_string(to.size()) + " outputs, not " + std::to_string(outputs.size()));
    nb::gil_scoped_release unlocked;
    const std::lock_guard lock(mutex_);
    session_.enqueue(from, to, reinterpret_cast<void*>(stream));  // NOLINT(performance-no-int-to-ptr)
  }

 private:
  static const Model& in_this_process(PyModel& model) {
    check_process();
    return model.get();
  }

  using GpuArray = nb::ndarray<nb::c_contig, nb::device::cuda>;

  static bool is_on_gpu(const nb::dict& arrays) {
    for (const auto& [key, value] : arrays) {
      nb::ndarray<nb::device::cuda> array;
      if (nb::try_cast(value, array, false)) return true;
    }
    return false;
  }

  /// In the current stream of PyTorch; the outputs are its tensors.
  nb::dict run_on_gpu(const nb::dict& arrays) {
    for (const auto& [key, value] : arrays) {
      if (!is_torch_tensor(value))
        throw Error(ErrorCode::kUnsupported,
                    "'" + text_of(key) +
                        "' is not a tensor of PyTorch: pass outputs to enqueue() for arrays of "
                        "other libraries");
    }
    const nb::module_ torch = nb::module_::import_("torch");
    const nb::object device = torch.attr("device")("cuda", ordinal());
    nb::dict outputs;
    for (const TensorInfo& tensor : model_.outputs())
      outputs[tensor.name.c_str()] = torch.attr("empty")(
          to_tuple(tensor.shape), nb::arg("dtype") = torch.attr(type_of(tensor).numpy), nb::arg("device") = device);
    const nb::object stream = torch.attr("cuda").attr("current_stream")(device);
    enqueue(arrays, outputs, nb::cast<std::uintptr_t>(stream.attr("cuda_stream")));
    return outputs;
  }

  int ordinal() const {
    const Device& device = model_.options().device;
    if (device.kind != Device::Kind::kCuda)
      throw Error(ErrorCode::kInvalidArgument, "the arrays are on a GPU, but the model is on the " + to_string(device) +
                                                   ": load it with device=\"cuda\"");
    return device.ordinal;
  }

  /// WHAT: "input" or "output".
  GpuArray gpu_array(const std::string& what, const TensorInfo& tensor, const nb::dict& arrays) const {
    const std::string name = "the " + what + " '" + tensor.name + "'";
    if (!arrays.contains(tensor.name.c_str())) throw Error(ErrorCode::kInvalidArgument, name + " is missing");
    const nb::object given = arrays[tensor.name.c_str()];
    check_gradient(name, given);
    nb::ndarray<nb::device::cuda> any;
    if (!nb::try_cast(given, any, false)) throw Error(ErrorCode::kInvalidArgument, name + " is not on a GPU");
    if (any.device_id() != ordinal())
      throw Error(ErrorCode::kInvalidArgument, name + " is on GPU " + std::to_string(any.device_id()) +
                                                   ", the model on GPU " + std::to_string(ordinal()));
    if (!is_of(type_of(tensor), any.dtype())) refuse_type(name, tensor, known_name(any.dtype()));
    GpuArray array;
    if (!nb::try_cast(given, array, false)) throw Error(ErrorCode::kInvalidArgument, name + " is not contiguous");
    return array;
  }

  static nb::object input(const TensorInfo& tensor, const nb::dict& arrays) {
    const std::string name = "the input '" + tensor.name + "'";
    if (!arrays.contains(tensor.name.c_str())) throw Error(ErrorCode::kInvalidArgument, name + " is missing");
    const nb::object given = arrays[tensor.name.c_str()];
    check_gradient(name, given);
    try {
      // ascontiguousarray() would give an array without dimensions one.
      return nb::module_::import_("numpy").attr("asarray")(given, nb::arg("order") = "C");
    } catch (const nb::python_error& error) {
      if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError) && !error.matches(PyExc_RuntimeError))
        throw;
      throw Error(ErrorCode::kInvalidArgument, name + " can't become an array: " + text_of(error.value()));
    }
  }

  /// PyTorch does not export such a tensor.
  static void check_gradient(const std::string& name, nb::handle given) {
    if (is_torch_tensor(given) && nb::cast<bool>(given.attr("requires_grad")))
      throw Error(ErrorCode::kInvalidArgument, name + " requires gradients: pass tensor.detach()");
  }

  [[noreturn]] static void refuse_type(const std::string& name, const TensorInfo& tensor, const std::string& given) {
    throw Error(ErrorCode::kInvalidArgument, name + " is " + type_of(tensor).numpy + ", not " + given);
  }

  template <typename View>
  static Shape shape_of(const View& view) {
    Shape shape;
    for (std::size_t i = 0; i < view.ndim(); ++i) shape.push_back(static_cast<std::int64_t>(view.shape(i)));
    return shape;
  }

  static InputBuffer buffer(const TensorInfo& tensor, const nb::object& array) {
    const ArrayType& wanted = type_of(tensor);
    nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu> view;
    if (!nb::try_cast(array, view, false) || !is_of(wanted, view.dtype()))
      refuse_type("the input '" + tensor.name + "'", tensor, text_of(array.attr("dtype")));
    return {view.data(), tensor.dtype, shape_of(view)};
  }

  [[noreturn]] void refuse_unknown(const nb::dict& arrays) const {
    for (const auto& [key, value] : arrays) {
      const std::string name = text_of(key);
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
      .def(nb::init<PyModel&>(), nb::arg("model"), nb::call_guard<nb::gil_scoped_release>(),
           "Compiles the model's plan if this is its first session.")
      .def("run", &PySession::run, nb::arg("inputs"),
           nb::sig("def run(self, inputs: dict[str, typing.Any]) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
           "INPUTS: an array for each input, by name, of exactly its type and shape. Returns one for each output, cut "
           "to its actual size if that depends on the data. With PyTorch's tensors on the model's GPU: returns such "
           "tensors, as enqueue() does in PyTorch's current stream. Raises saccade.Error naming a mismatched input.")
      .def(
          "enqueue", &PySession::enqueue, nb::arg("inputs"), nb::arg("outputs"), nb::arg("stream") = 0,
          nb::sig("def enqueue(self, inputs: dict[str, typing.Any], outputs: dict[str, typing.Any], stream: int = 0) "
                  "-> None"),
          "Runs on arrays in the memory of the model's GPU, which are read and written in place: INPUTS and OUTPUTS by "
          "name, contiguous, of exactly their types and shapes, of any library with DLPack. STREAM: a cudaStream_t as "
          "a number; 0: the legacy default stream. Returns when the work is enqueued in it: until it is complete, the "
          "memory must stay valid. Contents that are invalid for an operator are reported by a later call. Raises "
          "saccade.Error naming a mismatched array.");
}

}  // namespace saccade::python
