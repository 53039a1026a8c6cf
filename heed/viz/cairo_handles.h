// What Cairo makes, which goes with its handle.
#pragma once

#include <cairo.h>

#include <memory>

namespace heed {

struct DestroyCairo {
  void operator()(cairo_t* context) const { cairo_destroy(context); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
using CairoContext = std::unique_ptr<cairo_t, DestroyCairo>;
using CairoSurface = std::unique_ptr<cairo_surface_t, DestroyCairo>;

}  // namespace heed
