#include "measure/peers/peer_files.hpp"

#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/output_file.hpp"
#include "embedded/peer_script.hpp"
#include "embedded/torch_peer_elements.hpp"
#include "embedded/torch_peer_engine.hpp"
#include "embedded/torch_peer_graph.hpp"
#include "embedded/torch_peer_integers.hpp"
#include "embedded/torch_peer_layers.hpp"
#include "embedded/torch_peer_resize.hpp"
#include "embedded/torch_peer_shapes.hpp"
#include "embedded/torch_peer_table.hpp"

namespace saccade {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kFiles = {{
    {"peer.py", embedded::peer_script},
    {"torch_peer/elements.py", embedded::torch_peer_elements},
    {"torch_peer/engine.py", embedded::torch_peer_engine},
    {"torch_peer/graph.py", embedded::torch_peer_graph},
    {"torch_peer/integers.py", embedded::torch_peer_integers},
    {"torch_peer/layers.py", embedded::torch_peer_layers},
    {"torch_peer/resize.py", embedded::torch_peer_resize},
    {"torch_peer/shapes.py", embedded::torch_peer_shapes},
    {"torch_peer/table.py", embedded::torch_peer_table},
}};

}  // namespace

std::string write_peer_files(const std::string& folder) {
  std::filesystem::create_directories(folder + "/torch_peer");
  for (const auto& [name, text] : kFiles) {
    OutputFile file(folder + "/" + std::string(name), OutputFile::Appears::kWhole, OutputPath::Claim::kChecked);
    file.write(text);
    file.close();
  }
  return folder + "/peer.py";
}

}  // namespace saccade
