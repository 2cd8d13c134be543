#include "demo_render.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "media/frame_reader.hpp"
#include "pipeline/sinks/json_text.hpp"
#include "saccade/npy.hpp"
#include "scene/scene.hpp"

namespace saccade::app {
namespace {

namespace fs = std::filesystem;

/// COCO's uncompressed RLE: lengths of runs in column-major order, starting with background pixels.
void append_runs(JsonBuffer& out, const SceneTruth& truth, const SceneObject& object) {
  std::int64_t run = 0;
  bool inside = false;
  const auto put = [&](bool is_object, std::int64_t count) {
    if (count == 0) return;
    if (is_object != inside) {
      append(out, "{},", run);
      run = 0;
      inside = is_object;
    }
    run += count;
  };
  append(out, "{{\"size\":[{},{}],\"counts\":[", truth.height, truth.width);
  const auto height = static_cast<std::int64_t>(truth.height);
  put(false, object.x1 * height);
  for (int x = object.x1; x < object.x2; ++x) {
    put(false, object.y1);
    for (int y = object.y1; y < object.y2; ++y)
      put(truth.identities[static_cast<std::size_t>(y * static_cast<std::int64_t>(truth.width) + x)] == object.identity,
          1);
    put(false, height - object.y2);
  }
  put(false, (truth.width - object.x2) * height);
  append(out, "{}]}}", run);
}

/// Builds instances.json frame by frame.
class CocoTruth {
 public:
  void add(const SceneTruth& truth, const std::string& file, double fps) {
    append(images_, "{}{{\"id\":{},\"file_name\":", images_.size() == 0 ? "" : ",\n", truth.frame);
    append_json_string(images_, file);
    append(images_, ",\"width\":{},\"height\":{},\"time\":{},\"place\":\"{}\",\"night\":{},\"blur\":{},\"noise\":{}}}",
           truth.width, truth.height, static_cast<double>(truth.frame) / fps,
           scene_places()[static_cast<std::size_t>(truth.place)], truth.night, truth.blur, truth.noise);
    for (const SceneObject& object : truth.objects) add(truth, object);
  }

  /// Throws Error naming the file.
  void write(const std::string& path, const SceneOptions& options) const {
    JsonBuffer head;
    append(head, "{{\"info\":{{\"description\":\"rendered by saccade demo\",\"source\":");
    append_json_string(head, to_uri(options));
    append(head, "}},\n\"categories\":[");
    for (std::size_t i = 0; i < scene_classes().size(); ++i)
      append(head, "{}{{\"id\":{},\"name\":\"{}\"}}", i == 0 ? "" : ",", i, scene_classes()[i]);
    append(head, "],\n\"images\":[\n");
    OutputFile file(path);
    file.write({head.data(), head.size()});
    file.write({images_.data(), images_.size()});
    file.write("\n],\n\"annotations\":[\n");
    file.write({annotations_.data(), annotations_.size()});
    file.write("\n]}\n");
    file.close();
  }

 private:
  void add(const SceneTruth& truth, const SceneObject& object) {
    append(annotations_,
           "{}{{\"id\":{},\"image_id\":{},\"category_id\":{},\"bbox\":[{},{},{},{}],\"area\":{},\"iscrowd\":{},",
           annotations_.size() == 0 ? "" : ",\n", next_++, truth.frame, object.class_id, object.x1, object.y1,
           object.x2 - object.x1, object.y2 - object.y1, object.visible_pixels, object.ignore ? 1 : 0);
    append(annotations_, "\"identity\":{},\"visible\":{},\"depth\":{},\"segmentation\":", object.identity,
           object.visible_share, object.depth);
    append_runs(annotations_, truth, object);
    append(annotations_, "}}");
  }

  JsonBuffer images_;
  JsonBuffer annotations_;
  std::int64_t next_ = 1;
};

void write_file(const fs::path& path, std::string_view text) {
  OutputFile file(path.string());
  file.write(text);
  file.close();
}

/// Builds gt.txt frame by frame. Objects that are ignored do not count.
class MotTruth {
 public:
  explicit MotTruth(const fs::path& folder) : folder_(folder) {
    make_folder((folder / "img1").string());
    make_folder((folder / "gt").string());
  }

  void add(const SceneTruth& truth) {
    for (const SceneObject& object : truth.objects)
      append(lines_, "{},{},{},{},{},{},{},{},{:.3f}\n", truth.frame + 1, object.identity, object.x1, object.y1,
             object.x2 - object.x1, object.y2 - object.y1, object.ignore ? 0 : 1, object.class_id + 1,
             object.visible_share);
  }

  /// Throws Error naming the file.
  void write(const SceneOptions& options, const RenderRequest& request, std::int64_t frames) const {
    write_file(folder_ / "gt" / "gt.txt", {lines_.data(), lines_.size()});
    write_file(folder_ / "gt" / "labels.txt", fmt::format("{}\n", fmt::join(scene_classes(), "\n")));
    write_file(folder_ / "seqinfo.ini",
               fmt::format("[Sequence]\nname={}\nimDir=img1\nframeRate={}\nseqLength={}\nimWidth={}\nimHeight={}\n"
                           "imExt=.{}\n",
                           fs::absolute(folder_).lexically_normal().filename().string(), options.fps, frames,
                           options.width, options.height, request.format));
  }

 private:
  fs::path folder_;
  JsonBuffer lines_;
};

/// depth/NAME.npy of each frame: float32 [rows, columns], sampled at the middle pixel of each square.
class DepthFiles {
 public:
  DepthFiles(const fs::path& folder, int step, const SceneOptions& options)
      : folder_(folder / "depth"),
        step_(step),
        map_(DType::kFloat32, Shape{cells(options.height), cells(options.width)}) {
    make_folder(folder_.string());
  }

  /// Throws Error naming the file.
  void add(const SceneTruth& truth, const std::string& name) {
    float* out = map_.data<float>().data();
    for (int row = 0; row < map_.shape()[0]; ++row)
      for (int column = 0; column < map_.shape()[1]; ++column)
        *out++ =
            truth.depth[static_cast<std::size_t>(middle(row, truth.height)) * static_cast<std::size_t>(truth.width) +
                        static_cast<std::size_t>(middle(column, truth.width))];
    save_npy((folder_ / (name + ".npy")).string(), map_);
  }

 private:
  int cells(int pixels) const { return (pixels + step_ - 1) / step_; }
  int middle(int cell, int pixels) const { return std::min(cell * step_ + step_ / 2, pixels - 1); }

  fs::path folder_;
  int step_;
  Tensor map_;
};

}  // namespace

std::int64_t render_frames(const RenderRequest& request) {
  Scene scene(parse_scene(request.source));
  const SceneOptions& options = scene.options();
  make_folder(request.output);
  const int pitch = options.width * 3;
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(pitch) * static_cast<std::size_t>(options.height));
  const RgbView image{pixels.data(), pitch, options.width, options.height};
  CocoTruth coco;
  std::optional<MotTruth> mot;
  if (request.is_mot) mot.emplace(request.output);
  std::optional<DepthFiles> depth;
  if (request.depth_step > 0) depth.emplace(request.output, request.depth_step, options);
  const std::int64_t count = options.frames < 0 ? request.frames : std::min(request.frames, options.frames);
  for (std::int64_t frame = 0; frame < count; ++frame) {
    const std::string name = mot ? fmt::format("img1/{:06}", frame + 1) : fmt::format("frame_{:06}", frame);
    const std::string file = fmt::format("{}.{}", name, request.format);
    scene.render(frame, image);
    write_image((fs::path(request.output) / file).string(), view_of(image));
    const SceneTruth& truth = scene.truth(frame);
    mot ? mot->add(truth) : coco.add(truth, file, options.fps);
    if (depth) depth->add(truth, name);
  }
  if (mot)
    mot->write(options, request, count);
  else
    coco.write((fs::path(request.output) / "instances.json").string(), options);
  return count;
}

}  // namespace saccade::app
