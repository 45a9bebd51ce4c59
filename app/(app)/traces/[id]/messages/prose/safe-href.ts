/** Accepts addresses that the browser will read as web or mail links. */
export function safeHref(address: string | undefined): string | undefined {
  if (!address || address.length > 4096) return undefined;
  if (!/^(?:https?:\/\/|mailto:)/i.test(address) || !URL.canParse(address)) return undefined;
  return address;
}
