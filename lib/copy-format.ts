// PostgreSQL's binary COPY format (its documentation, "COPY", "Binary Format"), which needs no escaping on either side.

/** What a stream of rows begins with: the signature, flags and the length of an extension, which is not there. */
export const copyHeader = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
/** What it ends with, in the place of a row's number of fields. */
export const copyTrailer = Buffer.from([0xff, 0xff]);

/** A row of fields, none of them NULL, in pieces: a large field is not copied. */
export function copyRow(fields: Uint8Array[]): Buffer[] {
  const count = Buffer.alloc(2);
  count.writeInt16BE(fields.length);
  return [count, ...fields.flatMap(copyField)];
}

function copyField({ buffer, byteOffset, byteLength }: Uint8Array): Buffer[] {
  const length = Buffer.alloc(4);
  length.writeInt32BE(byteLength);
  return [length, Buffer.from(buffer, byteOffset, byteLength)];
}
