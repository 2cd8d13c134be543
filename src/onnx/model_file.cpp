#include "onnx/model_file.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>
#include <string_view>

#include "base/error.hpp"
#include "base/file_registry.hpp"
#include "base/input_file.hpp"
#include "onnx/foreign_format.hpp"
#include "onnx/parsed_size.hpp"

namespace saccade {
namespace {

namespace fs = std::filesystem;

/// Feeds a file to protobuf block by block, so that it is not in memory twice.
class FileStream : public google::protobuf::io::CopyingInputStream {
 public:
  explicit FileStream(std::ifstream& file) : file_(file) {}
  int Read(void* buffer, int size) override {
    file_.read(static_cast<char*>(buffer), size);
    return file_.bad() ? -1 : static_cast<int>(file_.gcount());
  }
  int Skip(int count) override {
    const std::istream::pos_type at = file_.tellg();
    if (!file_.seekg(0, std::ios::end)) return 0;
    const auto skipped = std::min<std::streamoff>(count, file_.tellg() - at);
    file_.seekg(at + skipped);
    return static_cast<int>(skipped);
  }

 private:
  std::ifstream& file_;
};

void check_is_readable(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) fail(ErrorCode::kNotFound, "no such file");
  if (error) fail(ErrorCode::kIo, "can't be read: {}", error.message());
  if (fs::is_directory(status)) {
    std::string foreign = foreign_format_by_contents(path, {});
    if (foreign.empty()) foreign = foreign_format_by_extension(path);
    fail(ErrorCode::kInvalidFile, "{}", foreign.empty() ? "is a folder; name the .onnx file in it" : foreign);
  }
  if (!fs::is_regular_file(status)) fail(ErrorCode::kInvalidFile, "is not a regular file");
}

std::string head_of(const fs::path& path) {
  std::array<char, 512> start{};
  std::ifstream file(without_waiting(path), std::ios::binary);
  file.read(start.data(), start.size());
  return {start.data(), static_cast<std::size_t>(file.gcount())};
}

/// A guess at the format of a file that begins with HEAD and does not parse.
std::string describe_foreign(const fs::path& path, std::string_view head) {
  if (head.starts_with("version https://git-lfs")) return "is a Git LFS pointer; fetch the file itself: git lfs pull";
  // Every exporter writes the IR version first: field 1, a small number.
  if (head.size() > 1 && head[0] == '\x08' && head[1] > 0 && head[1] < 32)
    return "is a damaged or truncated ONNX file; export or download it again";
  if (const std::string foreign = foreign_format_by_extension(path); !foreign.empty()) return foreign;
  if (head.starts_with("PK\x03\x04"))
    return "is a zip archive (a PyTorch checkpoint?), not an ONNX file; export it with torch.onnx.export";
  const bool text = std::ranges::all_of(
      head, [](char c) { return std::isprint(static_cast<unsigned char>(c)) != 0 || (c >= '\t' && c <= '\r'); });
  if (text) return "is a text file, not an ONNX file; export the model with torch.onnx.export";
  return "is not an ONNX file; export the model with torch.onnx.export";
}

void check_is_model(const onnx::ModelProto& model) {
  if (model.ir_version() < 3)
    fail(ErrorCode::kUnsupported, "is of ONNX IR version {}, and Saccade reads 3 and newer; export the model again",
         model.ir_version());
  if (model.opset_import().empty())
    fail(ErrorCode::kInvalidFile, "names no operator set: it is damaged or truncated; export or download it again");
}

/// The result of READ on a protobuf stream over the file. Throws Error (kIo).
template <typename Read>
bool with_stream(const fs::path& path, Read read) {
  note_input(path);
  std::ifstream file(without_waiting(path), std::ios::binary);
  if (!file) fail(ErrorCode::kIo, "can't be opened: {}", std::strerror(errno));
  FileStream stream(file);
  constexpr int kBlockBytes = 1 << 20;
  google::protobuf::io::CopyingInputStreamAdaptor blocks(&stream, kBlockBytes);
  google::protobuf::io::CodedInputStream coded(&blocks);
  coded.SetTotalBytesLimit(INT_MAX);
  const bool is_read = read(coded);
  if (file.bad()) fail(ErrorCode::kIo, "can't be read: {}", std::strerror(errno));
  return is_read;
}

/// Whether the file's bytes parse as MESSAGE. Throws Error (kIo).
bool parse(const fs::path& path, google::protobuf::MessageLite& message) {
  return with_stream(path, [&](google::protobuf::io::CodedInputStream& stream) {
    return message.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
  });
}

}  // namespace

onnx::ModelProto read_model_file(const fs::path& path, const MemoryBudget& budget) {
  check_is_readable(path);
  const std::uintmax_t size = fs::file_size(path);
  if (size == 0) fail(ErrorCode::kInvalidFile, "is empty; export or download the model again");
  const std::string head = head_of(path);
  if (const std::string foreign = foreign_format_by_contents(path, head); !foreign.empty())
    fail(ErrorCode::kInvalidFile, "{}", foreign);
  if (size > INT_MAX)
    fail(ErrorCode::kInvalidFile,
         "has {} bytes, but an ONNX file is limited to 2 GiB; save it with external weights: onnx.save(model, FILE, "
         "save_as_external_data=True)",
         size);
  with_stream(path, [&](google::protobuf::io::CodedInputStream& stream) {
    check_parsed_size(stream, budget);
    return true;
  });
  onnx::ModelProto model;
  // Arbitrary bytes may parse as a protobuf that consists of unknown fields.
  if (!parse(path, model) || !model.has_graph()) fail(ErrorCode::kInvalidFile, "{}", describe_foreign(path, head));
  check_is_model(model);
  return model;
}

onnx::TensorProto read_tensor_file(const fs::path& path, const MemoryBudget& budget) {
  check_is_readable(path);
  with_stream(path, [&](google::protobuf::io::CodedInputStream& stream) {
    check_parsed_tensor_size(stream, budget);
    return true;
  });
  onnx::TensorProto tensor;
  if (!parse(path, tensor) || !tensor.has_data_type()) fail(ErrorCode::kInvalidFile, "is not a tensor (a TensorProto)");
  return tensor;
}

}  // namespace saccade
