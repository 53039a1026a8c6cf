// Fields of protobuf's wire format, numbered below 16, as bytes: for models of SentencePiece that a test makes up.
#pragma once

#include <string>
#include <string_view>

namespace heed::testing {

std::string field(int number, std::string_view bytes);
// A value below 128.
std::string number_field(int number, int value);
std::string float_field(int number, float value);

}  // namespace heed::testing
