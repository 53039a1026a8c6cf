// The walks, in the order in which they build on each other.
import { walk as attention } from "./attention.js";
import { walk as bahdanau } from "./bahdanau.js";
import { walk as flashAttention } from "./flash_attention.js";
import { walk as groupedQueries } from "./grouped_queries.js";
import { walk as luong } from "./luong.js";
import { walk as masks } from "./masks.js";
import { walk as thinkingMachines } from "./thinking_machines.js";
import { walk as windows } from "./windows.js";

export const walks = [attention, thinkingMachines, masks, bahdanau, luong, groupedQueries, flashAttention, windows];
