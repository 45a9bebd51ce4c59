import { isEcho } from "#lib/transcript/titles/injected";
import { shortTitle } from "#lib/transcript/titles/short-title";

export type Titled = { customTitle: string | null; title: string | null; derivedTitle: string | null };

/** The person's title wins over the agent's, and that over the derived one. */
export const getTitle = ({ customTitle, title, derivedTitle }: Titled): string | null =>
  customTitle ?? title ?? derivedTitle;

/** Returns the title for pages. The ledger may not have written `shortTitle` yet. */
export function getShownTitle({ customTitle, title, derivedTitle, ...row }: Titled & { shortTitle: string | null }) {
  const given = title ?? derivedTitle;
  return customTitle ?? row.shortTitle ?? (given === null ? null : shortTitle(given));
}

/**
 * The agent's title wins over the subject of the only commit, and that over the derived title.
 * @param subjects of the commits that the session itself made
 */
export function chooseShortTitle(
  { title, derivedTitle }: Pick<Titled, "title" | "derivedTitle">,
  subjects: string[],
): string | null {
  const sent = title !== null && !saysNothing(title) ? title : undefined;
  const [subject] = subjects.length === 1 && subjects[0] && tells(subjects[0]) ? subjects : [];
  const best = sent ?? subject ?? derivedTitle ?? title;
  return best && shortTitle(best);
}

const nothing = /^(?:hi|hello|hey|yes|y|ok|okay|go|continue|new (?:chat|session|conversation)|untitled(?: \w+)?)\W*$/i;

/** One-word names such as "build" may be a person's. */
const saysNothing = (title: string) => nothing.test(title.trim()) || isEcho(title);

const routine =
  /^(?:merge\b|wip\b|(?:fixup|squash|amend)!|bump\b|release\b|checkpoint\b|save\b|te?mp\b|v?\d|initial commit)/i;
const tells = (subject: string) => !routine.test(subject) && /(?:\S+\s+){2}\S/.test(subject);
