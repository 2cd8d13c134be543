#include "onnx/foreign_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <system_error>

namespace saccade {
namespace {

namespace fs = std::filesystem;

/// A format of models. REMEDY holds "{0}" for the path, "{1}" for the ONNX file and "{2}" for the plan to write.
struct ForeignFormat {
  std::string_view name;
  std::string_view remedy;
};

constexpr ForeignFormat kTorch{
    "a PyTorch checkpoint",
    "export it: yolo export model={0} format=onnx for a model of Ultralytics, else torch.onnx.export"};
constexpr ForeignFormat kTensorRt{"a TensorRT engine",
                                  "compile the ONNX file that it was built from: saccade compile {1} -o {2}"};
constexpr ForeignFormat kSomePlan{"a TensorRT engine or a damaged plan", kTensorRt.remedy};
constexpr ForeignFormat kTflite{"a TensorFlow Lite model",
                                "convert it: python -m tf2onnx.convert --tflite {0} --output {1}"};
constexpr ForeignFormat kHdf5{"a Keras model in HDF5",
                              "convert it: python -m tf2onnx.convert --keras {0} --output {1}"};
constexpr ForeignFormat kKeras{
    "a Keras model",
    "convert it: python -c \"import keras; keras.models.load_model('{0}').export('{1}', format='onnx')\""};
constexpr ForeignFormat kSafetensors{
    "a file of weights (safetensors) without a graph",
    "export the model that it belongs to: optimum-cli export onnx --model FOLDER OUTPUT"};
constexpr ForeignFormat kFrozenGraph{
    "a TensorFlow graph",
    "convert it: python -m tf2onnx.convert --graphdef {0} --output {1} --inputs NAME:0 --outputs NAME:0"};
constexpr ForeignFormat kSavedModel{"a TensorFlow SavedModel",
                                    "convert it: python -m tf2onnx.convert --saved-model {0} --output {1}"};
constexpr ForeignFormat kOpenVino{
    "an OpenVINO model",
    "export its original again: yolo export model=MODEL.pt format=onnx for a model of Ultralytics"};
constexpr ForeignFormat kCoreMl{
    "a Core ML model", "export its original again: yolo export model=MODEL.pt format=onnx for a model of Ultralytics"};
constexpr ForeignFormat kNcnn{
    "an ncnn model", "export its original again: yolo export model=MODEL.pt format=onnx for a model of Ultralytics"};

struct Signature {
  std::size_t at;
  std::string_view bytes;
  ForeignFormat format;
};

constexpr auto kSignatures = std::to_array<Signature>({
    {0, "\x80\x02\x8a\nl\xfc\x9c", kTorch},
    {0, "ftrt", kTensorRt},
    {0, "ptrt", kTensorRt},
    {4, "TFL3", kTflite},
    {0, "\x89HDF\r\n\x1a\n", kHdf5},
    {0, "7767517\n", kNcnn},
});

struct Extension {
  std::string_view name;
  ForeignFormat format;
};

constexpr auto kExtensions = std::to_array<Extension>({
    {".pt", kTorch},
    {".pth", kTorch},
    {".torchscript", kTorch},
    {".ckpt", kTorch},
    {".engine", kTensorRt},
    {".trt", kTensorRt},
    {".plan", kSomePlan},
    {".tflite", kTflite},
    {".h5", kHdf5},
    {".keras", kKeras},
    {".pb", kFrozenGraph},
    {".xml", kOpenVino},
    {".safetensors", kSafetensors},
    {".mlpackage", kCoreMl},
    {".mlmodel", kCoreMl},
    {".param", kNcnn},
    {".bin", kNcnn},
});

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// The length of the header in eight bytes, then the header in JSON.
bool is_safetensors(std::string_view head) {
  constexpr std::string_view kNoLargeHeader("\0\0\0\0{\"", 6);
  return head.size() > 10 && head.substr(4).starts_with(kNoLargeHeader);
}

const ForeignFormat* by_contents(const fs::path& path, std::string_view head) {
  for (const Signature& row : kSignatures)
    if (head.size() > row.at && head.substr(row.at).starts_with(row.bytes)) return &row.format;
  if (is_safetensors(head)) return &kSafetensors;
  // An archive of PyTorch begins with NAME/data.pkl, one of Keras with metadata.json.
  if (head.starts_with("PK\x03\x04")) {
    if (head.find("/data.pkl") != std::string_view::npos) return &kTorch;
    if (head.find("metadata.json") != std::string_view::npos) return &kKeras;
  }
  const bool is_xml = head.starts_with("<?xml") || head.starts_with("<net ");
  if (is_xml && head.find("<net ") != std::string_view::npos) return &kOpenVino;
  std::error_code unknown;
  return fs::is_regular_file(path / "saved_model.pb", unknown) ? &kSavedModel : nullptr;
}

const ForeignFormat* by_extension(const fs::path& path) {
  const std::string extension = lower(path.extension().string());
  const auto found = std::ranges::find(kExtensions, extension, &Extension::name);
  return found == kExtensions.end() ? nullptr : &found->format;
}

std::string clause(const ForeignFormat* format, const fs::path& path) {
  if (format == nullptr) return {};
  const fs::path file = path.has_filename() ? path : path.parent_path();
  const std::string onnx = fs::path(file).replace_extension(".onnx").string();
  const std::string plan = fs::path(file).replace_extension(".plan").string();
  return fmt::format("is {}, not an ONNX file; {}", format->name,
                     fmt::format(fmt::runtime(format->remedy), file.string(), onnx, plan));
}

}  // namespace

std::string foreign_format_by_contents(const fs::path& path, std::string_view head) {
  return clause(by_contents(path, head), path);
}

std::string foreign_format_by_extension(const fs::path& path) { return clause(by_extension(path), path); }

}  // namespace saccade
