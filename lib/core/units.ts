/** Formats bytes in the unit that leaves at most three digits: "812 B", "19.4 MB". */
export function formatBytes(bytes: number): string {
  const units = ["B", "KB", "MB", "GB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(value < 100 ? 1 : 0)} ${units[power]}`;
}
