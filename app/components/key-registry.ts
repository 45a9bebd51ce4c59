/** A key, or keys one after the other with a space between ("g t"), by the names of `KeyboardEvent.key`. */
export type KeyBinding = { keys: string; does: string; run: () => void };

/** The keys of one part of a page, under the title that the help shows them with. */
export type KeyGroup = { title: string; bindings: KeyBinding[] };

const groups: KeyGroup[] = [];

/** Adds a group; among equal keys the one added last is meant. @returns takes the group away again */
export function addKeys(group: KeyGroup): () => void {
  groups.push(group);
  return () => {
    groups.splice(groups.indexOf(group), 1);
  };
}

/** What can be pressed right now, the page's own keys first. */
export function knownKeys(): KeyGroup[] {
  return groups.toReversed();
}

/**
 * What a key means after those that were pressed just before it.
 *
 * @param before the keys of a sequence that was begun, with spaces between, or nothing.
 * @returns the binding to run, or the sequence as it stands where more may follow, or neither.
 */
export function readKey(before: string, key: string): { binding?: KeyBinding; begun: string } {
  const sequence = before === "" ? key : `${before} ${key}`;
  const bindings = knownKeys().flatMap((group) => group.bindings);
  const binding = bindings.find(({ keys }) => keys === sequence);
  if (binding) return { binding, begun: "" };
  if (bindings.some(({ keys }) => keys.startsWith(`${sequence} `))) return { begun: sequence };
  return before === "" ? { begun: "" } : readKey("", key);
}
