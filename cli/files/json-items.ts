import { openByteReader } from "./byte-reader.ts";
import { type LineEvents, PartialLine } from "./line-reader.ts";

const chunkBytes = 1024 * 1024;
const [quote, comma, colon, backslash, newline] = [0x22, 0x2c, 0x3a, 0x5c, 0x0a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];
const isSpace = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);

export type JsonItems = {
  /** The keys that lead to the list; none if the value itself is the list. */
  list: readonly string[];
  /** Each line has its own value; otherwise the file has one value. */
  isLines?: boolean;
  /** Takes an element of the list as JSON. @param number of the element in its value, from 1 */
  item(json: string, number: number): void;
  /** Takes a complete value as JSON, with its list empty. @param number of the value, from 1 */
  rest?(json: string, number: number): void;
};

/**
 * It uses bounded memory and shortens long elements.
 *
 * @returns false if the last value is cut off
 * @throws if the file can't be read
 */
export async function readJsonItems(path: string, items: JsonItems, events: LineEvents): Promise<boolean> {
  const file = await openByteReader(path);
  const splitter = new ItemSplitter(items, events);
  const chunk = Buffer.allocUnsafeSlow(chunkBytes);
  try {
    for (let bytesRead = chunkBytes; bytesRead === chunkBytes; ) {
      bytesRead = await file.fill(chunk);
      splitter.add(chunk.subarray(0, bytesRead));
      await events.pause();
    }
    return splitter.end();
  } finally {
    await file.close();
  }
}

class ItemSplitter {
  readonly #items: JsonItems;
  readonly #events: LineEvents;
  readonly #item = new PartialLine();
  readonly #rest = new PartialLine();
  /** Open containers, and how many of them are on the path to the list. */
  #depth = 0;
  #onPath = 0;
  readonly #isObject: boolean[] = [];
  #inList = false;
  #inItem = false;
  #inText = false;
  #isEscaped = false;
  /** True if the next text is a key on the way to the list. */
  #isKey = false;
  #key = "";
  #from = 0;
  #hasValue = false;
  #number = 0;
  #values = 0;

  constructor(items: JsonItems, events: LineEvents) {
    this.#items = items;
    this.#events = events;
  }

  add(chunk: Buffer): void {
    this.#from = 0;
    for (let at = 0; at < chunk.length; at++) {
      if (this.#inText) at = this.#readText(chunk, at);
      if (at >= chunk.length) break;
      const byte = chunk[at] as number;
      if (this.#items.isLines && byte === newline) this.#endValue(chunk, at);
      else if (!isSpace(byte)) this.#readByte(byte, chunk, at);
    }
    this.#keep(chunk, chunk.length);
  }

  #readText(chunk: Buffer, from: number): number {
    for (let at = from; ; ) {
      const found = chunk.indexOf(quote, at);
      const end = found === -1 ? chunk.length : found;
      const line = this.#items.isLines ? chunk.subarray(at, end).indexOf(newline) : -1;
      if (line !== -1) {
        // JSON texts have no line breaks: the line was cut off.
        this.#inText = false;
        this.#isEscaped = false;
        return at + line;
      }
      let slashes = 0;
      while (end - slashes > at && chunk[end - slashes - 1] === backslash) slashes++;
      const isOdd = (slashes + (end - slashes === at && this.#isEscaped ? 1 : 0)) % 2 === 1;
      this.#isEscaped = found === -1 && isOdd;
      if (this.#isKey) this.#key += chunk.toString("latin1", at, end);
      if (found === -1) return end;
      if (!isOdd) {
        this.#inText = false;
        return end + 1;
      }
      at = end + 1;
    }
  }

  #readByte(byte: number, chunk: Buffer, at: number): void {
    if (this.#inList && this.#depth === this.#onPath) {
      if (byte === comma || byte === closeList) this.#endItem(chunk, at);
      else if (!this.#inItem) this.#beginItem(at);
    }
    this.#hasValue = true;
    switch (byte) {
      case quote:
        this.#inText = true;
        if (this.#isKey) this.#key = "";
        break;
      case comma:
        this.#isKey = this.#depth === this.#onPath && this.#isObject[this.#depth - 1] === true;
        break;
      case colon:
        this.#isKey = false;
        break;
      case openObject:
      case openList:
        this.#open(byte === openObject, chunk, at);
        break;
      case closeObject:
      case closeList:
        this.#close(chunk, at);
        break;
    }
  }

  #open(isObject: boolean, chunk: Buffer, at: number): void {
    const { list } = this.#items;
    const isLed =
      !this.#inList &&
      this.#depth === this.#onPath &&
      (this.#depth === 0 || (this.#isObject[this.#depth - 1] === true && this.#key === list[this.#depth - 1]));
    this.#depth++;
    this.#key = "";
    this.#isKey = isLed && isObject;
    if (!isLed) return;
    this.#onPath = this.#depth;
    this.#isObject[this.#depth - 1] = isObject;
    if (isObject || this.#depth !== list.length + 1) return;
    this.#keep(chunk, at + 1);
    this.#inList = true;
    this.#number = 0;
  }

  #close(chunk: Buffer, at: number): void {
    if (this.#inList && this.#depth === this.#onPath) {
      this.#inList = false;
      this.#from = at;
    }
    this.#depth = Math.max(0, this.#depth - 1);
    this.#onPath = Math.min(this.#onPath, this.#depth);
    this.#isKey = false;
    if (this.#depth === 0 && !this.#items.isLines) this.#endValue(chunk, at + 1);
  }

  #beginItem(at: number): void {
    this.#inItem = true;
    this.#from = at;
  }

  #endItem(chunk: Buffer, at: number): void {
    if (!this.#inItem) return;
    this.#inItem = false;
    const number = ++this.#number;
    const part = chunk.subarray(this.#from, at);
    this.#from = at;
    const take = (json: string) => this.#items.item(json, number);
    if (this.#item.bytes === 0) take(part.toString());
    else this.#item.finish(part, { number, isOpen: false }, take, this.#events);
  }

  #keep(chunk: Buffer, to: number): void {
    const part = chunk.subarray(this.#from, to);
    if (this.#inItem) this.#item.add(part);
    else if (!this.#inList && part.length > 0) this.#rest.add(part);
    this.#from = to;
  }

  #endValue(chunk: Buffer, at: number): void {
    if (this.#inItem) this.#endItem(chunk, at);
    else if (!this.#inList) this.#keep(chunk, at);
    this.#from = at;
    const { rest } = this.#items;
    const number = ++this.#values;
    const take = (json: string) => rest?.(json.replace(/^\ufeff/, "").trim(), number);
    if (this.#hasValue) this.#rest.finish(Buffer.alloc(0), { number: 0, isOpen: false }, take, this.#events);
    this.#depth = 0;
    this.#onPath = 0;
    this.#inList = false;
    this.#isKey = false;
    this.#hasValue = false;
  }

  end(): boolean {
    if (!this.#hasValue) return this.#values > 0;
    if (this.#depth > 0 || this.#inText) return false;
    this.#endValue(Buffer.alloc(0), 0);
    return true;
  }
}
