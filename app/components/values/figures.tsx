const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const exact = new Intl.NumberFormat("en");

/** "412", "1.2M" */
export const formatCompact = (count: number) => compact.format(count);

export const formatCount = (count: number) => exact.format(count);

export { formatQuantity } from "#lib/transcript/text";

export function Figure({ count, unit }: { count: number; unit: string }) {
  return (
    <span title={`${exact.format(count)} ${unit}`} className="whitespace-nowrap">
      {formatCompact(count)} <span className="text-muted">{unit}</span>
    </span>
  );
}
