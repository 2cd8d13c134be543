#pragma once

#include <string_view>

namespace saccade::http {

/// Whether HOST, a request's header, is an IP address, localhost or this machine's own name, with or without a port. A
/// web page of another name that has this machine's address in the DNS would be of the same origin (DNS rebinding).
bool names_this_machine(std::string_view host);

}  // namespace saccade::http
