/** How many bytes each picture has, by its hash. */
export type PictureBytes = Record<string, number>;

/** How many different pictures there are, and their bytes. */
export function countPictures(parts: Iterable<PictureBytes>): { pictures: number; pictureBytes: number } {
  const sizes = Object.values(Object.assign({}, ...parts) as PictureBytes);
  return { pictures: sizes.length, pictureBytes: sizes.reduce((sum, bytes) => sum + bytes, 0) };
}
