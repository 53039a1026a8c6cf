#include "views.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "beam_option.h"
#include "heed/base/check.h"
#include "heed/base/name_ending.h"
#include "heed/base/text_lines.h"
#include "heed/observe/trace_file.h"
#include "heed/tasks/caption.h"
#include "heed/tasks/light_traces.h"
#include "heed/tasks/picture_classifier.h"
#include "heed/tasks/transcribe.h"
#include "language_options.h"
#include "long_lines.h"
#include "option_names.h"
#include "output.h"
#include "progress_line.h"

namespace heed::cli {
namespace {

struct Wanted {
  TraceParts parts;
  bool steps = false;
};

// What --record names; for a page, everything.
Wanted wanted(const Viewed& viewed, bool for_page) {
  const bool all = viewed.record.empty() && for_page;
  const auto names = [&](const char* name) {
    return all || std::ranges::any_of(viewed.record, [&](const std::string& part) {
             return part == name || (part == "all" && std::string_view(name) != "weights");
           });
  };
  return {{.scores = names("scores"), .embeddings = names("embeddings")}, names("steps")};
}

// The folder's own name: where it lies is nobody's business who gets the picture.
std::string folder_name(const std::string& folder) {
  const std::filesystem::path path = (std::filesystem::absolute(folder) / "").lexically_normal();
  return path.parent_path().filename().string();
}

struct Lines {
  std::vector<std::string> lines;
  std::string name;  // for messages
};

Lines read_lines(const Viewed& viewed) {
  if (viewed.text) return {split_text_lines(*viewed.text, "--text"), "--text"};
  return {read_text_lines(viewed.input), text_name(viewed.input)};
}

std::string read_one_line(const char* option, const std::string& text) {
  const std::vector<std::string> lines = split_text_lines(text, option);
  HEED_CHECK(lines.size() <= 1, "{}: must be one line, but has {}", option, lines.size());
  return lines.empty() ? "" : lines.front();
}

// The views, if there are any, and a warning of lines that were too long.
Views checked(Views views, const Lines& read, LongLines treatment, std::span<const Index> too_long) {
  HEED_CHECK(!views.traces.empty(), "{}: {}there is no sentence to look at", read.name,
             read.lines.empty() ? "is empty: " : "");
  LongLineWarning warning(read.name, treatment);
  warning.add(too_long);
  warning.print();
  return views;
}

// --- Models of text --------------------------------------------------------------------------------------------------

class TextViews {
 public:
  TextViews(const Viewed& viewed, const ModelFolder& folder, const Wanted& wanted)
      : viewed_(viewed),
        folder_(folder),
        wanted_(wanted),
        search_(search_of(folder, viewed.beam)),
        options_{.crop = viewed.long_lines == LongLines::crop, .parts = wanted.parts} {}

  Views make(const CLI::App& sub) const {
    const auto refuse = [&](std::initializer_list<const char*> options, const char* what) {
      for (const char* option : options) {
        if (was_given(sub, option)) throw CLI::ValidationError(option, fmt::format("means nothing to {}", what));
      }
    };
    if (is_encoder(folder_)) {
      refuse({"--target", "--beam", "--gold", "--long-lines"}, "an encoder");
      return of_encoded();
    }
    refuse({"--text-pair"}, "a model with a decoder");
    if (folder_.model->has_source()) return viewed_.target ? of_given_pair() : of_translations();
    refuse({"--target", "--beam", "--gold"}, "a language model");
    return of_texts();
  }

 private:
  Views of_translations() const {
    const Lines read = read_lines(viewed_);
    Translator translator(folder_, viewed_.long_lines);
    ProgressLine translated("sentences translated", std::ssize(read.lines));
    const auto translations =
        translator.translate(read.lines, search_, read.name, 1, kBatchTokens, translated.listener());
    ProgressLine traced("sentences traced", std::ssize(read.lines));
    Views views;
    for (std::size_t i = 0; i < read.lines.size(); ++i) {
      const Translation& best = translations[i].front();
      traced.show(static_cast<Index>(i));
      views.translations.push_back(best.text);
      const bool was_read = !best.token_scores.empty();
      if (!was_read) continue;
      AttentionTrace trace = trace_pair(folder_, read.lines[i], best.tokens, options_);
      if (wanted_.steps) trace.steps = trace_search(folder_, read.lines[i], search_, options_.crop);
      views.traces.push_back(std::move(trace));
    }
    return checked(std::move(views), read, viewed_.long_lines, translator.long_lines());
  }

  Views of_given_pair() const {
    const std::string source = read_one_line("--text", *viewed_.text);
    const std::string target = read_one_line("--target", *viewed_.target);
    GoldAlignment gold;
    if (!viewed_.gold.empty()) {
      const std::string name = text_name(viewed_.gold);
      const auto lines = parse_gold_alignments(read_text_lines(viewed_.gold), {.name = name});
      HEED_CHECK(lines.size() == 1, "{}: must hold one line, of --text and --target, but holds {}", name, lines.size());
      gold = lines.front();
    }
    const AttentionTrace trace = trace_aligned_pair(folder_, source, target, gold, options_);
    return {{trace}, {folder_.target_vocabulary->decode(folder_.target_ids(target))}};
  }

  // What a language model attends to while it reads the lines.
  Views of_texts() const {
    const Lines read = read_lines(viewed_);
    ProgressLine traced("texts traced", std::ssize(read.lines));
    Views views;
    std::vector<Index> too_long;
    for (std::size_t i = 0; i < read.lines.size(); ++i) {
      traced.show(static_cast<Index>(i));
      const std::vector<int> ids = folder_.target_ids(read.lines[i]);
      const bool is_long = std::ssize(ids) > folder_.target_room(folder_.model->max_length());
      if (is_long) too_long.push_back(static_cast<Index>(i) + 1);
      if (ids.empty() || (is_long && viewed_.long_lines == LongLines::empty)) continue;
      views.traces.push_back(trace_text(folder_, ids, options_, fmt::format("{}:{}", read.name, i + 1)));
    }
    return checked(std::move(views), read, viewed_.long_lines, too_long);
  }

  Views of_encoded() const {
    const Lines read = read_lines(viewed_);
    Views views;
    for (const std::string& line : read.lines) {
      if (line.find_first_not_of(" \t") == std::string::npos) continue;
      // A tab parts two texts, as in other commands.
      const std::size_t tab = viewed_.text_pair ? std::string::npos : line.find('\t');
      const auto second = tab == std::string::npos ? viewed_.text_pair : std::optional(line.substr(tab + 1));
      views.traces.push_back(trace_encoded(folder_, line.substr(0, tab), second, wanted_.parts));
    }
    return checked(std::move(views), read, viewed_.long_lines, {});
  }

  const Viewed& viewed_;
  const ModelFolder& folder_;
  const Wanted& wanted_;
  BeamOptions search_;
  TraceOptions options_;
};

// Of a model that tells a picture's class, or of one that captions it.
Views view_of_image(const Viewed& viewed, const Wanted& wanted, const CLI::App& sub) {
  const Image image = read_image(viewed.image);
  if (!handles_text(describe_model_folder(viewed.of))) {
    for (const char* option : {"--target", "--beam"}) {
      if (was_given(sub, option)) throw CLI::ValidationError(option, "means nothing to a model that writes no caption");
    }
    return {{PictureClassifier(viewed.of).trace(image, wanted.parts)}, {}};
  }
  const ModelFolder folder = load_model_folder(viewed.of);
  const std::vector<int> ids =
      viewed.target ? folder.target_ids(*viewed.target)
                    : Captioner(folder).caption({&image, 1}, search_of(folder, viewed.beam)).front().front().tokens;
  const AttentionTrace trace = trace_caption(folder, image, ids, wanted.parts);
  return {{trace}, {trace.target.text}};
}

Views views_of(const Viewed& viewed, const Wanted& wanted, const CLI::App& sub) {
  if (!viewed.image.empty()) return view_of_image(viewed, wanted, sub);
  if (!viewed.sound.empty()) {
    const AttentionTrace trace = Transcriber(viewed.of).trace(
        read_wave(viewed.sound), {.beam = viewed.beam.value_or(BeamOptions().beam)}, wanted.parts);
    return {{trace}, {trace.target.text}};
  }
  const ModelFolder folder = load_model_folder(viewed.of, viewed.languages);
  return TextViews(viewed, folder, wanted).make(sub);
}

}  // namespace

bool is_trace_file(const std::string& path) {
  const std::string ending = name_ending(path);
  return ending == ".json" || ending == ".npz";
}

void add_viewed_options(CLI::App& sub, Viewed& viewed) {
  sub.add_option("model", viewed.of, "The model's folder; or a file of traces (.json, .npz), drawn without a model.");
  CLI::Option* text = sub.add_option(
      "--text", viewed.text, "The sentence to translate; for a language model or an encoder, the text that it reads.");
  sub.add_option("--text-pair", viewed.text_pair, "For an encoder such as BERT, the text that it reads behind --text.")
      ->needs(text);
  sub.add_option("--input", viewed.input, "Sentences, one a line; - is standard input.")->excludes(text);
  CLI::Option* target =
      sub.add_option("--target", viewed.target,
                     "Look at this translation of --text, or caption of --image, instead of the model's own.");
  sub.add_option("--gold", viewed.gold,
                 "A file with the alignment of --text and --target, a line of i-j (or ipj for a link that is only "
                 "possible), to show beside the model's.")
      ->needs(target)
      ->needs(text);
  add_beam(sub, viewed.beam);
  add_languages(sub, viewed.languages);
  add_long_lines(sub, viewed.long_lines);
  CLI::Option* image = sub.add_option("--image", viewed.image,
                                      "A PNG or JPEG file, for a model that sees: what its class is told by, "
                                      "or where it looks at each word of its caption.")
                           ->excludes(text);
  sub.add_option("--sound", viewed.sound, "A WAV file, for a model that hears: its first thirty seconds.")
      ->excludes(text)
      ->excludes(image);
  sub.add_option("--record", viewed.record,
                 "What to keep besides the weights: scores (queries, keys and biases), embeddings, steps (of the "
                 "search for a translation) or all; weights: nothing.")
      ->delimiter(',')
      ->check(CLI::IsMember({"weights", "scores", "embeddings", "steps", "all"}))
      ->default_str("all for a page, without what would make it too large; else weights");
}

std::vector<const char*> viewed_option_names() {
  return {"--text",       "--text-pair", "--input", "--target",        "--gold",        "--beam",
          "--long-lines", "--image",     "--sound", "--from-language", "--to-language", "--record"};
}

void check_viewed(const Viewed& viewed, const CLI::App& sub) {
  if (viewed.of.empty()) throw CLI::RequiredError("A model or a file of traces");
  const auto refuse_beside = [&](const char* what, const std::vector<const char*>& options) {
    for (const char* option : options) {
      if (was_given(sub, option)) throw CLI::ValidationError(option, fmt::format("means nothing with {}", what));
    }
  };
  if (is_trace_file(viewed.of)) {
    refuse_beside("a file of traces", viewed_option_names());
  } else if (!viewed.image.empty()) {
    refuse_beside("--image", {"--input", "--long-lines", "--from-language", "--to-language"});
  } else if (!viewed.sound.empty()) {
    refuse_beside("--sound", {"--input", "--target", "--long-lines", "--from-language", "--to-language"});
  } else if (viewed.text.has_value() == !viewed.input.empty()) {
    throw CLI::RequiredError("One of --text, --input, --image and --sound");
  }
  if (viewed.target && !viewed.text && viewed.image.empty()) {
    throw CLI::ValidationError("--target", "needs --text or --image");
  }
  if (viewed.target) refuse_beside("--target", {"--long-lines"});
}

std::vector<OptionFile> viewed_files(const Viewed& viewed) {
  if (is_trace_file(viewed.of)) return {{"the file of traces", viewed.of}};
  std::vector<OptionFile> files = model_inputs("the model", viewed.of);
  files.insert(
      files.end(),
      {{"--input", viewed.input}, {"--image", viewed.image}, {"--sound", viewed.sound}, {"--gold", viewed.gold}});
  return files;
}

Views make_views(const Viewed& viewed, bool for_page, const CLI::App& sub) {
  if (is_trace_file(viewed.of)) return {read_traces(viewed.of), {}};
  Views views = views_of(viewed, wanted(viewed, for_page), sub);
  for (AttentionTrace& trace : views.traces) trace.model = folder_name(viewed.of);
  if (!for_page || !viewed.record.empty()) return views;
  std::vector<AttentionTrace*> traces;
  for (AttentionTrace& trace : views.traces) traces.push_back(&trace);
  const std::string left_out = lighten(traces);
  if (!left_out.empty()) print_message(left_out + ": --record all keeps them");
  return views;
}

}  // namespace heed::cli
