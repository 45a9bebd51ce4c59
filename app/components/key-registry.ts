/** A key, or keys one after the other with a space between ("g t"), by the names of `KeyboardEvent.key`. */
export type KeyBinding = { keys: string; does: string; run: () => void };

/** The keys of one part of a page, under the title that the help shows them with. */
export type KeyGroup = { title: string; bindings: KeyBinding[] };

const groups: KeyGroup[] = [];

/** Adds a group; of equal keys the last added one wins. @returns a function that removes the group */
export function addKeys(group: KeyGroup): () => void {
  groups.push(group);
  return () => {
    groups.splice(groups.indexOf(group), 1);
  };
}

/** All current keys, the page's own first. */
export function knownKeys(): KeyGroup[] {
  return groups.toReversed();
}

/**
 * Looks up a key, after those that were pressed just before it.
 *
 * @param before the keys of an unfinished sequence, separated by spaces, or "".
 * @returns the binding to run, or the sequence so far if more may follow, or neither.
 */
export function readKey(before: string, key: string): { binding?: KeyBinding; begun: string } {
  const sequence = before === "" ? key : `${before} ${key}`;
  const bindings = knownKeys().flatMap((group) => group.bindings);
  const binding = bindings.find(({ keys }) => keys === sequence);
  if (binding) return { binding, begun: "" };
  if (bindings.some(({ keys }) => keys.startsWith(`${sequence} `))) return { begun: sequence };
  return before === "" ? { begun: "" } : readKey("", key);
}
