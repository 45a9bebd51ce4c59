/** The address of a link as the browser will read it, where it leads to the web or to a mailbox; else undefined. */
export function safeHref(address: string | undefined): string | undefined {
  if (!address || address.length > 4096) return undefined;
  if (!/^(?:https?:\/\/|mailto:)/i.test(address) || !URL.canParse(address)) return undefined;
  return address;
}
