const blockBytes = 512;

type Entry = { name: string; bytes: number; at: Date };

/** A ustar header; a long name precedes it as a pax record (POSIX.1-2001). */
export function tarHeader({ name, bytes, at }: Entry): Buffer {
  if (Buffer.byteLength(name) <= 100) return header({ name, bytes, at }, "0");
  const record = paxRecord("path", name);
  const before = header({ name: "long-name", bytes: record.length, at }, "x");
  return Buffer.concat([
    before,
    record,
    tarPadding(record.length),
    header({ name: name.slice(0, 100), bytes, at }, "0"),
  ]);
}

export const tarPadding = (bytes: number): Buffer => Buffer.alloc((blockBytes - (bytes % blockBytes)) % blockBytes);

export const tarEnd = (): Buffer => Buffer.alloc(2 * blockBytes);

function header({ name, bytes, at }: Entry, type: "0" | "x"): Buffer {
  const block = Buffer.alloc(blockBytes);
  const octal = (value: number, from: number, digits: number) =>
    block.write(`${value.toString(8).padStart(digits, "0")}\0`, from, "latin1");
  block.write(name, 0, 100, "utf8");
  octal(0o600, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(bytes, 124, 11);
  octal(Math.floor(at.getTime() / 1000), 136, 11);
  block.write(`        ${type}`, 148, "latin1");
  block.write("ustar\x0000", 257, "latin1");
  const sum = block.reduce((all, byte) => all + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

/** The length includes itself. */
function paxRecord(key: string, value: string): Buffer {
  const rest = ` ${key}=${value}\n`;
  const length = (digits: number) => digits + Buffer.byteLength(rest);
  let digits = 1;
  while (String(length(digits)).length > digits) digits += 1;
  return Buffer.from(`${length(digits)}${rest}`);
}
