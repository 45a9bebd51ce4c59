// The questions that were asked in this browser, which it alone keeps: of each account apart, until nobody is signed in.

const prefix = "spoor.searches";
const max = 20;

const storageKey = (userId: string) => `${prefix}.${userId}`;

/** What an account's person asked in this browser, the latest first. */
export function keptSearches(userId: string): string[] {
  try {
    const known: unknown = JSON.parse(localStorage.getItem(storageKey(userId)) ?? "[]");
    return Array.isArray(known) ? known.filter((one) => typeof one === "string") : [];
  } catch {
    return []; // a browser that keeps nothing
  }
}

/** Keeps a question as the latest one, in the place of those that it was typed from. */
export function keepSearch(userId: string, q: string): void {
  const others = keptSearches(userId).filter((one) => !q.startsWith(one) && one !== q);
  try {
    localStorage.setItem(storageKey(userId), JSON.stringify([q, ...others].slice(0, max)));
  } catch {
    // a browser that keeps nothing
  }
}

/** Forgets the questions of every account. */
export function forgetSearches(): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(prefix)) localStorage.removeItem(key);
  } catch {
    // a browser that keeps nothing
  }
}
