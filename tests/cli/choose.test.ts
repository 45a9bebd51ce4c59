import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { Terminal } from "../../cli/terminal/terminal.ts";

const [up, down, enter, leave] = ["\x1b[A", "\x1b[B", "\r", "\x1b"];

function makeTerminal(env: Record<string, string> = {}, isTTY = true) {
  const written: string[] = [];
  const modes: boolean[] = [];
  const stream = { write: (text: string) => written.push(text), on: () => {}, isTTY, columns: 40 };
  const input = Object.assign(new PassThrough(), { isTTY, setRawMode: (is: boolean) => modes.push(is) });
  const options = { isJson: false, env, input: () => input as unknown as NodeJS.ReadStream };
  return { terminal: new Terminal(stream, stream, options), input, written, modes };
}

const rows = Array.from({ length: 30 }, (_, at) => `session ${at} ${"long ".repeat(20)}`);

test.each([
  [[enter], 0],
  [[down, down, up, enter], 1],
  [[up, enter], 0],
  [["j", "j", "k", enter], 1],
  [["\x1b[F", down, enter], 29],
  [["\x1b[6~", enter], 12],
  [["q"], undefined],
  [["\x03"], undefined],
])("the keys %j choose row %j", async (keys, chosen) => {
  const { terminal, input, modes, written } = makeTerminal();
  const choosing = terminal.choose(rows, new AbortController().signal);
  for (const key of keys) input.write(key);
  expect(await choosing).toBe(chosen);
  expect(modes).toEqual([true, false]);
  for (const line of written.join("").split("\n"))
    expect(stripVTControlCharacters(line).trim().length).toBeLessThan(40);
});

test("Escape leaves, and so does the end of the input", async () => {
  for (const end of [leave, undefined]) {
    const { terminal, input } = makeTerminal();
    const choosing = terminal.choose(rows, new AbortController().signal);
    if (end) input.write(end);
    else input.end();
    expect(await choosing).toBeUndefined();
  }
});

test("a row shows no escape sequences, and the screen is cleared behind the choice", async () => {
  const { terminal, input, written } = makeTerminal({ NO_COLOR: "1" });
  const choosing = terminal.choose(["a\x1b[31m\nb", "c"], new AbortController().signal);
  input.write(enter);
  await choosing;
  expect(written[0]).toContain("> a [31m b\n");
  expect(written.at(-1)).toBe("\x1b[3A\r\x1b[J");
});

test("nobody is asked without a terminal, or in one that can't move its cursor", async () => {
  const signal = new AbortController().signal;
  expect(await makeTerminal({}, false).terminal.choose(rows, signal)).toBeUndefined();
  expect(await makeTerminal({ TERM: "dumb" }).terminal.choose(rows, signal)).toBeUndefined();
});

test("an interrupt ends the choice", async () => {
  const { terminal, modes } = makeTerminal();
  const interrupted = new AbortController();
  const choosing = terminal.choose(rows, interrupted.signal);
  interrupted.abort();
  await expect(choosing).rejects.toThrow();
  expect(modes).toEqual([true, false]);
});
