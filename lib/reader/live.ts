/** Agents may think for minutes, so a session counts as live this long after its last activity. */
const liveMinutes = 10;

export function isLive(updatedAt: string, now = Date.now()): boolean {
  const age = now - Date.parse(updatedAt);
  return age < liveMinutes * 60_000 && age > -liveMinutes * 60_000;
}
