#include "arrays.hpp"

#include <cstdint>
#include <limits>
#include <utility>

#include "saccade/error.hpp"
#include "text.hpp"

namespace saccade::python {
namespace {

using HostArray = nb::ndarray<const std::uint8_t, nb::device::cpu>;
using GpuArray = nb::ndarray<const std::uint8_t, nb::device::cuda>;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::kInvalidArgument, why); }

std::string shape_of(const nb::ndarray<>& array) {
  std::string text = "(";
  for (std::size_t i = 0; i < array.ndim(); ++i) text += (i > 0 ? ", " : "") + std::to_string(array.shape(i));
  return text + ")";
}

/// Why OBJECT, which is neither a HostArray nor a GpuArray, can't be an image.
[[noreturn]] void refuse_object(nb::handle object) {
  const bool has_type = nb::hasattr(object, "dtype");
  nb::ndarray<> array;
  if (!has_type && !nb::try_cast(object, array, false))
    throw nb::type_error(
        ("an image is a NumPy array, a PIL image or the path of a file, not " + class_of(object)).c_str());
  std::string what = "of another type";
  if (has_type) what = text_of(object.attr("dtype"));
  if (nb::hasattr(object, "device")) what += " on the device " + text_of(object.attr("device"));
  refuse("the image is " + what + ": it must be uint8, samples of 0 to 255, on the host or an NVIDIA GPU");
}

template <typename Samples>
FrameView view_of(const Samples& array, const std::optional<std::string>& color) {
  const bool is_gray = array.ndim() == 2 || (array.ndim() == 3 && array.shape(2) == 1);
  if (!is_gray && (array.ndim() != 3 || array.shape(2) != 3))
    refuse("an image has the shape (height, width, 3) or (height, width), not " + shape_of(nb::ndarray<>(array)));
  if (!is_gray && !color)
    refuse(
        "the order of the image's colours is unknown: pass color=\"bgr\" (OpenCV) or color=\"rgb\" (PIL, torchvision)");
  if (array.size() == 0) refuse("the image has no pixels: its shape is " + shape_of(nb::ndarray<>(array)));
  const std::int64_t channels = is_gray ? 1 : 3;
  const auto width = static_cast<std::int64_t>(array.shape(1));
  const bool is_dense = array.stride(1) == channels && (array.ndim() == 2 || array.stride(2) == 1);
  if (!is_dense || array.stride(0) < channels * width)
    refuse("the image's pixels are not one after the other in its rows: pass numpy.ascontiguousarray(image)");
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  if (array.stride(0) > kMost)
    refuse("the image's rows are " + std::to_string(array.stride(0)) +
           " bytes apart, more than 2 GiB: pass numpy.ascontiguousarray(image)");
  if (static_cast<std::int64_t>(array.shape(0)) > kMost)
    refuse("the image has " + std::to_string(array.shape(0)) + " rows: it is too large");
  FrameView view{.format = is_gray ? PixelFormat::kGray8 : color_format(*color), .range = ColorRange::kFull};
  view.width = static_cast<int>(array.shape(1));
  view.height = static_cast<int>(array.shape(0));
  view.planes[0] = array.data();
  view.pitch_bytes[0] = static_cast<int>(array.stride(0));
  return view;
}

/// A frame on a GPU, when what PyTorch's current stream holds now is complete. OWNER gets the event that says so.
FrameView view_of_gpu(const GpuArray& array, const std::optional<std::string>& color, nb::object& owner) {
  FrameView view = view_of(array, color);
  view.memory = MemoryKind::kDevice;
  view.device = array.device_id();
  if (!is_torch_tensor(owner)) return view;
  const nb::object cuda = nb::module_::import_("torch").attr("cuda");
  const nb::object event = cuda.attr("Event")();
  event.attr("record")(cuda.attr("current_stream")(view.device));
  view.ready = reinterpret_cast<const void*>(  // NOLINT(performance-no-int-to-ptr)
      nb::cast<std::uintptr_t>(event.attr("cuda_event")));
  owner = nb::make_tuple(owner, event);
  return view;
}

nb::object array_of_pil(nb::handle image) {
  return nb::module_::import_("numpy").attr("asarray")(image.attr("convert")("RGB"));
}

}  // namespace

bool is_torch_tensor(nb::handle value) {
  const nb::dict loaded = nb::module_::import_("sys").attr("modules");
  return loaded.contains("torch") && nb::isinstance(value, nb::object(loaded["torch"]).attr("Tensor"));
}

nb::typed<nb::tuple, std::int64_t, nb::ellipsis> to_tuple(const Shape& shape) {
  nb::list dims;
  for (const std::int64_t dim : shape) dims.append(dim);
  return nb::tuple(dims);
}

Array<std::uint8_t> image_array(Image image) {
  const auto width = static_cast<std::size_t>(image.width());
  const auto height = static_cast<std::size_t>(image.height());
  const bool is_gray = image.format() == PixelFormat::kGray8;
  auto* kept = new Image(std::move(image));
  const nb::capsule owner(kept, [](void* at) noexcept { delete static_cast<Image*>(at); });
  if (is_gray) return shared_array(kept->samples().data(), {height, width}, owner);
  return shared_array(kept->samples().data(), {height, width, 3}, owner);
}

Image load_image_unlocked(const std::string& path, PixelFormat format) {
  const nb::gil_scoped_release unlocked;
  return load_image(path, format);
}

PixelFormat color_format(std::string_view name) {
  if (name == "rgb") return PixelFormat::kRgb24;
  if (name == "bgr") return PixelFormat::kBgr24;
  refuse("color is \"rgb\" or \"bgr\", not \"" + std::string(name) + "\"");
}

void copy_to_host(ImageArgument& argument) {
  if (argument.view.memory != MemoryKind::kDevice) return;
  const nb::object array = nb::isinstance<nb::tuple>(argument.owner) ? argument.owner[0] : argument.owner;
  if (!nb::hasattr(array, "cpu"))
    throw Error(ErrorCode::kUnsupported, "the image is on a GPU, and its library is not PyTorch: copy it to the host");
  const char* color = argument.view.format == PixelFormat::kBgr24 ? "bgr" : "rgb";
  nb::object copy = array.attr("cpu")();
  const FrameView on_host = view_of(nb::cast<HostArray>(copy), color);
  // The copy has released the GIL: another thread may have been faster, and uses its own.
  if (argument.view.memory != MemoryKind::kDevice) return;
  argument.view = on_host;
  argument.owner = std::move(copy);
}

ImageArgument image_argument(nb::handle image, std::optional<std::string> color) {
  ImageArgument argument;
  if (color) argument.color = color_format(*color);
  if (nb::isinstance<nb::str>(image) || nb::hasattr(image, "__fspath__")) {
    argument.owner = nb::cast(image_array(load_image_unlocked(path_of(image, "image"), argument.color)));
    color = argument.color == PixelFormat::kRgb24 ? "rgb" : "bgr";
  } else if (nb::hasattr(image, "convert") && nb::hasattr(image, "mode")) {
    argument.owner = array_of_pil(image);
    color = "rgb";
    // What is drawn on it has the order that was asked for.
  } else {
    argument.owner = nb::borrow(image);
  }
  HostArray array;
  if (!nb::try_cast(argument.owner, array, false)) {
    GpuArray on_gpu;
    if (nb::try_cast(argument.owner, on_gpu, false)) {
      argument.view = view_of_gpu(on_gpu, color, argument.owner);
      return argument;
    }
    refuse_object(argument.owner);
  }
  argument.view = view_of(array, color);
  return argument;
}

}  // namespace saccade::python
