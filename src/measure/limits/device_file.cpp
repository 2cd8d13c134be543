#include "measure/limits/device_file.hpp"

#include <algorithm>
#include <filesystem>

#include "measure/limits/toml_quantity.hpp"

namespace saccade {
namespace {

ComputeCeiling read_compute(TomlSection section) {
  ComputeCeiling ceiling;
  const std::string precision = section.text("precision").value_or("");
  const auto found = operand_type_of(precision);
  if (!found) section.bad(section.source(), "precision", "must be fp32, bf16 or int8");
  ceiling.precision = *found;
  ceiling.instructions = section.text("instructions").value_or(precision);
  ceiling.all = needed_quantity(section, "peak", Unit::kOperationRate);
  ceiling.one_core = quantity(section, "one_core", Unit::kOperationRate).value_or(ceiling.all);
  section.end();
  return ceiling;
}

/// `bandwidth` for all kinds of traffic, or each separately.
Bandwidth read_bandwidth(TomlSection& section) {
  if (const auto rate = quantity(section, "bandwidth", Unit::kByteRate)) return {*rate, *rate, *rate, *rate};
  Bandwidth bandwidth;
  bandwidth.read = needed_quantity(section, "read", Unit::kByteRate);
  bandwidth.write = needed_quantity(section, "write", Unit::kByteRate);
  bandwidth.copy = needed_quantity(section, "copy", Unit::kByteRate);
  bandwidth.mixed = quantity(section, "mixed", Unit::kByteRate).value_or(bandwidth.copy);
  return bandwidth;
}

MemoryCeiling read_memory(TomlSection section) {
  MemoryCeiling ceiling;
  ceiling.level = section.text("level").value_or("memory");
  ceiling.capacity = static_cast<std::int64_t>(quantity(section, "capacity", Unit::kBytes).value_or(0));
  ceiling.all = read_bandwidth(section);
  ceiling.one_core = ceiling.all;
  if (auto one = section.section("one_core")) {
    ceiling.one_core = read_bandwidth(*one);
    one->end();
  }
  section.end();
  return ceiling;
}

void read_costs(TomlSection section, Ceilings& ceilings) {
  const auto time = [&](std::string_view key) {
    return Nanoseconds(std::chrono::duration<double>(quantity(section, key, Unit::kTime).value_or(0)));
  };
  ceilings.clock = time("clock");
  ceilings.syscall = time("syscall");
  ceilings.launch = time("launch");
  ceilings.parallel = time("parallel");
  ceilings.run = time("run");
  section.end();
}

CopyCeiling read_copy(TomlSection section) {
  CopyCeiling ceiling;
  ceiling.bytes = static_cast<std::int64_t>(needed_quantity(section, "bytes", Unit::kBytes));
  ceiling.upload = std::chrono::duration<double>(needed_quantity(section, "upload", Unit::kTime));
  ceiling.download = std::chrono::duration<double>(needed_quantity(section, "download", Unit::kTime));
  section.end();
  return ceiling;
}

DeviceFile read_device(TomlSection file) {
  DeviceFile device;
  Ceilings& ceilings = device.ceilings;
  ceilings.device = file.text("name").value_or("a device of a file");
  ceilings.threads = file.count("threads").value_or(1);
  ceilings.winograd = file.flag("winograd").value_or(false);
  for (TomlSection& section : file.sections("compute")) ceilings.compute.push_back(read_compute(std::move(section)));
  for (TomlSection& section : file.sections("memory")) {
    if (!ceilings.memory.empty() && ceilings.memory.back().capacity == 0)
      section.bad(section.source(), "level", "can't follow a level without a capacity");
    ceilings.memory.push_back(read_memory(std::move(section)));
  }
  if (auto costs = file.section("cost")) read_costs(std::move(*costs), ceilings);
  for (TomlSection& section : file.sections("copy")) ceilings.copies.push_back(read_copy(std::move(section)));
  if (auto camera = file.section("camera")) {
    const auto mode = camera->text("mode");
    try {
      if (mode) device.camera = parse_camera(*mode);
    } catch (const Error& error) {
      camera->bad(camera->find("mode")->source(), "mode", fmt::format("is invalid: {}", error.what()));
    }
    device.bus_rate = quantity(*camera, "bus", Unit::kByteRate);
    camera->end();
  }
  file.end();
  return device;
}

std::string bandwidth_toml(const Bandwidth& bandwidth, std::string_view separator) {
  return fmt::format("read = {:.6g}{}write = {:.6g}{}copy = {:.6g}{}mixed = {:.6g}", bandwidth.read, separator,
                     bandwidth.write, separator, bandwidth.copy, separator, bandwidth.mixed);
}

/// TEXT as a quoted TOML string.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

}  // namespace

DeviceFile read_device_file(const std::string& path) {
  const toml::table table = read_toml(path, "device file");
  return read_device(TomlSection(path, "", table));
}

std::string to_toml(const Ceilings& ceilings) {
  std::string text = fmt::format("name = {}\nthreads = {}\nwinograd = {}\n", in_quotes(ceilings.device),
                                 ceilings.threads, ceilings.winograd);
  for (const ComputeCeiling& each : ceilings.compute)
    text += fmt::format("\n[[compute]]\ninstructions = {}\nprecision = \"{}\"\npeak = {:.6g}\none_core = {:.6g}\n",
                        in_quotes(each.instructions), to_string(each.precision), each.all, each.one_core);
  for (const MemoryCeiling& each : ceilings.memory) {
    text += fmt::format("\n[[memory]]\nlevel = {}\n", in_quotes(each.level));
    if (each.capacity > 0) text += fmt::format("capacity = {}\n", each.capacity);
    text +=
        fmt::format("{}\none_core = {{ {} }}\n", bandwidth_toml(each.all, "\n"), bandwidth_toml(each.one_core, ", "));
  }
  text += "\n[cost]\n";
  const auto cost = [&](std::string_view key, Nanoseconds time) {
    if (time.count() > 0) text += fmt::format("{} = \"{:.6g} ns\"\n", key, time.count());
  };
  cost("clock", ceilings.clock);
  cost("syscall", ceilings.syscall);
  cost("launch", ceilings.launch);
  cost("parallel", ceilings.parallel);
  cost("run", ceilings.run);
  for (const CopyCeiling& each : ceilings.copies)
    text += fmt::format("\n[[copy]]\nbytes = {}\nupload = \"{:.6g} ns\"\ndownload = \"{:.6g} ns\"\n", each.bytes,
                        each.upload.count(), each.download.count());
  return text;
}

}  // namespace saccade
