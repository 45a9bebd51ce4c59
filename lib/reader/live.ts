/** A session whose last activity is not longer ago goes on, as far as anybody can tell: agents think for minutes. */
const liveMinutes = 10;

export function isLive(updatedAt: string, now = Date.now()): boolean {
  const age = now - Date.parse(updatedAt);
  return age < liveMinutes * 60_000 && age > -liveMinutes * 60_000;
}
