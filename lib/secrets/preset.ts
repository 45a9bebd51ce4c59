import { rules } from "@secretlint/secretlint-rule-preset-recommend";

type Rule = (typeof rules)[number];

/** The rules of Secretlint's recommended preset. Built programs evaluate them with the first call (lib/server/lazy-preset.ts). */
export const presetRules = (): readonly Rule[] => rules;
