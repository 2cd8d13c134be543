#include "media/isolated/serve_source.hpp"

int main(int count, char** arguments) { saccade::isolated::serve_source(count, arguments); }
