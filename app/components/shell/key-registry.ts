/** `keys` is a `KeyboardEvent.key`, or several in sequence ("g t"). */
export type KeyBinding = { keys: string; does: string; run: () => void };

export type KeyGroup = { title: string; bindings: KeyBinding[] };

const groups: KeyGroup[] = [];

export function addKeys(group: KeyGroup): () => void {
  groups.push(group);
  return () => {
    groups.splice(groups.indexOf(group), 1);
  };
}

export function knownKeys(): KeyGroup[] {
  return groups.toReversed();
}

/** @param before the unfinished sequence, separated by spaces */
export function readKey(before: string, key: string): { binding?: KeyBinding; begun: string } {
  const sequence = before === "" ? key : `${before} ${key}`;
  const bindings = knownKeys().flatMap((group) => group.bindings);
  const binding = bindings.find(({ keys }) => keys === sequence);
  if (binding) return { binding, begun: "" };
  if (bindings.some(({ keys }) => keys.startsWith(`${sequence} `))) return { begun: sequence };
  return before === "" ? { begun: "" } : readKey("", key);
}
