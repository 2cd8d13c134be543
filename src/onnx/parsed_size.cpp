#include "onnx/parsed_size.hpp"

#include <array>
#include <cstdint>
#include <span>

#include "base/error.hpp"
#include "onnx.pb.h"

namespace saccade {
namespace {

/// The content of a length-delimited field: bytes, packed varints, messages that the reader ignores, or a message with
/// known fields.
enum class Kind : std::uint8_t {
  kBytes,
  kNumbers,
  kUnread,
  kAttribute,
  kDimension,
  kEntry,
  kFunction,
  kGraph,
  kModel,
  kNode,
  kOpset,
  kShape,
  kSparse,
  kTensor,
  kTensorType,
  kTraining,
  kType,
  kValueInfo,
  kWrappedType,
};

struct Field {
  int number;
  Kind kind;
};

constexpr std::array kAttributeFields = {
    Field{5, Kind::kTensor},  Field{6, Kind::kGraph},   Field{8, Kind::kNumbers},
    Field{10, Kind::kTensor}, Field{11, Kind::kGraph},  Field{14, Kind::kType},
    Field{15, Kind::kType},   Field{22, Kind::kSparse}, Field{23, Kind::kSparse},
};
constexpr std::array kFunctionFields = {
    Field{7, Kind::kNode},       Field{9, Kind::kOpset},  Field{11, Kind::kAttribute},
    Field{12, Kind::kValueInfo}, Field{14, Kind::kEntry},
};
constexpr std::array kGraphFields = {
    Field{1, Kind::kNode},       Field{5, Kind::kTensor},  Field{11, Kind::kValueInfo}, Field{12, Kind::kValueInfo},
    Field{13, Kind::kValueInfo}, Field{14, Kind::kUnread}, Field{15, Kind::kSparse},    Field{16, Kind::kEntry},
};
constexpr std::array kModelFields = {
    Field{7, Kind::kGraph},     Field{8, Kind::kOpset},     Field{14, Kind::kEntry},
    Field{20, Kind::kTraining}, Field{25, Kind::kFunction}, Field{26, Kind::kUnread},
};
constexpr std::array kNodeFields = {Field{5, Kind::kAttribute}, Field{9, Kind::kEntry}, Field{10, Kind::kUnread}};
constexpr std::array kShapeFields = {Field{1, Kind::kDimension}};
constexpr std::array kSparseFields = {Field{1, Kind::kTensor}, Field{2, Kind::kTensor}, Field{3, Kind::kNumbers}};
constexpr std::array kTensorFields = {
    Field{1, Kind::kNumbers},  Field{3, Kind::kUnread}, Field{5, Kind::kNumbers}, Field{7, Kind::kNumbers},
    Field{11, Kind::kNumbers}, Field{13, Kind::kEntry}, Field{16, Kind::kEntry},
};
constexpr std::array kTensorTypeFields = {Field{2, Kind::kShape}};
constexpr std::array kTrainingFields = {Field{1, Kind::kGraph}, Field{2, Kind::kGraph}, Field{3, Kind::kEntry},
                                        Field{4, Kind::kEntry}};
constexpr std::array kTypeFields = {Field{1, Kind::kTensorType},  Field{4, Kind::kWrappedType},
                                    Field{5, Kind::kWrappedType}, Field{7, Kind::kUnread},
                                    Field{8, Kind::kTensorType},  Field{9, Kind::kWrappedType}};
constexpr std::array kValueInfoFields = {Field{2, Kind::kType}, Field{4, Kind::kEntry}};
// The element type of a sequence, a map or an optional.
constexpr std::array kWrappedTypeFields = {Field{1, Kind::kType}, Field{2, Kind::kType}};
struct Message {
  std::size_t bytes;  ///< sizeof the empty object
  std::span<const Field> fields;
};

Message message_of(Kind kind) {
  switch (kind) {
    case Kind::kAttribute: return {sizeof(onnx::AttributeProto), kAttributeFields};
    case Kind::kDimension: return {sizeof(onnx::TensorShapeProto_Dimension), {}};
    case Kind::kEntry: return {sizeof(onnx::StringStringEntryProto), {}};
    case Kind::kFunction: return {sizeof(onnx::FunctionProto), kFunctionFields};
    case Kind::kGraph: return {sizeof(onnx::GraphProto), kGraphFields};
    case Kind::kModel: return {sizeof(onnx::ModelProto), kModelFields};
    case Kind::kNode: return {sizeof(onnx::NodeProto), kNodeFields};
    case Kind::kOpset: return {sizeof(onnx::OperatorSetIdProto), {}};
    case Kind::kShape: return {sizeof(onnx::TensorShapeProto), kShapeFields};
    case Kind::kSparse: return {sizeof(onnx::SparseTensorProto), kSparseFields};
    case Kind::kTensor: return {sizeof(onnx::TensorProto), kTensorFields};
    case Kind::kTensorType: return {sizeof(onnx::TypeProto_SparseTensor), kTensorTypeFields};
    case Kind::kTraining: return {sizeof(onnx::TrainingInfoProto), kTrainingFields};
    case Kind::kType: return {sizeof(onnx::TypeProto), kTypeFields};
    case Kind::kValueInfo: return {sizeof(onnx::ValueInfoProto), kValueInfoFields};
    case Kind::kWrappedType: return {sizeof(onnx::TypeProto_Map), kWrappedTypeFields};
    case Kind::kBytes:
    case Kind::kNumbers:
    case Kind::kUnread: break;
  }
  return {0, {}};
}

Kind kind_of(std::span<const Field> fields, int number) {
  for (const Field& field : fields)
    if (field.number == number) return field.kind;
  return Kind::kBytes;
}

class SizeCounter {
 public:
  SizeCounter(google::protobuf::io::CodedInputStream& stream, const MemoryBudget& budget)
      : stream_(stream), budget_(budget) {}

  /// Counts a message up to the stream's limit; false if its bytes are not a message.
  bool message(const Message& message, int depth) {
    add(message.bytes);
    return fields(message.fields, depth, false) && stream_.ConsumedEntireMessage();
  }

 private:
  // Repeated fields are arrays that double when they are full, and small allocations are rounded up.
  static constexpr std::size_t kPerNumber = 16;
  static constexpr std::size_t kPerElement = 32;
  static constexpr int kMaxDepth = 100;  ///< protobuf's own limit

  /// Counts fields up to the limit, or to the end of the group.
  bool fields(std::span<const Field> known, int depth, bool is_group) {
    if (depth > kMaxDepth) return false;
    while (const std::uint32_t tag = stream_.ReadTag()) {
      if ((tag & 7) == 4) return is_group;
      if (!field(tag & 7, kind_of(known, static_cast<int>(tag >> 3)), depth)) return false;
    }
    return !is_group;
  }

  bool field(std::uint32_t wire_type, Kind kind, int depth) {
    std::uint64_t unused = 0;
    add(kPerNumber);
    switch (wire_type) {
      case 0: return stream_.ReadVarint64(&unused);
      case 1: return stream_.Skip(8);
      case 2: return with_length(kind, depth);
      case 3: return fields({}, depth + 1, true);  // unknown: no ONNX message has groups
      case 5: return stream_.Skip(4);
      default: return false;
    }
  }

  bool with_length(Kind kind, int depth) {
    int length = 0;
    if (!stream_.ReadVarintSizeAsInt(&length)) return false;
    add(sizeof(std::string) + kPerElement);
    if (const std::size_t per_byte = bytes_per_byte(kind); per_byte != 0) {
      add(per_byte * static_cast<std::size_t>(length));
      return stream_.Skip(length);
    }
    // protobuf's own parser would report a generic failure.
    if (depth + 1 > kMaxDepth)
      fail(ErrorCode::kUnsupported,
           "its graphs are nested too deeply: protobuf, ONNX's format, is read to a depth of {} messages, about {} "
           "graphs; export it with fewer nested branches and loops",
           kMaxDepth, kMaxDepth / 3);
    const auto limit = stream_.PushLimit(length);
    const bool whole = message(message_of(kind), depth + 1) && stream_.BytesUntilLimit() == 0;
    stream_.PopLimit(limit);
    return whole;
  }

  /// The memory that one byte of such a field may take once parsed; 0 for a message whose fields are counted.
  static std::size_t bytes_per_byte(Kind kind) {
    switch (kind) {
      case Kind::kBytes: return 1;
      case Kind::kNumbers: return kPerNumber;
      case Kind::kUnread: return 64;  // two bytes may be an empty message
      default: return 0;
    }
  }

  void add(std::size_t bytes) {
    bytes_ += bytes;
    budget_.check(bytes_);
  }

  google::protobuf::io::CodedInputStream& stream_;
  const MemoryBudget& budget_;
  std::size_t bytes_ = 0;
};

}  // namespace

void check_parsed_size(google::protobuf::io::CodedInputStream& stream, const MemoryBudget& budget) {
  SizeCounter(stream, budget).message(message_of(Kind::kModel), 0);
}

void check_parsed_tensor_size(google::protobuf::io::CodedInputStream& stream, const MemoryBudget& budget) {
  SizeCounter(stream, budget).message(message_of(Kind::kTensor), 0);
}

}  // namespace saccade
