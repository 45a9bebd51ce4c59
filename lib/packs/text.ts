/** The first characters (code points) of a text in UTF-8, as PostgreSQL's `left` counts them. */
export function firstCharacters(text: Buffer, max: number): Buffer {
  if (text.length <= max) return text;
  let characters = 0;
  for (let at = 0; at < text.length; at += 1) {
    const isContinuation = ((text[at] as number) & 0xc0) === 0x80;
    if (isContinuation) continue;
    if (characters === max) return text.subarray(0, at);
    characters += 1;
  }
  return text;
}

/** How many characters (code points) a text in UTF-8 has, as PostgreSQL's `length` counts them. */
export function countCharacters(text: Buffer): number {
  let characters = 0;
  for (let at = 0; at < text.length; at += 1) if (((text[at] as number) & 0xc0) !== 0x80) characters += 1;
  return characters;
}
