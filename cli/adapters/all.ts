import type { Adapter } from "./adapter.ts";
import { jsonl } from "./jsonl.ts";

/** Every adapter, in the order in which they are shown. */
export const adapters: readonly Adapter[] = [jsonl];
