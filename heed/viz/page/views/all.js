// The views, in the order of their tabs.
import { view as alignment } from "./alignment.js";
import { view as heads } from "./heads.js";
import { view as matrix } from "./matrix.js";
import { view as overview } from "./overview.js";
import { view as picture } from "./picture.js";

export const views = [heads, matrix, overview, picture, alignment];
