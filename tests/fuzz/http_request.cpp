#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "http/base64.hpp"
#include "http/body_buffer.hpp"
#include "http/routes.hpp"
#include "serve/memory_api.hpp"
#include "serve/multipart.hpp"
#include "serve/trace_context.hpp"

// What `serve` reads of a request besides tensors: its body in pieces, route, query, multipart body, trace, and
// requests for shared memory. The input has these fields, with zero bytes between them: method, path, query,
// Content-Type, traceparent, body.
namespace {

using saccade::serve::RegionKind;

void require(bool condition) {
  if (!condition) std::abort();
}

// Objects with this prefix do not exist.
saccade::serve::MemoryRegions regions({.prefix = "saccade-fuzzed-"});

/// Registering a GPU's memory needs the module that serves.
std::vector<saccade::HttpRoute> routes_without_module() {
  std::vector<saccade::HttpRoute> routes = saccade::serve::memory_routes(regions);
  std::erase_if(routes, [](const saccade::HttpRoute& route) {
    return route.path.ends_with("cudasharedmemory/region/{}/register");
  });
  return routes;
}

const saccade::http::Routes routes(routes_without_module());

std::array<std::string_view, 6> fields_of(std::string_view input) {
  std::array<std::string_view, 6> fields;
  for (std::string_view& field : fields) {
    const bool is_last = &field == &fields.back();
    field = is_last ? input : input.substr(0, input.find('\0'));
    input.remove_prefix(std::min(field.size() + 1, input.size()));
  }
  return fields;
}

/// BODY as it comes from a connection, in pieces of sizes that are drawn from PIECES.
std::string received(std::string_view body, std::string_view pieces) {
  std::size_t next = 0;
  const auto piece = [&](std::size_t most) {
    const std::size_t wanted = pieces.empty() ? most : static_cast<unsigned char>(pieces[next++ % pieces.size()]) * 97;
    return std::clamp<std::size_t>(wanted, 1, most);
  };
  saccade::http::BodyBuffer buffer(body.size(), body.substr(0, body.empty() ? 0 : piece(body.size())));
  while (!buffer.is_complete()) {
    const std::span<char> tail = buffer.tail();
    require(!tail.empty() && tail.size() <= body.size() - buffer.size());
    const std::size_t count = piece(tail.size());
    std::copy_n(body.data() + buffer.size(), count, tail.data());
    buffer.commit(count);
  }
  return buffer.take();
}

void find_image(const saccade::HttpRequest& request) {
  try {
    const std::string_view image = saccade::serve::image_in(request);
    require(image.data() >= request.body.data() &&
            image.data() + image.size() <= request.body.data() + request.body.size());
  } catch (const saccade::Error&) {  // there is none
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto [method, path, query, type, trace, body] = fields_of({reinterpret_cast<const char*>(data), size});
  saccade::HttpRequest request;
  request.method = method;
  request.path = path;
  request.query = query;
  request.headers.emplace_back("content-type", type);
  request.body = received(body, trace);
  require(request.body == body);
  find_image(request);
  (void)request.parameter("draw");
  const saccade::serve::TraceContext context = saccade::serve::parse_traceparent(trace);
  require(context.trace_id.empty() == context.span_id.empty());
  require(context.trace_id.empty() || (context.trace_id.size() == 32 && context.span_id.size() == 16));
  if (const auto bytes = saccade::http::decode_base64(body)) require(bytes->size() <= body.size() / 4 * 3);
  saccade::http::Routes::Match match = routes.find(method, path);
  if (match.route == nullptr) return 0;
  request.names = std::move(match.names);
  const saccade::HttpReply reply = match.route->reply(request);
  require(reply.status == 200 || reply.status == 400);
  require(regions.list(RegionKind::kSystem, "").empty());
  return 0;
}
