// heed info
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commands.h"
#include "heed/base/parallel.h"
#include "heed/base/printable.h"
#include "heed/io/json_stream.h"
#include "heed/io/safetensors.h"
#include "heed/kernels/target.h"
#include "heed/ops/attention/plans/plan.h"
#include "heed/pretrained/pretrained_model.h"
#include "heed/tasks/model_folder.h"
#include "heed/tasks/pretrained_folder.h"
#include "heed/tasks/pretrained_vocabulary.h"
#include "heed/tasks/purpose.h"
#include "heed/tasks/sentence_modules.h"
#include "heed/text/language_tokens.h"
#include "output.h"

namespace heed::cli {
namespace {

struct InfoCommand {
  std::optional<std::string> what;
  bool parameters = false, json = false;
};

using Extents = std::span<const Index>;

Json tensor_json(const std::string& name, DType dtype, Extents shape, Index count) {
  return Json::object({{"name", name}, {"dtype", name_of(dtype)}, {"shape", Json::array_of(shape)}, {"count", count}});
}

std::string tensor_line(const std::string& name, DType dtype, Extents shape, Index count) {
  return fmt::format("  {:<48} {:<20} {:>10}\n", printable(name),
                     fmt::format("{} [{}]", name_of(dtype), fmt::join(shape, ", ")), count);
}

Extents extents(const Shape& shape, int rank) { return Extents(shape).first(static_cast<std::size_t>(rank)); }

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

// Without the vocabulary of a model that reads no text: one that sees has none; or of one that has lost it.
ModelFolder open_model(const std::string& path) {
  const bool has_vocabulary = !is_pretrained(path) || has_vocabularies(path);
  if (has_vocabulary && handles_text(describe_model_folder(path))) return load_model_folder(path);
  ModelFolder model;
  static_cast<BareModel&>(model) = load_bare_model(path);
  return model;
}

std::string vocabulary_text(const ModelFolder& model) {
  if (model.source_vocabulary == nullptr) {
    return handles_text(model.config) ? "none: there is no tokenizer beside its weights" : "none: it reads no text";
  }
  const Vocabulary &source = *model.source_vocabulary, &target = *model.target_vocabulary;
  if (&source == &target) return fmt::format("{}, {} pieces for both sides", source.kind(), source.size());
  return fmt::format("{}, {} source pieces; {}, {} target pieces", source.kind(), source.size(), target.kind(),
                     target.size());
}

// The architecture that another toolkit's model is said to be of, where its file lacks heads of it; else empty.
std::string lost_heads(const std::string& path) {
  return is_pretrained(path) ? describe_pretrained(weights_of_sentence_folder(path)).lost_heads : std::string();
}

bool is_told_how_to_decode(const ModelFolder& model) {
  return model.templated && (continues_text(model.config) || translates_text(model.config));
}

// What there is to say of a model's languages, and of how another toolkit's model is decoded.
std::string text_lines(const ModelFolder& model) {
  if (model.target_vocabulary == nullptr) return {};
  std::string text;
  const std::vector<std::string> languages = languages_of(*model.target_vocabulary);
  if (!languages.empty()) text += fmt::format("languages   {}\n", fmt::join(languages, " "));
  if (is_told_how_to_decode(model)) {
    text += fmt::format("decoding    {}\n", to_json(static_cast<const TextCodec&>(model)).dump());
  }
  return text;
}

// The bytes of the weights of each type, scales among those of f32.
std::map<DType, Index> bytes_by_type(const ParameterList& parameters) {
  std::map<DType, Index> bytes;
  for (const auto& [name, var] : parameters) {
    for (const Tensor& tensor : {var.value(), var.scales()}) {
      if (!tensor.is_empty()) bytes[tensor.dtype()] += tensor.size() * size_of(tensor.dtype());
    }
  }
  return bytes;
}

Json bytes_json(const std::map<DType, Index>& bytes) {
  Json json = Json::object({});
  for (const auto& [dtype, count] : bytes) json.set(std::string(name_of(dtype)), count);
  return json;
}

std::string bytes_text(const std::map<DType, Index>& bytes) {
  std::string text;
  for (const auto& [dtype, count] : bytes) {
    text += fmt::format("{}{} bytes of {}", text.empty() ? "" : ", ", count, name_of(dtype));
  }
  return text;
}

void show_model(const InfoCommand& command) {
  const ModelFolder model = open_model(*command.what);
  const ParameterList& parameters = model.parameters;
  const Json config = to_json(model.config);
  Index count = 0;
  for (const NamedParameter& parameter : parameters) count += parameter.var.count();
  const std::map<DType, Index> bytes = bytes_by_type(parameters);
  if (command.json) {
    Json object = Json::object({{"model", config["model"]},
                                {"purpose", purpose_of(model.config)},
                                {"config", config["config"]},
                                {"parameter_count", count},
                                {"bytes", bytes_json(bytes)}});
    if (const std::string lost = lost_heads(*command.what); !lost.empty()) object.set("lost_heads", lost);
    if (model.source_vocabulary != nullptr) {
      object.set("joint_vocabulary", model.source_vocabulary == model.target_vocabulary);
      object.set("source_vocabulary", vocabulary_json(*model.source_vocabulary));
      object.set("target_vocabulary", vocabulary_json(*model.target_vocabulary));
      object.set("languages", Json::array_of(languages_of(*model.target_vocabulary)));
      if (is_told_how_to_decode(model)) object.set("text", to_json(static_cast<const TextCodec&>(model)));
    }
    if (command.parameters) {
      Json list = Json::array();
      for (const auto& [name, var] : parameters) {
        const View& value = var.value().view();
        list.append(tensor_json(name, value.dtype, extents(value.shape, value.rank), value.size()));
      }
      object.set("parameters", std::move(list));
    }
    return print_line(object.dump(2));
  }
  const std::string lost = lost_heads(*command.what);
  const std::string heads =
      lost.empty() ? ""
                   : fmt::format("heads       without those of a {} that its file has nothing of\n", printable(lost));
  std::string text =
      fmt::format("model       {}: it {}\n{}parameters  {}, {}\nvocabulary  {}\n{}config\n", config["model"].string(),
                  purpose_of(model.config), heads, count, bytes_text(bytes), vocabulary_text(model), text_lines(model));
  for (const auto& [name, value] : config["config"].members()) {
    text += fmt::format("  {:<20} {}\n", name, value.kind() == Json::Kind::string ? value.string() : value.dump());
  }
  if (command.parameters) {
    text += "parameters\n";
    for (const auto& [name, var] : parameters) {
      const View& value = var.value().view();
      text += tensor_line(name, value.dtype, extents(value.shape, value.rank), value.size());
    }
  }
  print(text);
}

// --- A safetensors file ----------------------------------------------------------------------------------------------

// A header may name hundreds of thousands of tensors: they are printed piece by piece.
void show_tensors_as_json(const Checkpoint& file, Index count) {
  JsonStream json(print, 2);
  json.open_object();
  json.key("tensors"), json.open_array();
  for (const auto& [name, stored] : file.tensors()) {
    json.value(tensor_json(name, stored.dtype(), extents(stored.shape, stored.rank), stored.size()));
  }
  json.close();
  json.key("count"), json.integer(count);
  json.key("metadata"), json.open_object();
  for (const auto& [key, value] : file.metadata().members()) json.key(key), json.value(value);
  json.close();
  json.close();
  json.finish();
  print("\n");
}

void show_tensors_as_text(const Checkpoint& file, Index count) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 16;
  std::string text = fmt::format("{} tensors, {} numbers\n", file.tensors().size(), count);
  const auto add = [&](const std::string& line) {
    text += line;
    if (text.size() < kPieceBytes) return;
    print(text);
    text.clear();
  };
  for (const auto& [name, stored] : file.tensors()) {
    add(tensor_line(name, stored.dtype(), extents(stored.shape, stored.rank), stored.size()));
  }
  const std::vector<Json::Member> metadata = file.metadata().members();
  if (!metadata.empty()) add("metadata\n");
  for (const auto& [key, value] : metadata) {
    add(fmt::format("  {}: {}\n", printable(key), printable(value.string())));
  }
  print(text);
}

void show_tensors(const InfoCommand& command) {
  const Checkpoint file = open_safetensors(*command.what);
  Index count = 0;
  for (const auto& [name, stored] : file.tensors()) count += stored.size();
  command.json ? show_tensors_as_json(file, count) : show_tensors_as_text(file, count);
}

void run(const InfoCommand& command) {
  if (!command.what) {
    if (command.parameters) throw CLI::ValidationError("--parameters", "needs a model");
    return show_program(command.json);
  }
  const bool file = std::filesystem::path(*command.what).extension() == ".safetensors";
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
