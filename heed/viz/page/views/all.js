// The views, in the order of their tabs.
import { view as heads } from "./heads.js";
import { view as matrix } from "./matrix.js";
import { view as overview } from "./overview.js";

export const views = [heads, matrix, overview];
