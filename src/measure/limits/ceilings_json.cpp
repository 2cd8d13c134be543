#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "measure/limits/device_file.hpp"
#include "runtime/json_words.hpp"

namespace saccade {
namespace {

using Json = nlohmann::ordered_json;

Json bandwidth_json(const Bandwidth& bandwidth) {
  return {{"read", bandwidth.read}, {"write", bandwidth.write}, {"copy", bandwidth.copy}, {"mixed", bandwidth.mixed}};
}

Bandwidth bandwidth_from(const Json& json) {
  return {json.at("read"), json.at("write"), json.at("copy"), json.at("mixed")};
}

Ceilings read(const Json& json) {
  Ceilings ceilings;
  ceilings.device = json.at("device");
  ceilings.threads = json.at("threads");
  ceilings.winograd = json.value("winograd", false);
  for (const Json& row : json.at("compute")) {
    const auto precision = operand_type_of(row.at("precision").get<std::string>());
    if (!precision)
      fail(ErrorCode::kInvalidFile, "the ceilings have the unknown precision {}", row.at("precision").dump());
    ceilings.compute.push_back({row.at("instructions"), *precision, row.at("one_core"), row.at("all")});
  }
  for (const Json& row : json.at("memory"))
    ceilings.memory.push_back(
        {row.at("level"), row.at("capacity"), bandwidth_from(row.at("one_core")), bandwidth_from(row.at("all"))});
  const Json& cost = json.at("cost_ns");
  ceilings.clock = Nanoseconds(cost.at("clock"));
  ceilings.syscall = Nanoseconds(cost.at("syscall"));
  ceilings.launch = Nanoseconds(cost.at("launch"));
  ceilings.parallel = Nanoseconds(cost.at("parallel"));
  ceilings.run = Nanoseconds(cost.value("run", 0.0));
  for (const Json& row : json.value("copies", Json::array()))
    ceilings.copies.push_back({row.at("bytes"), Nanoseconds(row.at("upload_ns")), Nanoseconds(row.at("download_ns"))});
  return ceilings;
}

}  // namespace

Json to_json(const Ceilings& ceilings) {
  Json compute = Json::array();
  for (const ComputeCeiling& each : ceilings.compute)
    compute.push_back({{"instructions", each.instructions},
                       {"precision", to_string(each.precision)},
                       {"one_core", each.one_core},
                       {"all", each.all}});
  Json memory = Json::array();
  for (const MemoryCeiling& each : ceilings.memory)
    memory.push_back({{"level", each.level},
                      {"capacity", each.capacity},
                      {"one_core", bandwidth_json(each.one_core)},
                      {"all", bandwidth_json(each.all)}});
  Json copies = Json::array();
  for (const CopyCeiling& each : ceilings.copies)
    copies.push_back(
        {{"bytes", each.bytes}, {"upload_ns", each.upload.count()}, {"download_ns", each.download.count()}});
  return {{"device", ceilings.device},
          {"threads", ceilings.threads},
          {"winograd", ceilings.winograd},
          {"compute", compute},
          {"memory", memory},
          {"cost_ns",
           {{"clock", ceilings.clock.count()},
            {"syscall", ceilings.syscall.count()},
            {"launch", ceilings.launch.count()},
            {"parallel", ceilings.parallel.count()},
            {"run", ceilings.run.count()}}},
          {"copies", copies}};
}

Ceilings ceilings_from_json(const Json& json) {
  try {
    return read(json);
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorCode::kInvalidFile, "the ceilings are invalid: the JSON {}", in_words(error));
  }
}

}  // namespace saccade
