// Sessions with secrets that are made up, and what is to be seen of them in a text.
import { formed } from "../../unit/secrets/made-up.ts";
import { planted } from "../../unit/secrets/planted.ts";

/** What is certain to be a secret, however it stands in a session, and what only may be one. */
export const certain = formed.map(([, secret]) => secret);
export const likely = ["Tr0ub4dorx3zyx9", "kx9vQ2mZ7pLd41"];
export const all = [...certain, ...likely];
const others = planted.map(({ secret }) => secret);
export const everything = [...all, ...others];

const said = (text: string, position: number) => ({
  position,
  role: position % 2 === 0 ? "user" : "assistant",
  content: `$ cat .env\n${text}`,
  metadata: { tool: { name: "Bash", input: { command: `echo ${text}` }, result: [text, { text }] } },
});
/** A session with every secret, as a client sends it that masks nothing. */
export const leaking = (sourceId: string, ...more: string[]) => ({
  sourceId,
  title: `fix ${certain[1]}`,
  project: `api ${certain[2]}`,
  metadata: { env: { GITHUB_TOKEN: certain[1], [`${certain[3]}`]: 1 }, branch: certain[4] },
  messages: [
    ...certain,
    `password: "${likely[0]}"`,
    `db_password = "${likely[1]}"`,
    ...planted.map(({ text }) => text),
    ...more,
  ].map(said),
});

/**
 * A value, and its longest run of letters and digits: what is to be seen of it where its other signs are escaped, its lines broken or
 * its words made lower-case.
 */
export const getTraces = (value: string): string[] => {
  const run = (value.match(/[a-z\d]+/gi) ?? []).reduce((longest, one) => (one.length > longest.length ? one : longest));
  return run.length < 16 || run === value ? [value] : [value, run];
};
/** The values that a text has, in whatever case. */
export const without = (text: string, values: string[]) => {
  const lower = text.toLowerCase();
  return values.filter((value) => getTraces(value).some((one) => lower.includes(one.toLowerCase())));
};
