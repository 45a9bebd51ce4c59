// Other forms of English words, mostly shorter ones (`watching` → `watch`); longer ones are found by their beginning
// (expand.ts).

export function formsOfWord(word: string): string[] {
  if (!/^[a-z]{3,}$/i.test(word)) return [];
  const lower = word.toLowerCase();
  return [...new Set([...listNumberForms(lower), ...listEndings(lower)])];
}

function listNumberForms(word: string): string[] {
  if (/(?:ss|us|is)$/.test(word)) return [`${word}es`];
  if (/[^aeiou]ies$/.test(word)) return [`${word.slice(0, -3)}y`];
  if (/(?:s|x|z|ch|sh)es$/.test(word)) return [word.slice(0, -2), word.slice(0, -1)];
  if (word.endsWith("s")) return word.length > 3 ? [word.slice(0, -1)] : [];
  if (/[^aeiou]y$/.test(word)) return [`${word.slice(0, -1)}ies`];
  return [/(?:x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`];
}

/** For `resuming`, `resume` and `resumed`. A stem has three letters with a vowel and no `-eed`. */
function listEndings(word: string): string[] {
  const [, stem = "", ending = ""] = /^(.*[aeiouy].*)(ing|ed)$/.exec(word) ?? [];
  if (stem.length < 3) return /[^aeiou]e$/.test(word) && word.length > 4 ? [`${word.slice(0, -1)}ing`] : [];
  if (stem.endsWith("e")) return [];
  const single = /([^aeiousl])\1$/.test(stem) ? [stem.slice(0, -1)] : [];
  return [...single, stem, `${stem}e`, `${stem}${ending === "ing" ? "ed" : "ing"}`];
}
