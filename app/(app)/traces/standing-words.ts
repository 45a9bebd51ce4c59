import type { Standing } from "#lib/traces/messages";

const words = { waiting: "Agent is waiting", asking: "Agent asks" } as const;

/** How a session stands that goes on, on every page in the same words. */
export const standingText = (waiting: Standing["waiting"]): string => (waiting ? words[waiting] : "Live");
