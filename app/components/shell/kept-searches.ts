// Searches stay in this browser, by account, until sign-out.

const prefix = "spoor.searches";
const max = 20;

const storageKey = (userId: string) => `${prefix}.${userId}`;

export function keptSearches(userId: string): string[] {
  try {
    const known: unknown = JSON.parse(localStorage.getItem(storageKey(userId)) ?? "[]");
    return Array.isArray(known) ? known.filter((one) => typeof one === "string") : [];
  } catch {
    return []; // storage is disabled
  }
}

export function keepSearch(userId: string, q: string): void {
  const others = keptSearches(userId).filter((one) => !q.startsWith(one) && one !== q);
  try {
    localStorage.setItem(storageKey(userId), JSON.stringify([q, ...others].slice(0, max)));
  } catch {
    // storage is disabled
  }
}

export function forgetSearches(): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(prefix)) localStorage.removeItem(key);
  } catch {
    // storage is disabled
  }
}
