import type { Standing } from "#lib/traces/live";

const words = { waiting: "Agent is waiting", asking: "Agent asks" } as const;

export const standingText = (waiting: Standing["waiting"]): string => (waiting ? words[waiting] : "Live");
