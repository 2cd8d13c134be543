#include "saccade/npy.hpp"
#include "base/input_file.hpp"
#include "base/output_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "tensor/view.hpp"

namespace saccade {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

struct Kind {
  std::string_view code;  ///< NumPy's, without the byte order
  DType dtype;
  std::size_t word;  ///< unit of a byte swap: a complex number is two words
};

constexpr std::array kKinds = {
    Kind{"f4", DType::kFloat32, 4},   Kind{"f2", DType::kFloat16, 2},     Kind{"f8", DType::kFloat64, 8},
    Kind{"i1", DType::kInt8, 1},      Kind{"u1", DType::kUInt8, 1},       Kind{"i2", DType::kInt16, 2},
    Kind{"u2", DType::kUInt16, 2},    Kind{"i4", DType::kInt32, 4},       Kind{"u4", DType::kUInt32, 4},
    Kind{"i8", DType::kInt64, 8},     Kind{"u8", DType::kUInt64, 8},      Kind{"b1", DType::kBool, 1},
    Kind{"c8", DType::kComplex64, 4}, Kind{"c16", DType::kComplex128, 8},
};

constexpr std::string_view kMagic = "\x93NUMPY";
// NumPy itself refuses headers above 10,000 characters.
constexpr std::size_t kLongestHeader = 65536;

struct Header {
  Kind kind{};
  bool swapped = false;
  bool fortran = false;
  Shape shape;
};

/// Parses the header, a Python dictionary of literals.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  Header parse() {
    Header header;
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr") {
        descr(header);
        has_descr = true;
      } else if (key == "fortran_order") {
        header.fortran = boolean();
        has_order = true;
      } else if (key == "shape") {
        header.shape = tuple();
        has_shape = true;
      } else {
        fail(ErrorCode::kInvalidFile, "its header has the unknown key '{}'", key);
      }
      if (accept(',')) continue;
      expect('}');
      break;
    }
    if (!has_descr || !has_order || !has_shape) damaged();
    return header;
  }

 private:
  [[noreturn]] static void damaged() { fail(ErrorCode::kInvalidFile, "its header is damaged"); }

  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n\r"), rest_.size())); }

  bool accept(char wanted) {
    skip_spaces();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) damaged();
  }

  std::string_view string() {
    skip_spaces();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) damaged();
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) damaged();
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool boolean() {
    skip_spaces();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    damaged();
  }

  std::int64_t integer() {
    skip_spaces();
    std::int64_t value = 0;
    std::size_t digits = 0;
    while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9') {
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, rest_[digits] - '0', &value))
        damaged();
      ++digits;
    }
    if (digits == 0) damaged();
    rest_.remove_prefix(digits);
    accept('L');  // Python 2's long integers
    return value;
  }

  Shape tuple() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(integer());
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return shape;
  }

  void descr(Header& header) {
    skip_spaces();
    if (!rest_.empty() && rest_.front() == '[')
      fail(ErrorCode::kUnsupported, "it holds records; save each field as a separate array");
    const std::string_view text = string();
    const auto* kind = text.empty() ? kKinds.end() : std::ranges::find(kKinds, text.substr(1), &Kind::code);
    if (kind == kKinds.end() || std::string_view("<>|=").find(text.front()) == std::string_view::npos)
      fail(ErrorCode::kUnsupported, "its element type '{}' is not supported", text);
    header.kind = *kind;
    header.swapped = text.front() == '>';
  }

  std::string_view rest_;
};

std::string read_exactly(std::ifstream& file, std::size_t bytes) {
  std::string data(bytes, '\0');
  if (!file.read(data.data(), static_cast<std::streamsize>(bytes))) fail(ErrorCode::kInvalidFile, "it is truncated");
  return data;
}

Header read_header(std::ifstream& file) {
  std::string start(kMagic.size() + 2, '\0');
  if (!file.read(start.data(), static_cast<std::streamsize>(start.size())) || !start.starts_with(kMagic))
    fail(ErrorCode::kInvalidFile, "it is not a .npy file");
  const int version = start[kMagic.size()];
  if (version < 1 || version > 3) fail(ErrorCode::kUnsupported, "its format version {} is not supported", version);
  const std::string length_bytes = read_exactly(file, version == 1 ? 2 : 4);
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes.size(); ++i)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(length_bytes[i])) << (8 * i);
  if (length > kLongestHeader) fail(ErrorCode::kInvalidFile, "its header declares {} bytes", length);
  return HeaderParser(read_exactly(file, length)).parse();
}

void swap_bytes(Tensor& tensor, std::size_t word) {
  for (std::byte* p = tensor.raw(); p != tensor.raw() + tensor.bytes(); p += word) std::reverse(p, p + word);
}

/// Converts FROM from column-major to row-major order.
Tensor from_fortran(const Tensor& from) {
  Tensor to(from.dtype(), from.shape());
  const std::size_t size = bits_of(from.dtype()) / 8;
  const int rank = from.shape().rank();
  Shape index = Shape::filled(rank, 0);
  for (std::int64_t i = 0; i < from.elements(); ++i) {
    std::int64_t offset = 0;
    for (int axis = rank - 1; axis >= 0; --axis) offset = offset * from.shape()[axis] + index[axis];
    std::memcpy(to.raw() + static_cast<std::size_t>(i) * size, from.raw() + static_cast<std::size_t>(offset) * size,
                size);
    for (int axis = rank - 1; axis >= 0; --axis) {
      if (++index[axis] < from.shape()[axis]) break;
      index[axis] = 0;
    }
  }
  return to;
}

Tensor read(std::ifstream& file) {
  const Header header = read_header(file);
  const auto start = file.tellg();
  file.seekg(0, std::ios::end);
  const auto there = static_cast<std::size_t>(file.tellg() - start);
  file.seekg(start);
  const std::size_t wanted = bytes_of(header.kind.dtype, header.shape);
  if (there != wanted)
    fail(ErrorCode::kInvalidFile, "it has {} bytes of elements, but its header declares {}", there, wanted);
  Tensor tensor(header.kind.dtype, header.shape);
  if (!file.read(reinterpret_cast<char*>(tensor.raw()), static_cast<std::streamsize>(wanted)))
    fail(ErrorCode::kIo, "it can't be read: {}", std::strerror(errno));
  if (header.swapped) swap_bytes(tensor, header.kind.word);
  return header.fortran && header.shape.rank() > 1 ? from_fortran(tensor) : tensor;
}

Tensor widened(const Tensor& tensor) {
  Tensor wide(DType::kFloat32, tensor.shape());
  const auto to = wide.data<float>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, tensor.raw() + 2 * i, 2);
    to[i] = std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16U);
  }
  return wide;
}

/// The magic, the version, the header's length and the header, padded so that the elements start at a multiple of 64.
std::string header_of(const Kind& kind, const Shape& shape) {
  const std::string dims =
      fmt::format("{}{}", fmt::join(shape.begin(), shape.end(), ", "), shape.rank() == 1 ? "," : "");
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                 kind.word == 1 ? '|' : '<', kind.code, dims);
  const std::size_t before = kMagic.size() + 4;
  text.append(63 - (before + text.size()) % 64, ' ');
  text += '\n';
  std::string all(kMagic);
  all += {1, 0, static_cast<char>(text.size() & 255U), static_cast<char>(text.size() >> 8U)};
  return all + text;
}

}  // namespace

Tensor load_npy(const std::string& path) {
  std::ifstream file = open_input(path);
  try {
    return read(file);
  } catch (const Error& error) {
    throw error.in("can't read " + path);
  }
}

void save_npy(const std::string& path, const Tensor& tensor) {
  if (tensor.dtype() == DType::kBFloat16) return save_npy(path, widened(tensor));
  const auto* kind = std::ranges::find(kKinds, tensor.dtype(), &Kind::dtype);
  if (kind == kKinds.end())
    fail(ErrorCode::kUnsupported, "can't write {}: .npy files can't hold {} elements", path, to_string(tensor.dtype()));
  OutputFile file(path, OutputFile::Appears::kWhole, OutputPath::Claim::kChecked);
  const std::string header = header_of(*kind, tensor.shape());
  file.write(header);
  file.write({reinterpret_cast<const char*>(tensor.raw()), tensor.bytes()});
  file.close();
}

}  // namespace saccade
