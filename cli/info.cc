// heed info
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "commands.h"
#include "heed/base/parallel.h"
#include "heed/base/printable.h"
#include "heed/io/safetensors.h"
#include "heed/kernels/target.h"
#include "heed/ops/attention/plan.h"
#include "heed/tasks/model_folder.h"
#include "output.h"

namespace heed::cli {
namespace {

struct InfoCommand {
  std::string what;
  bool parameters = false, json = false;
};

Json tensor_json(const std::string& name, const ConstView& tensor) {
  return Json::object({{"name", name},
                       {"dtype", name_of(tensor.dtype)},
                       {"shape", Json::array_of(std::span(tensor.shape.data(), tensor.rank))},
                       {"count", tensor.size()}});
}

std::string tensor_line(const std::string& name, const ConstView& tensor) {
  return fmt::format("  {:<48} {:<20} {:>10}\n", printable(name), describe(tensor), tensor.size());
}

// --- This program ----------------------------------------------------------------------------------------------------

void show_program(bool json) {
  std::vector<std::string> targets, plans;
  for (std::int64_t target : simd_targets()) targets.emplace_back(simd_target_name(target));
  for (const AttentionPlan& plan : attention_plans()) plans.emplace_back(plan.name);
  const std::string_view active = simd_target_name(active_simd_target());
  if (json) {
    return print_line(Json::object({{"version", HEED_VERSION},
                                    {"simd_target", active},
                                    {"simd_targets", Json::array_of(targets)},
                                    {"threads", thread_count()},
                                    {"attention_plans", Json::array_of(plans)}})
                          .dump(2));
  }
  print(fmt::format("heed {}\nSIMD target      {} (this machine has {})\nthreads          {}\nattention plans  {}\n",
                    HEED_VERSION, active, fmt::join(targets, ", "), thread_count(), fmt::join(plans, ", ")));
}

// --- A model ---------------------------------------------------------------------------------------------------------

Json vocabulary_json(const Vocabulary& vocabulary) {
  return Json::object({{"kind", vocabulary.kind()}, {"size", vocabulary.size()}});
}

std::string vocabulary_text(const ModelFolder& model) {
  const Vocabulary &source = *model.source_vocabulary, &target = *model.target_vocabulary;
  if (&source == &target) return fmt::format("{}, {} pieces for both sides", source.kind(), source.size());
  return fmt::format("{}, {} source pieces; {}, {} target pieces", source.kind(), source.size(), target.kind(),
                     target.size());
}

void show_model(const InfoCommand& command) {
  const ModelFolder model = load_model_folder(command.what);
  const ParameterList parameters = model.model->parameters();
  const Json config = to_json(model.config);
  Index count = 0;
  for (const NamedParameter& parameter : parameters) count += parameter.var.value().view().size();
  if (command.json) {
    Json object = Json::object({{"model", config["model"]},
                                {"config", config["config"]},
                                {"parameter_count", count},
                                {"joint_vocabulary", model.source_vocabulary == model.target_vocabulary},
                                {"source_vocabulary", vocabulary_json(*model.source_vocabulary)},
                                {"target_vocabulary", vocabulary_json(*model.target_vocabulary)}});
    if (command.parameters) {
      Json list = Json::array();
      for (const auto& [name, var] : parameters) list.append(tensor_json(name, var.value().view()));
      object.set("parameters", std::move(list));
    }
    return print_line(object.dump(2));
  }
  std::string text = fmt::format("model       {}\nparameters  {}\nvocabulary  {}\nconfig\n", config["model"].string(),
                                 count, vocabulary_text(model));
  for (const auto& [name, value] : config["config"].members()) {
    text += fmt::format("  {:<20} {}\n", name, value.kind() == Json::Kind::string ? value.string() : value.dump());
  }
  if (command.parameters) {
    text += "parameters\n";
    for (const auto& [name, var] : parameters) text += tensor_line(name, var.value().view());
  }
  print(text);
}

// --- A safetensors file ----------------------------------------------------------------------------------------------

void show_tensors(const InfoCommand& command) {
  std::map<std::string, std::string> metadata;
  const std::map<std::string, Tensor> tensors = read_safetensors(command.what, &metadata);
  Index count = 0;
  Json list = Json::array(), data = Json::object();
  std::string text;
  for (const auto& [name, tensor] : tensors) {
    count += tensor.size();
    if (command.json) list.append(tensor_json(name, tensor.view()));
    text += tensor_line(name, tensor.view());
  }
  for (const auto& [key, value] : metadata) data.set(key, value);
  if (command.json) {
    return print_line(Json::object({{"tensors", list}, {"count", count}, {"metadata", data}}).dump(2));
  }
  print(fmt::format("{} tensors, {} numbers\n{}", tensors.size(), count, text));
  if (metadata.empty()) return;
  print_line("metadata");
  for (const auto& [key, value] : metadata) print_line(fmt::format("  {}: {}", printable(key), printable(value)));
}

void run(const InfoCommand& command) {
  if (command.what.empty()) return show_program(command.json);
  const bool file = std::filesystem::path(command.what).extension() == ".safetensors";
  file ? show_tensors(command) : show_model(command);
}

}  // namespace

void add_info_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("info", "Describe a model, a .safetensors file, or this program.");
  auto command = std::make_shared<InfoCommand>();
  sub->add_option("what", command->what, "A model's folder or a .safetensors file; without it, heed itself.");
  sub->add_flag("--parameters", command->parameters, "List a model's parameters.");
  sub->add_flag("--json", command->json, "Print one JSON object.");
  sub->footer("Examples:\n  heed info\n  heed info model --parameters\n  heed info model/model.safetensors --json");
  sub->callback([command] { run(*command); });
}

}  // namespace heed::cli
