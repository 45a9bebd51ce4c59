import "server-only";
import { readFile } from "node:fs/promises";

const preset = "@secretlint/secretlint-rule-preset-recommend";

/** The line with which the preset makes ready what finds words that its user allows. */
const allowing = "var regexpStringMatcherExports = requireRegexpStringMatcher();";
const allowingNone = "var regexpStringMatcherExports = { matchPatterns: () => [] };";

/**
 * For the bundler: Secretlint's rules are evaluated where a text has a word of theirs, which few have. Evaluating them takes 7 ms,
 * which each start of the client would wait for, and 0.8 MB. No words are allowed here, so that what would find them, 130 kB of
 * lodash, is left out.
 */
export const lazyPreset = {
  name: "lazy-preset",
  transform(code: string, id: string): string | undefined {
    if (id.includes(`/${preset}/`)) {
      const alone = code.replace(allowing, allowingNone);
      if (alone === code && code.includes("regexpStringMatcherExports"))
        throw new Error(`${id} is not as lazyPreset knows it`);
      return alone;
    }
    if (!id.endsWith("/lib/secrets/preset.ts")) return undefined;
    const lazy = code.replace(/^import \{ rules \} from .*$/m, "").replace("=> rules", `=> require("${preset}").rules`);
    if (!lazy.includes("require(")) throw new Error(`${id} is not as lazyPreset knows it`);
    return lazy;
  },
};

/** What the licenses of the packages in a bundle ask for, as a comment: their copyright and permission. */
export async function licenseOfPreset(): Promise<string> {
  const text = await readFile(`node_modules/${preset}/LICENSE`, "utf8");
  return `/*\nThis file contains ${preset}:\n\n${text.trim()}\n*/`;
}
