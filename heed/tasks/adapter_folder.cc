#include "heed/tasks/adapter_folder.h"

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/io/fields.h"
#include "heed/layers/given_parameters.h"
#include "heed/layers/saved_parameters.h"
#include "heed/tasks/parameter_fingerprint.h"

namespace heed {
namespace {

constexpr std::string_view kModel = "adapter";

Adapter adapter_from_json(const Json& json) {
  json.allow_only({"model", "base", "parameters", "low_rank"});
  Adapter adapter{json["base"].string(), json["parameters"].string(), {}};
  from_json(json["low_rank"], adapter.low_rank);
  check_ranges(adapter.low_rank, json.where());
  if (adapter.low_rank.rank < 1) json["low_rank"]["lora"].refuse("must be at least 1");
  return adapter;
}

}  // namespace

Json to_json(const Adapter& adapter) {
  return Json::object({{"model", kModel},
                       {"base", std::filesystem::absolute(adapter.base).lexically_normal().string()},
                       {"parameters", adapter.fingerprint},
                       {"low_rank", to_json(adapter.low_rank)}});
}

bool is_adapter(const Json& config) {
  return config.kind() == Json::Kind::object && config.has("model") && config["model"].kind() == Json::Kind::string &&
         config["model"].string() == kModel;
}

std::filesystem::path base_of_adapter(const std::filesystem::path& folder, const Json& config) {
  const std::filesystem::path base = adapter_from_json(config).base;
  const std::string where = (folder / "config.json").string();
  const std::filesystem::path of_base = base / "config.json";
  // An adapter of an adapter could go round in circles.
  HEED_CHECK(!file_exists(of_base) || !is_adapter(read_json(of_base)),
             "{}: its base {} is an adapter itself: make a model of that (heed convert), and train from there", where,
             base.string());
  HEED_CHECK(file_exists(base), "{}: its base {} is not there", where, base.string());
  return base;
}

ModelFolder load_adapter(const std::filesystem::path& folder, const Json& config) {
  const Adapter adapter = adapter_from_json(config);
  const std::string where = (folder / "config.json").string();
  ModelFolder model = load_model_folder(base_of_adapter(folder, config));
  HEED_CHECK(fingerprint_of(model.parameters) == adapter.fingerprint,
             "{}: its base {} has not the parameters that the adapter was trained with", where, adapter.base.string());
  const ParameterList factors = draw_factors(model.parameters, adapter.low_rank, Rng(0));
  read_parameters(open_safetensors(folder / "model.safetensors"), factors);
  GivenParameters given(merged(model.parameters, factors, adapter.low_rank), where);
  model.model = make_model(given, model.config);
  model.parameters = given.list();
  model.path = folder;
  return model;
}

}  // namespace heed
