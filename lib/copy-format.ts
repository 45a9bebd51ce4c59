// PostgreSQL's binary COPY format (its documentation, "COPY", "Binary Format"), which needs no escaping on either side.

/** The start of a stream of rows: signature, flags, and the length of an extension area, which is empty. */
export const copyHeader = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
/** The end of a stream of rows, where the next row's number of fields would stand. */
export const copyTrailer = Buffer.from([0xff, 0xff]);

/** A row of non-NULL fields as a list of chunks, so that large fields are not copied. */
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
