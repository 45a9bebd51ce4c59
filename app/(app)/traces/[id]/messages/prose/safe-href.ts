/** A link's address, if it leads to the web or to a mailbox, as the browser will read it. */
export function safeHref(address: string | undefined): string | undefined {
  if (!address || address.length > 4096) return undefined;
  if (!/^(?:https?:\/\/|mailto:)/i.test(address) || !URL.canParse(address)) return undefined;
  return address;
}
