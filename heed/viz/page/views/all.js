// The views, in the order of their tabs.
import { view as heads } from "./heads.js";

export const views = [heads];
