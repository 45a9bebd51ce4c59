/** Neighbours in groups whose sizes stay within a sum, or of one that is larger. */
export function groupsOf<T extends { bytes: number }>(items: T[], max: number): T[][] {
  const groups: T[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of items) {
    bytes += item.bytes;
    if (bytes > max) {
      groups.push([]);
      bytes = item.bytes;
    }
    groups.at(-1)?.push(item);
  }
  return groups;
}
