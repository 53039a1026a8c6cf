#include "evaluate_captions.h"

#include <fmt/core.h>

#include <vector>

#include "heed/base/check.h"
#include "heed/base/text_lines.h"
#include "heed/io/json.h"
#include "heed/tasks/picture_corpus.h"
#include "heed/tasks/picture_list.h"
#include "numbers.h"
#include "output.h"

namespace heed::cli {
namespace {

void check_count(const std::string& list, std::size_t pictures, const std::string& file, std::size_t lines) {
  HEED_CHECK(pictures == lines, "{} has {} lines, but {} has {}", list, pictures, text_name(file), lines);
}

}  // namespace

void add_caption_options(CLI::App& sub, EvaluateCaptions& command, CLI::Option* model) {
  CLI::Option* places = sub.add_option("--places", command.places,
                                       "Also tell how many nouns of the references attend most to a patch within the "
                                       "thing that they name: places as heed corpus --kind pictures writes them.");
  CLI::Option* layer = add_number(sub, "--layer", command.look.layer,
                                  "With --places: the decoder's layer, counted from 0; the last where it is not given.",
                                  NumberRange::at_least(0));
  CLI::Option* head = add_number(sub, "--head", command.look.head,
                                 "With --places: the head, counted from 0; the mean of all where it is not given.",
                                 NumberRange::at_least(0));
  places->needs(model);
  layer->needs(places);
  head->needs(places);
  for (CLI::Option* option : {places, layer, head}) option->group("Captions");
}

void evaluate_captions(const EvaluateCaptions& command, const ModelFolder& model, const std::string& pictures,
                       const std::string& references, bool json) {
  const PictureList list = read_picture_list(pictures);
  const std::vector<std::string> captions = read_text_lines(references);
  check_count(pictures, list.images.size(), references, captions.size());
  std::vector<std::vector<PlacedWord>> places;
  if (!command.places.empty()) {
    places = read_places(command.places, captions);
  }
  const CaptionScore score = score_captions(model, list.images, captions, places, command.look);
  if (json) {
    Json object = Json::object({{"captions", score.captions}, {"exact", score.exact}});
    if (!places.empty()) object.set("nouns", score.nouns), object.set("found", score.found);
    return print_line(object.dump(2));
  }
  print_line(
      fmt::format("exact captions = {:.2f} % ({} of {})", 100 * score.exact_share(), score.exact, score.captions));
  if (!places.empty()) {
    print_line(fmt::format("nouns that look at their thing = {:.2f} % ({} of {})", 100 * score.noun_share(),
                           score.found, score.nouns));
  }
}

}  // namespace heed::cli
