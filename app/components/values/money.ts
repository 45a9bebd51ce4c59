import "server-only";
import { ownPrices } from "#lib/prices/own";

const nano = 1_000_000_000;
const formats = new Map<string, Intl.NumberFormat>();

const sizes: [below: number, options: Intl.NumberFormatOptions][] = [
  [0.01, { maximumSignificantDigits: 2 }],
  [1000, { minimumFractionDigits: 2, maximumFractionDigits: 2 }],
  [Number.POSITIVE_INFINITY, { maximumFractionDigits: 0 }],
];

/** In dollars; smaller amounts are shown as "less than". */
const least = 0.0001;

/** "$0.0042", "$1.23", "$12,345" */
export function formatMoney(nanoDollars: number): string {
  const { amount, format } = shown(nanoDollars);
  const size = Math.abs(amount);
  if (size > 0 && size < least) return `<${format({ maximumSignificantDigits: 1 }).format(least)}`;
  if (size === 0) return format({ maximumFractionDigits: 0 }).format(0);
  const rounded = size >= 0.00995 && size < 0.01 ? 0.01 : size >= 999.995 && size < 1000 ? 1000 : size;
  const [, options = {}] = sizes.find(([below]) => rounded < below) ?? [];
  return format(options).format(amount);
}

/** "$1.2K" */
export function formatMoneyShort(nanoDollars: number): string {
  const { amount, format } = shown(nanoDollars);
  if (Math.abs(amount) < 1000) return formatMoney(nanoDollars).replace(/\.00$/, "");
  return format({ notation: "compact", maximumFractionDigits: 1 }).format(amount);
}

/** All have as many digits: "$0.005", "$0.010", "$0.015". */
export function formatMoneyAxis(nanoDollars: number[]): string[] {
  const amounts = nanoDollars.map((one) => shown(one).amount);
  if (amounts.some((amount) => Math.abs(amount) >= 1000)) return nanoDollars.map(formatMoneyShort);
  const isTold = (digits: number) =>
    amounts.every((amount) => Math.abs(Number(amount.toFixed(digits)) - amount) < 1e-9);
  const least = Math.min(...amounts.filter((amount) => amount > 0));
  const needed = [0, 1, 2, 3, 4, 5].find(isTold) ?? Math.max(2, 1 - Math.floor(Math.log10(least)));
  const digits = needed === 1 ? 2 : needed;
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return nanoDollars.map((one) => (one === 0 ? formatMoney(0) : shown(one).format(options).format(shown(one).amount)));
}

function shown(nanoDollars: number) {
  const { code, perDollar } = ownPrices().currency;
  const format = (options: Intl.NumberFormatOptions) => {
    const key = JSON.stringify([code, options]);
    const known = formats.get(key) ?? new Intl.NumberFormat("en-US", { style: "currency", currency: code, ...options });
    formats.set(key, known);
    return known;
  };
  return { amount: (nanoDollars / nano) * perDollar, format };
}
