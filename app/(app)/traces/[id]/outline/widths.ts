export const widthCookie = "spoor_outline";

/** In rem; app/styles/reader.css has a rule for each. */
export const widths = { min: 12, max: 32, usual: 20 };

export function asWidth(value: unknown): number {
  const width = Math.round(Number(value));
  return Number.isFinite(width) && value ? Math.min(widths.max, Math.max(widths.min, width)) : widths.usual;
}
