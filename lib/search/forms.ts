// The other forms of an English word: of a noun its number, of a verb its endings. Longer words that begin with a word are found
// anyway (lib/search/expand.ts), so that these are mostly the shorter ones: of `watching` it is `watch`.

/** The other forms in which a word is found. */
export function formsOfWord(word: string): string[] {
  if (!/^[a-z]{3,}$/i.test(word)) return [];
  const lower = word.toLowerCase();
  return [...new Set([...listNumberForms(lower), ...listEndings(lower)])];
}

/** The singular of an English plural, and the plurals of a singular. */
function listNumberForms(word: string): string[] {
  if (/(?:ss|us|is)$/.test(word)) return [`${word}es`];
  if (/[^aeiou]ies$/.test(word)) return [`${word.slice(0, -3)}y`];
  if (/(?:s|x|z|ch|sh)es$/.test(word)) return [word.slice(0, -2), word.slice(0, -1)];
  if (word.endsWith("s")) return word.length > 3 ? [word.slice(0, -1)] : [];
  if (/[^aeiou]y$/.test(word)) return [`${word.slice(0, -1)}ies`];
  return [/(?:x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`];
}

/** Of `resuming` and `resumed` that is `resume` and the other one; a stem has three letters, one of them a vowel, and no `-eed`. */
function listEndings(word: string): string[] {
  const [, stem = "", ending = ""] = /^(.*[aeiouy].*)(ing|ed)$/.exec(word) ?? [];
  if (stem.length < 3) return /[^aeiou]e$/.test(word) && word.length > 4 ? [`${word.slice(0, -1)}ing`] : [];
  if (stem.endsWith("e")) return [];
  const single = /([^aeiousl])\1$/.test(stem) ? [stem.slice(0, -1)] : [];
  return [...single, stem, `${stem}e`, `${stem}${ending === "ing" ? "ed" : "ing"}`];
}
