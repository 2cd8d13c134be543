#pragma once

#include <saccade/saccade.hpp>
#include <string>
#include <vector>

#include "common.hpp"
#include "rotation_flags.hpp"
#include "server_flags.hpp"

namespace saccade::app {

/// The flags of `run`.
struct RunFlags {
  CommonFlags common;
  std::vector<std::string> models;
  std::vector<std::string> sources;
  std::string sources_file;
  SourceOptions source_options;
  PipelineOptions pipeline;

  std::string jsonl;
  JsonlOptions jsonl_options;
  std::string coco;
  std::string mot;
  std::string csv;
  std::string yolo;
  YoloOptions yolo_options;
  std::string video;
  std::string frames;
  std::string publish;
  std::string mqtt;
  bool show = false;
  std::string goals;
  std::string zones;
  std::string telemetry;
  RotationFlags rotate;
  ServerFlags servers;
  ModelValues values;
  bool quiet = false;
  bool save = true;
};

}  // namespace saccade::app
