// The views, in the order of their tabs.
import { view as alignment } from "./alignment.js";
import { view as heads } from "./heads.js";
import { view as matrix } from "./matrix.js";
import { view as overview } from "./overview.js";
import { view as picture } from "./picture.js";
import { view as positions } from "./positions.js";
import { view as queryKey } from "./query_key.js";
import { view as steps } from "./steps.js";
import { view as walk } from "./walk.js";

export const views = [heads, matrix, overview, picture, alignment, queryKey, steps, positions, walk];
