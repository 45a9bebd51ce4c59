/** The body of one request to `POST /api/ingest`. */
export type UploadPart = {
  body: string;
  readBytes: number;
  /** The line number of each trace; undefined if the file is one JSON text. */
  lines?: number[];
};

export type PartLimits = { decodedBytes: number; wireBytes: number; traces: number };

/** The message is for the person. */
export class FileFault extends Error {}

const maxPartCharacters = 8 * 1024 * 1024;

const partCharacters = ({ wireBytes }: PartLimits) => Math.min(maxPartCharacters, wireBytes / 2);

/**
 * Traces are sent unchanged, so that no number loses precision.
 *
 * @throws FileFault if the file is neither JSON nor JSON Lines
 */
export async function* splitFile(file: Blob, limits: PartLimits): AsyncGenerator<UploadPart, void> {
  const reading = { bytes: 0 };
  const lines = splitTextLines(decodeFile(file, await isGzip(file), reading), limits.decodedBytes);
  try {
    yield* cut(lines, file, limits, reading);
  } finally {
    await lines.return();
  }
}

async function* cut(
  lines: AsyncGenerator<Line, void>,
  file: Blob,
  limits: PartLimits,
  reading: BytesRead,
): AsyncGenerator<UploadPart, void> {
  const first = await nextNonBlank(lines);
  if (!first) throw new FileFault("The file is empty.");
  if (isTrace(parsed(first.text))) {
    yield* batches(first, lines, limits, reading);
  } else {
    const text = [first.text];
    let length = first.text.length;
    for await (const line of lines) {
      length += line.text.length + 1;
      if (length > limits.decodedBytes) throw tooLong();
      text.push(line.text);
    }
    yield { body: makeBatchBody(text.join("\n")), readBytes: file.size };
  }
}

type Line = { number: number; text: string };
type BytesRead = { bytes: number };

async function* batches(
  first: Line,
  rest: AsyncGenerator<Line, void>,
  limits: PartLimits,
  reading: BytesRead,
): AsyncGenerator<UploadPart, void> {
  let lines: Line[] = [];
  let characters = 0;
  const take = (): UploadPart => {
    const body = `{"traces":[${lines.map(({ text }) => text).join(",")}]}`;
    const part = { body, readBytes: reading.bytes, lines: lines.map(({ number }) => number) };
    lines = [];
    characters = 0;
    return part;
  };
  for (let line: Line | undefined = first; line; line = await nextNonBlank(rest)) {
    if (parsed(line.text) === undefined) throw new FileFault(`Line ${line.number} is not valid JSON.`);
    if (
      lines.length === limits.traces ||
      (lines.length > 0 && characters + line.text.length > partCharacters(limits))
    ) {
      yield take();
    }
    lines.push(line);
    characters += line.text.length;
  }
  yield take();
}

function makeBatchBody(text: string): string {
  const value = parsed(text);
  if (value === undefined) throw new FileFault("The file is not valid JSON.");
  if (Array.isArray(value)) return `{"traces":${text}}`;
  if (isTrace(value)) return `{"traces":[${text}]}`;
  if (typeof value === "object" && value !== null && "traces" in value) return text;
  throw new FileFault("The file contains no sessions: it has neither `traces` nor `messages`.");
}

const isTrace = (value: unknown) => typeof value === "object" && value !== null && "messages" in value;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function isGzip(file: Blob): Promise<boolean> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  return first === 0x1f && second === 0x8b;
}

/** @throws FileFault if the text is not UTF-8, or not valid gzip */
async function* decodeFile(file: Blob, isCompressed: boolean, reading: BytesRead): AsyncGenerator<string, void> {
  const count = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      reading.bytes += chunk.byteLength;
      controller.enqueue(chunk);
    },
  });
  const counted = file.stream().pipeThrough(count);
  const bytes = isCompressed ? counted.pipeThrough(new DecompressionStream("gzip")) : counted;
  const reader = bytes.pipeThrough(new TextDecoderStream("utf-8", { fatal: true })).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (error) {
    // Decoders throw a TypeError for invalid data.
    if (!(error instanceof TypeError)) throw error;
    throw new FileFault(
      isCompressed ? "The file is not a complete gzip file of UTF-8 text." : "The file is not UTF-8 text.",
    );
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Counts from 1. @throws FileFault for a line longer than a batch */
async function* splitTextLines(texts: AsyncGenerator<string, void>, maxCharacters: number): AsyncGenerator<Line, void> {
  let number = 1;
  let begun: string[] = [];
  let length = 0;
  for await (const text of texts) {
    const [head = "", ...others] = text.split("\n");
    const last = others.pop();
    begun.push(head);
    length += head.length;
    if (length > maxCharacters) throw tooLong();
    if (last === undefined) continue;
    yield { number: number++, text: begun.join("") };
    for (const line of others) yield { number: number++, text: line };
    begun = [last];
    length = last.length;
  }
  yield { number, text: begun.join("") };
}

const tooLong = () =>
  new FileFault("The file is too large for one batch. JSON Lines, one session per line, can have any length.");

async function nextNonBlank(lines: AsyncGenerator<Line, void>): Promise<Line | undefined> {
  for (;;) {
    const { done, value } = await lines.next();
    if (done) return undefined;
    if (value.text.trim() !== "") return value;
  }
}
