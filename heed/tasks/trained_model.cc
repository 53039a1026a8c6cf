#include "heed/tasks/trained_model.h"

#include "heed/layers/drawn_parameters.h"
#include "heed/layers/given_parameters.h"
#include "heed/layers/low_rank.h"
#include "heed/tasks/adapter_folder.h"
#include "heed/tasks/model_folder.h"

namespace heed {

TrainedModel make_trained_model(const TrainOptions& options, const ModelConfig& config, const TextCodec& codec,
                                const TrainingStart* start) {
  const Rng rng(static_cast<std::uint64_t>(options.seed), /*stream=*/1);
  TrainedModel trained;
  trained.config = folder_config(config, codec);
  if (start == nullptr) {
    DrawnParameters drawn(rng);
    trained.model = make_model(drawn, config);
    trained.parameters = drawn.list();
  } else if (options.low_rank.rank == 0) {
    GivenParameters given(trainable(start->model.parameters), start->path.string());
    trained.model = make_model(given, config);
    trained.parameters = given.list();
  } else {
    trained.parameters = draw_factors(start->model.parameters, options.low_rank, rng);
    GivenParameters given(adapted(start->model.parameters, trained.parameters, options.low_rank), start->path.string());
    trained.model = make_model(given, config);
    trained.config = to_json(Adapter{start->path, start->fingerprint, options.low_rank});
  }
  return trained;
}

}  // namespace heed
