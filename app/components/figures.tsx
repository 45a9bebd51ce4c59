const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const exact = new Intl.NumberFormat("en");

/** A number that may be large, short to read: "412", "1.2M". */
export const formatCompact = (count: number) => compact.format(count);

export const formatCount = (count: number) => exact.format(count);

export { countOf } from "#lib/reader/text";

/** A number that may be large: short to read, exact in its title. */
export function Figure({ count, unit }: { count: number; unit: string }) {
  return (
    <span title={`${exact.format(count)} ${unit}`} className="whitespace-nowrap">
      {formatCompact(count)} <span className="text-muted">{unit}</span>
    </span>
  );
}

/** Bytes in the unit that leaves at most three digits: "812 B", "19.4 MB". */
export function formatBytes(bytes: number): string {
  const units = ["B", "KB", "MB", "GB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(value < 100 ? 1 : 0)} ${units[power]}`;
}
