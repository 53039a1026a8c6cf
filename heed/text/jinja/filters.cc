#include "heed/text/jinja/filters.h"

#include <algorithm>

#include "heed/base/printable.h"
#include "heed/text/jinja/item_filters.h"
#include "heed/text/jinja/printing.h"
#include "heed/text/jinja/text_filters.h"
#include "heed/text/jinja/texts.h"

namespace heed::jinja {
namespace {

const Filter* filter_of(std::string_view name) {
  for (const std::vector<Filter>* filters : {&text_filters(), &item_filters()}) {
    const auto found = std::ranges::find(*filters, name, &Filter::name);
    if (found != filters->end()) return &*found;
  }
  return nullptr;
}

}  // namespace

Value filtered(Run& run, std::string_view name, const Value& value, const Arguments& arguments) {
  run.spend(1);
  if (const Filter* filter = filter_of(name)) {
    return filter->apply(run, value, arguments.bound(run, name, filter->parameters));
  }
  if (name == "format") {
    if (!arguments.named.empty()) run.refuse("'format' is read with values without names");
    return Value(formatted(run, printed(run, value), arguments.positional));
  }
  if (auto made = filtered_by_another(run, name, value, arguments)) return *std::move(made);
  run.refuse("the filter '{}' is not known here", printable(name));
}

}  // namespace heed::jinja
