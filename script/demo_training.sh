# shellcheck shell=bash disable=SC2034  # read by script/demo and script/attention-variants
# How the demo's models are trained, but for their heads, which recurrent ones do not have.
demo_training=(--preset tiny --vocabulary-size 2000 --batch-tokens 2500 --rate 0.006 --warmup 200 --dropout 0.05 --attention-dropout 0
  --max-updates 1560 --validate-every 130 --validation-sentences 200 --average 3)
demo_heads=(--heads 8)
