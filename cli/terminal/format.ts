const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;

/** Formats a whole number as "12,345"; loading Intl would take 20 ms. */
export const formatNumber = (value: number): string => String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");

export const formatCount = (count: number, noun: string, plural = `${noun}s`): string =>
  `${formatNumber(count)} ${count === 1 ? noun : plural}`;

export function formatDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  const [divisor, unit] = bytes < KiB * 1000 ? [KiB, "KiB"] : bytes < MiB * 1000 ? [MiB, "MiB"] : [GiB, "GiB"];
  const amount = bytes / divisor;
  return `${amount < 10 ? amount.toFixed(1) : Math.round(amount)} ${unit}`;
}

export const formatPictures = ({ pictures, pictureBytes }: { pictures: number; pictureBytes: number }): string =>
  `${formatCount(pictures, "picture")} (${formatBytes(pictureBytes)})`;

export function formatList(items: readonly string[], max = 10): string {
  const more = items.length - max;
  return more > 0 ? `${items.slice(0, max).join(", ")} and ${formatNumber(more)} more` : items.join(", ");
}
