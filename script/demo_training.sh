# shellcheck shell=bash disable=SC2034  # read by script/demo and script/attention-variants
# How the demo's models are trained; what only a Transformer has stands alone.
demo_training=(--preset tiny --vocabulary-size 2000 --batch-tokens 2500 --rate 0.006 --warmup 200 --dropout 0.05
  --max-updates 1560 --validate-every 130 --validation-sentences 200 --average 3)
demo_transformer=(--heads 8 --attention-dropout 0)
