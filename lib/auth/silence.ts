/** A client that runs in the background reports several times a day, so longer than a holiday's weekend is a silence. */
const silentAfterDays = 7;

/** Whether a machine that was last heard at a moment is silent by now. */
export const isSilentSince = (heardAt: Date, now: Date): boolean =>
  now.getTime() - heardAt.getTime() > silentAfterDays * 86_400_000;

type SeenToken = { machine: string; lastUsedAt: Date | null };

/** The machines whose every token is silent, each with when it was last heard; the longest silence first. */
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
