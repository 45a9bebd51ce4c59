/** A title's three origins, as a trace's row has them. */
export type Titled = { customTitle: string | null; title: string | null; derivedTitle: string | null };

/** What a session is called: as a person named it, else as the agent did, else as is derived from its messages. */
export const getTitle = ({ customTitle, title, derivedTitle }: Titled): string | null =>
  customTitle ?? title ?? derivedTitle;
