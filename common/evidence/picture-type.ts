// SVG is excluded: it can contain more than a picture.

const formats = {
  "image/png": (head: string) => head.startsWith("\x89PNG\r\n\x1a\n"),
  "image/jpeg": (head: string) => head.startsWith("\xff\xd8\xff"),
  "image/gif": (head: string) => /^GIF8[79]a/.test(head),
  "image/webp": (head: string) => head.startsWith("RIFF") && head.startsWith("WEBP", 8),
};

export type PictureType = keyof typeof formats;
export const pictureTypes = Object.keys(formats) as [PictureType, ...PictureType[]];

/** Returns undefined for anything else. */
export function findPictureType(bytes: Buffer): PictureType | undefined {
  const head = bytes.toString("latin1", 0, 12);
  return pictureTypes.find((type) => formats[type](head));
}
