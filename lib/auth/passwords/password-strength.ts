import { ZxcvbnFactory } from "@zxcvbn-ts/core";
import * as common from "@zxcvbn-ts/language-common";
import * as english from "@zxcvbn-ts/language-en";
import { passwordRule } from "#lib/auth/schema";

/** A long password only has to be uncommon. */
const long = 12;
/** zxcvbn's scores: up to 1 falls to a million guesses, from 3 on it takes a hundred million. */
const score = { trivial: 1, strong: 3 };

/**
 * zxcvbn's own limits let `4@8({[<` at 128 characters take 3 s; these take 0.1 s. A password is at least as strong as
 * its beginning.
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
 * @param about texts about the person and the server, whose words are easy to guess
 * @returns a sentence for the field; undefined if the password is good enough
 */
export function findWeakness(password: string, about: string[]): string | undefined {
  const words = [product, ...about].flatMap(splitWords);
  const { score: reached, feedback } = estimator.check(password, words);
  const rest = without(words, password);
  const least = rest === password ? reached : Math.min(reached, estimator.check(rest).score);
  if (least >= score.strong) return undefined;
  if (reached <= score.trivial) return ["Too easy to guess.", feedback.warning].filter(Boolean).join(" ");
  if (rest === password) return password.length >= long ? undefined : passwordRule;
  if (least > score.trivial && rest.length >= long) return undefined;
  return `${passwordRule} Words such as your name don’t count.`;
}

function without(words: string[], password: string): string {
  const longestFirst = words.toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((rest, word) => {
    const at = rest.toLowerCase().indexOf(word.toLowerCase());
    return at === -1 ? rest : without([word], rest.slice(0, at) + rest.slice(at + word.length));
  }, password);
}

/** Words of one or two letters would be found everywhere. */
const splitWords = (text: string) => [text, ...text.split(/[^\p{L}\p{N}]+/u)].filter((word) => word.length > 2);
