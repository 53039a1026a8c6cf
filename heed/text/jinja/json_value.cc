#include "heed/text/jinja/json_value.h"

namespace heed::jinja {

Value value_of(Run& run, const Json& json) {
  const Run::Level level(run);
  switch (json.kind()) {
    case Json::Kind::null:
      return Value(None{});
    case Json::Kind::boolean:
      return Value(json.boolean());
    case Json::Kind::integer:
      return Value(std::int64_t{json.integer()});
    case Json::Kind::number:
      return Value(json.number());
    case Json::Kind::string:
      return Value(json.string());
    case Json::Kind::array: {
      std::vector<Value> items;
      for (const Json& item : json.items()) items.push_back(value_of(run, item));
      return Value::list(run, std::move(items));
    }
    case Json::Kind::object: {
      std::vector<std::pair<Value, Value>> members;
      for (const auto& [key, value] : json.members()) members.emplace_back(Value(key), value_of(run, value));
      return Value::dict(run, std::move(members));
    }
  }
  return Value();
}

}  // namespace heed::jinja
