import { ZxcvbnFactory } from "@zxcvbn-ts/core";
import * as common from "@zxcvbn-ts/language-common";
import * as english from "@zxcvbn-ts/language-en";

// Imported on demand, in the browser as well as on the server: the dictionaries are large.

/** From this many characters on, beside such words as its person's name, a password only has to be no common and no trivial one. */
const long = 12;
/** zxcvbn's score, 0 to 4: up to 1 it falls to a million guesses, from 3 on it takes a hundred million and more. */
const score = { trivial: 1, strong: 3 };

/**
 * What a judgement may cost: with zxcvbn's own limits (256 characters, 100 substitutions) 128 characters like `4@8({[<` take
 * 3 s, with these 0.1 s at most. A password can only be stronger than its beginning.
 */
const bounds = { maxLength: 40, l33tMaxSubstitutions: 5 };

const estimator = new ZxcvbnFactory({
  ...bounds,
  dictionary: { ...common.dictionary, ...english.dictionary },
  graphs: common.adjacencyGraphs,
  translations: english.translations,
});

const product = "Spoor";

/**
 * Why a new password is too weak, as a sentence for its field; undefined where it is good enough.
 *
 * @param about texts about the person and the server, such as name, address and host: their words, and the product's name,
 *   are as easy to guess as a common password.
 */
export function findWeakness(password: string, about: string[]): string | undefined {
  const words = [product, ...about].flatMap(splitWords);
  const { score: reached, feedback } = estimator.check(password, words);
  const rest = without(words, password);
  const least = rest === password ? reached : Math.min(reached, estimator.check(rest).score);
  if (least >= score.strong) return undefined;
  if (reached <= score.trivial) return ["Too easy to guess.", feedback.warning].filter(Boolean).join(" ");
  if (rest === password) return password.length >= long ? undefined : `Use at least ${long} characters, ${harder}`;
  if (least > score.trivial && rest.length >= long) return undefined;
  return `Use at least ${long} characters beside words such as your name, ${harder}`;
}

const harder = "or something harder to guess.";

/** A password without such words: what is left has to be good enough by itself. */
function without(words: string[], password: string): string {
  const longestFirst = words.toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((rest, word) => {
    const at = rest.toLowerCase().indexOf(word.toLowerCase());
    return at === -1 ? rest : without([word], rest.slice(0, at) + rest.slice(at + word.length));
  }, password);
}

/** A text and its words; the shortest would be found in everything. */
const splitWords = (text: string) => [text, ...text.split(/[^\p{L}\p{N}]+/u)].filter((word) => word.length > 2);
