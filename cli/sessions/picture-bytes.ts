export type PictureBytes = Record<string, number>;

export function countPictures(parts: Iterable<PictureBytes>): { pictures: number; pictureBytes: number } {
  const sizes = Object.values(Object.assign({}, ...parts) as PictureBytes);
  return { pictures: sizes.length, pictureBytes: sizes.reduce((sum, bytes) => sum + bytes, 0) };
}
