const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;

/** Formats a whole number as "12,345"; loading Intl would take 20 ms. */
export const formatNumber = (value: number): string => String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");

/** "1 session", "2 sessions". */
export const formatCount = (count: number, noun: string): string =>
  `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;

/** "0:07" for seven seconds. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** "512 bytes", "1.2 MiB". */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  const [divisor, unit] = bytes < KiB * 1000 ? [KiB, "KiB"] : bytes < MiB * 1000 ? [MiB, "MiB"] : [GiB, "GiB"];
  const amount = bytes / divisor;
  return `${amount < 10 ? amount.toFixed(1) : Math.round(amount)} ${unit}`;
}

/** "12 pictures (3.4 MiB)". */
export const formatPictures = ({ pictures, pictureBytes }: { pictures: number; pictureBytes: number }): string =>
  `${formatCount(pictures, "picture")} (${formatBytes(pictureBytes)})`;

/** "a, b and 12 more". */
export function formatList(items: readonly string[], max = 10): string {
  const more = items.length - max;
  return more > 0 ? `${items.slice(0, max).join(", ")} and ${formatNumber(more)} more` : items.join(", ");
}
