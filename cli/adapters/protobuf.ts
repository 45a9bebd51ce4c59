/** A field of a message in Protocol Buffers whose value is bytes: a text, a message, or data. */
type ProtobufField = { field: number; data: Buffer };

/**
 * The fields of a message whose values are bytes, in order; numbers are passed over. It ends where the bytes are no such
 * message.
 */
export function* protobufFields(bytes: Buffer): Generator<ProtobufField> {
  let at = 0;
  const readVarint = (): number | undefined => {
    let value = 0;
    for (let scale = 1; at < bytes.length && scale < 2 ** 64; scale *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
    return undefined;
  };
  while (at < bytes.length) {
    const key = readVarint();
    if (key === undefined || key < 8) return;
    const wireType = key % 8;
    const field = Math.floor(key / 8);
    if (wireType === 0) {
      if (readVarint() === undefined) return;
    } else if (wireType === 1) at += 8;
    else if (wireType === 5) at += 4;
    else if (wireType === 2) {
      const length = readVarint();
      if (length === undefined || at + length > bytes.length) return;
      yield { field, data: bytes.subarray(at, at + length) };
      at += length;
    } else return;
  }
}
