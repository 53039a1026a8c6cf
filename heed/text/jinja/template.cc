#include "heed/text/jinja/template.h"

#include "heed/text/jinja/evaluator.h"
#include "heed/text/jinja/globals.h"
#include "heed/text/jinja/parser.h"

namespace heed::jinja {

Template::Template(std::string_view source, std::string place) : place_(std::move(place)) {
  Run run(place_);
  block_ = parse(source, run);
}

std::string Template::render(const std::function<Names(Run&)>& names) const {
  Run run(place_);
  const auto scope = std::make_shared<Scope>();
  scope->keep(run);
  set_globals(run, *scope);
  for (auto& [name, value] : names(run)) scope->set(name, std::move(value));
  return carried_out(run, block_, scope);
}

}  // namespace heed::jinja
