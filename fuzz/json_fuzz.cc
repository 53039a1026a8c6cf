// JSON: a value that was read and is written again, on one line or on many, reads as an equal value; an object whose
// members are handed over one by one is the same.
#include "heed/io/json.h"

#include "property.h"

namespace heed::fuzz {
namespace {

void check_json(std::string_view text) {
  const auto value = taken([&] { return Json::parse(text, "input"); });
  const auto members = taken([&] {
    std::vector<Json::Member> list;
    Json::parse_members(text, "input", [&](std::span<const std::string> path, const Json& member) {
      list.emplace_back(path.front(), member);
    });
    return list;
  });
  require(!members || (value && Json::object(*members) == *value), "an object is its members");
  if (!value) return;
  require(members || value->kind() != Json::Kind::object || text.size() > Json::kMostMemberValues,
          "a small object's members can be handed over");
  for (const int indent : {0, 2}) {
    const std::string written = value->dump(indent);
    const Json again = Json::parse(written, "written");
    require(again == *value, "what is written reads as an equal value");
    require(again.dump(indent) == written, "the same value gives the same bytes");
  }
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_json(heed::fuzz::bytes_of(data, size));
  return 0;
}
