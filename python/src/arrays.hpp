#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "saccade/frame.hpp"
#include "saccade/image.hpp"
#include "saccade/tensor.hpp"

namespace saccade::python {

namespace nb = nanobind;

using Dictionary = nb::typed<nb::dict, nb::str, nb::any>;

template <typename T>
using Array = nb::ndarray<nb::numpy, T>;

/// A NumPy array over memory that OWNER keeps alive. STRIDES in elements; none: dense, row-major.
template <typename T>
Array<T> shared_array(const T* data, std::initializer_list<std::size_t> shape, nb::handle owner,
                      std::initializer_list<std::int64_t> strides = {}) {
  static T nothing{};  // an array without elements has an address, too
  return Array<T>(data != nullptr ? const_cast<T*>(data) : &nothing, shape, owner, strides);
}

/// A NumPy array with the elements of VALUES in the shape SHAPE.
template <typename T, typename Value>
Array<T> owning_array(std::vector<Value> values, std::initializer_list<std::size_t> shape) {
  static_assert(sizeof(Value) % sizeof(T) == 0);
  auto* kept = new std::vector<Value>(std::move(values));
  const nb::capsule owner(kept, [](void* at) noexcept { delete static_cast<std::vector<Value>*>(at); });
  return shared_array(reinterpret_cast<const T*>(kept->data()), shape, owner);
}

/// SHAPE as NumPy has it.
nb::typed<nb::tuple, std::int64_t, nb::ellipsis> to_tuple(const Shape& shape);

/// A NumPy array of its own with the pixels of IMAGE: (height, width, 3), or (height, width) for kGray8.
Array<std::uint8_t> image_array(Image image);

/// As load_image(), without the GIL.
Image load_image_unlocked(const std::string& path, PixelFormat format);

/// The order of colours that NAME says: "rgb" or "bgr". Throws Error (kInvalidArgument).
PixelFormat color_format(std::string_view name);

/// Whether VALUE is a tensor of PyTorch, also of a class derived from its own: a parameter, an image of torchvision.
bool is_torch_tensor(nb::handle value);

/// An image that Python holds, as a frame.
struct ImageArgument {
  FrameView view;
  PixelFormat color = PixelFormat::kRgb24;  ///< of what is drawn on it
  nb::object owner;                         ///< keeps the samples alive
};

/// Copies an image that is on a GPU to the host. Throws Error (kUnsupported) for an array that is not PyTorch's.
void copy_to_host(ImageArgument& argument);

/// IMAGE is a NumPy array (or another that DLPack or the buffer protocol gives, on the host or an NVIDIA GPU) of uint8,
/// (height, width, 3) or (height, width); a PIL image; or the path of an image file. COLOR ("rgb", "bgr") is the order
/// of an array's colours. Throws Error (kInvalidArgument) naming what is wrong, nb::type_error for another type.
ImageArgument image_argument(nb::handle image, std::optional<std::string> color);

}  // namespace saccade::python
