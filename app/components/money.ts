const dollars = new Intl.NumberFormat("en", { style: "currency", currency: "USD" });

/** Nano-dollars, short to read: "$1.23", "<$0.01". */
export function formatMoney(nano: number): string {
  return nano > 0 && nano < 5_000_000 ? "<$0.01" : dollars.format(nano / 1e9);
}
