export type Titled = { customTitle: string | null; title: string | null; derivedTitle: string | null };

/** The person's title wins over the agent's, and that over the derived one. */
export const getTitle = ({ customTitle, title, derivedTitle }: Titled): string | null =>
  customTitle ?? title ?? derivedTitle;
