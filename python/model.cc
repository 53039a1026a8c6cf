// A model's folder, and what can be done with it. heed/models.py makes of it what Python users see.
#include <pybind11/functional.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "array.h"
#include "bindings.h"
#include "ctrl_c.h"
#include "fields.h"
#include "heed/base/check.h"
#include "heed/io/fields.h"
#include "heed/tasks/chat.h"
#include "heed/tasks/embed.h"
#include "heed/tasks/generate.h"
#include "heed/tasks/model_batch.h"
#include "heed/tasks/model_folder.h"
#include "heed/tasks/purpose.h"
#include "heed/tasks/score.h"
#include "heed/tasks/trace.h"
#include "heed/tasks/translate.h"

namespace heed::python {
namespace {

using Lines = std::vector<std::string>;
using Ids = std::vector<int>;

std::shared_ptr<ModelFolder> load(const std::filesystem::path& folder, const std::string& from_language,
                                  const std::string& to_language) {
  return std::make_shared<ModelFolder>(load_model_folder(folder, {from_language, to_language}));
}

const Vocabulary& source_of(const ModelFolder& folder) {
  return folder.model->has_source() ? *folder.source_vocabulary : *folder.target_vocabulary;
}

// --- Text ------------------------------------------------------------------------------------------------------------

LongLines long_lines_of(const std::string& name) {
  LongLines treatment{};
  HEED_CHECK(enum_from_name(name, treatment), "heed.Model.translate: long_lines must be one of {}, but is '{}'",
             enum_choices<LongLines>(), name);
  return treatment;
}

// For each line its translations, (text, score, tokens, token_scores), best first.
py::list translate(const ModelFolder& folder, const Lines& lines, const py::dict& options,
                   const std::string& long_lines) {
  BeamOptions search = folder.decoding.search;
  read_fields("heed.Model.translate", options, search);
  const LongLines treatment = long_lines_of(long_lines);
  std::vector<std::vector<Translation>> translations;
  {
    const py::gil_scoped_release unlocked;
    translations =
        Translator(folder, treatment).translate(lines, search, "heed.Model.translate: line", 1, kBatchTokens, CtrlC());
  }
  py::list all;
  for (const std::vector<Translation>& best : translations) {
    py::list one;
    for (const Translation& t : best) one.append(py::make_tuple(t.text, t.score, t.tokens, t.token_scores));
    all.append(one);
  }
  return all;
}

// (text, tokens, token_scores) of each that call(options, tell) generates. on_part(prompt, text, ended) is called after
// each token; what it raises ends the call.
template <typename Call>
py::list generated(const char* caller, const ModelFolder& folder, py::dict given, Index max_tokens, const Lines& stop,
                   const py::object& on_part, const Call& call) {
  GenerateOptions options{.sampling = folder.decoding.sampling, .max_tokens = max_tokens, .stop = StopTexts(stop)};
  read_fields(caller, take_fields(given, options), options);
  read_fields(caller, given, options.sampling);
  std::function<void(const GeneratedPart&)> tell;
  if (!on_part.is_none()) {
    tell = [&](const GeneratedPart& part) {
      const py::gil_scoped_acquire lock;
      on_part(part.prompt, part.text, part.ended);
    };
  }
  std::vector<Generated> texts;
  {
    const py::gil_scoped_release unlocked;
    texts = call(options, tell);
  }
  py::list all;
  for (const Generated& one : texts) all.append(py::make_tuple(one.text, one.tokens, one.token_scores));
  return all;
}

py::list continue_text(const ModelFolder& folder, const Lines& prompts, const py::dict& given, Index max_tokens,
                       const Lines& stop, const py::object& on_part) {
  return generated("heed.Model.generate", folder, given, max_tokens, stop, on_part,
                   [&](const GenerateOptions& options, const auto& tell) {
                     return generate(folder, prompts, options, tell, "heed.Model.generate: prompt", CtrlC());
                   });
}

// --- Chats -----------------------------------------------------------------------------------------------------------

using Messages = std::vector<std::pair<std::string, std::string>>;  // role, content
using Day = std::tuple<int, unsigned, unsigned>;

std::vector<ChatMessage> talk_of(const Messages& messages) {
  std::vector<ChatMessage> talk;
  for (const auto& [role, content] : messages) talk.push_back({role, content});
  return talk;
}

ChatSetting setting_of(const char* caller, const std::optional<Day>& today, const py::dict& names) {
  ChatSetting setting{.names = to_json(caller, names)};
  if (today) {
    const auto [year, month, day] = *today;
    setting.today = {std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  }
  return setting;
}

std::string chat_text(const ModelFolder& folder, const Messages& messages, const std::optional<Day>& today,
                      const py::dict& names) {
  const ChatSetting setting = setting_of("heed.Model.chat_text", today, names);
  const py::gil_scoped_release unlocked;
  return chat_template_of(folder.path).text(talk_of(messages), setting);
}

py::list answer(const ModelFolder& folder, GrowingText& text, const Messages& messages, const std::optional<Day>& today,
                const py::dict& names, const py::dict& given, Index max_tokens, const Lines& stop,
                const py::object& on_part) {
  const ChatSetting setting = setting_of("heed.Model.chat", today, names);
  return generated(
      "heed.Model.chat", folder, given, max_tokens, stop, on_part,
      [&](const GenerateOptions& options, const auto& tell) {
        const Ids prompt = chat_prompt(folder, chat_template_of(folder.path), talk_of(messages), setting);
        return std::vector<Generated>{text.go_on(prompt, options, tell, "heed.Model.chat: prompt", CtrlC())};
      });
}

py::list score(const ModelFolder& folder, const Lines& texts, const std::optional<Lines>& sources) {
  std::vector<TokenScores> scores;
  {
    const py::gil_scoped_release unlocked;
    scores = sources ? score_translations(folder, *sources, texts, "heed.Model.score: line", kBatchTokens, CtrlC())
                     : score_documents(folder, texts, kBatchTokens, CtrlC());
  }
  py::list all;
  for (const TokenScores& one : scores) all.append(py::make_tuple(one.tokens, one.log_probabilities));
  return all;
}

// --- Numbers ---------------------------------------------------------------------------------------------------------

void check_length(const char* caller, const char* name, const Ids& ids, Index most) {
  HEED_CHECK(std::ssize(ids) <= most, "{}: the {} has {} tokens, and the model can hold {}", caller, name, ids.size(),
             most);
}

// A text, with its source where the model reads one, as the model is taught by it.
SequenceBatch batch_of(const char* caller, const ModelFolder& folder, const std::string& text,
                       const std::optional<std::string>& source) {
  check_purpose(continues_text(folder.config) || translates_text(folder.config), folder, "predicts no next token");
  HEED_CHECK(source.has_value() == folder.model->has_source(), "{}: {}", caller,
             source ? "the model is a language model: it has no source" : "the model translates: source must be given");
  const Index length = folder.model->max_length();
  Ids source_ids;
  if (source) {
    source_ids = folder.source_ids(*source);
    check_length(caller, "source", source_ids, folder.source_room(length));
    HEED_CHECK(!source_ids.empty(), "{}: the source has no tokens", caller);
  }
  const Ids ids = folder.target_ids(text);
  check_length(caller, "text", ids, folder.target_room(length));
  HEED_CHECK(!ids.empty() || folder.target_symbols.begin >= 0, "{}: the text has no tokens", caller);
  return make_taught_batch(folder, source_ids, ids);
}

py::object logits(const ModelFolder& folder, const std::string& text, const std::optional<std::string>& source) {
  Tensor numbers;
  {
    const py::gil_scoped_release unlocked;
    Workspace workspace;
    const SequenceBatch batch = batch_of("heed.Model.logits", folder, text, source);
    const Tensor all = folder.model->logits(Context::inference(workspace), batch).value();
    numbers = all.through(select(all.view(), 0, 0));
  }
  return Library().give(numbers);
}

// A vector for each text, [N, width].
py::object embed_texts(const ModelFolder& folder, const Lines& texts, const std::optional<std::string>& pooling,
                       std::optional<bool> normalise, Index layer, const std::string& prompt, bool cut) {
  EmbedOptions options{.normalise = normalise, .layer = layer, .prompt = prompt, .cut = cut};
  HEED_CHECK(!pooling || enum_from_name(*pooling, options.pool.emplace()),
             "heed.Model.embed: pooling must be one of {}, but is '{}'", enum_choices<Pool>(), *pooling);
  Tensor vectors;
  {
    const py::gil_scoped_release unlocked;
    vectors = embed(folder, texts, options, "heed.Model.embed: line", CtrlC());
  }
  return Library().give(vectors);
}

// What each layer makes of a text's tokens, [layers + 1, L, width].
py::object hidden_states_of(const ModelFolder& folder, const std::string& text) {
  Tensor states;
  {
    const py::gil_scoped_release unlocked;
    states = hidden_states(folder, text, "heed.Model.hidden_states: line");
  }
  return Library().give(states);
}

// --- Attention -------------------------------------------------------------------------------------------------------

std::shared_ptr<AttentionTrace> trace(const ModelFolder& folder, const std::string& text,
                                      const std::optional<std::string>& target,
                                      const std::optional<std::string>& second, bool scores, bool embeddings,
                                      bool steps) {
  const char* caller = "heed.Model.attention";
  const py::gil_scoped_release unlocked;
  const TraceOptions options{.parts = {.scores = scores, .embeddings = embeddings}};
  HEED_CHECK(!second || is_encoder(folder), "{}: the model is no encoder alone: it reads no second text", caller);
  AttentionTrace seen;
  if (is_encoder(folder)) {
    HEED_CHECK(!target, "{}: the model is an encoder: it has no target", caller);
    seen = trace_encoded(folder, text, second, options.parts);
  } else if (!folder.model->has_source()) {
    HEED_CHECK(!target, "{}: the model is a language model: it has no target", caller);
    seen = trace_text(folder, folder.target_ids(text), options, caller);
  } else if (target) {
    seen = trace_pair(folder, text, folder.target_ids(*target), options);
  } else {
    const auto best = Translator(folder).translate({&text, 1}, folder.decoding.search, caller);
    seen = trace_pair(folder, text, best[0][0].tokens, options);
    if (steps) seen.steps = trace_search(folder, text, folder.decoding.search);
  }
  return std::make_shared<AttentionTrace>(std::move(seen));
}

void add_model_class(py::module_& module) {
  py::class_<ModelFolder, std::shared_ptr<ModelFolder>> model(module, "Model");
  py::class_<GrowingText>(module, "GrowingText").def(py::init<const ModelFolder&>(), py::keep_alive<1, 2>());
  model.def("translate", &translate)
      .def("generate", &continue_text)
      .def("chat", &answer)
      .def("chat_text", &chat_text)
      .def("score", &score)
      .def("logits", &logits)
      .def("embed", &embed_texts)
      .def("hidden_states", &hidden_states_of)
      .def("trace", &trace)
      .def("encode", [](const ModelFolder& folder, const std::string& text) { return source_of(folder).encode(text); })
      .def("decode", [](const ModelFolder& folder, const Ids& ids) { return folder.target_vocabulary->decode(ids); })
      .def("piece", [](const ModelFolder& folder, int id) { return folder.target_vocabulary->piece(id); })
      .def_property_readonly("translates", [](const ModelFolder& folder) { return translates_text(folder.config); })
      .def_property_readonly("purpose", [](const ModelFolder& folder) { return purpose_of(folder.config); })
      .def_property_readonly("max_length", [](const ModelFolder& folder) { return folder.model->max_length(); })
      .def_property_readonly("vocabulary", [](const ModelFolder& folder) { return folder.model->vocabulary(); })
      .def_property_readonly("config", [](const ModelFolder& folder) { return to_json(folder.config).dump(); })
      .def_property_readonly("parameters", [](const ModelFolder& folder) {
        Index count = 0;
        for (const auto& [name, parameter] : folder.parameters) count += parameter.count();
        return count;
      });
}

}  // namespace

void add_model(py::module_& module) {
  add_model_class(module);
  module.def("load", &load, py::call_guard<py::gil_scoped_release>());
}

}  // namespace heed::python
