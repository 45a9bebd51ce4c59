/** A background client reports several times a day; a long weekend is no silence. */
const silentAfterDays = 7;

export const isSilentSince = (heardAt: Date, now: Date): boolean =>
  now.getTime() - heardAt.getTime() > silentAfterDays * 86_400_000;

type SeenToken = { machine: string; lastUsedAt: Date | null };

/** Longest silence first. */
export function silentMachines(tokens: SeenToken[], now: Date): { machine: string; heardAt: Date }[] {
  const heard = new Map<string, Date | undefined>();
  for (const { machine, lastUsedAt } of tokens) {
    const known = heard.get(machine);
    if (!known || (lastUsedAt && lastUsedAt > known)) heard.set(machine, lastUsedAt ?? known);
  }
  return [...heard]
    .flatMap(([machine, heardAt]) => (heardAt && isSilentSince(heardAt, now) ? [{ machine, heardAt }] : []))
    .sort((a, b) => a.heardAt.getTime() - b.heardAt.getTime());
}
