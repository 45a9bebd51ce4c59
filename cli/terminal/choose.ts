import { emitKeypressEvents } from "node:readline";
import { styleText } from "node:util";

type Screen = { write: (text: string) => void; columns: number; hasColor: boolean };
type Key = { name?: string; ctrl?: boolean };

const maxRows = 12;

/** @param rows plain lines @returns the index of the chosen row; undefined if the user chose none */
export async function chooseRow(
  input: NodeJS.ReadStream,
  { write, columns, hasColor }: Screen,
  rows: readonly string[],
  signal: AbortSignal,
): Promise<number | undefined> {
  let [at, shown] = [0, 0];
  const draw = () => {
    const first = Math.min(Math.max(0, at - Math.floor(maxRows / 2)), Math.max(0, rows.length - maxRows));
    const lines = rows.slice(first, first + maxRows).map((row, index) => {
      const isChosen = first + index === at;
      const line = [...`${isChosen ? "> " : "  "}${row}`].slice(0, columns - 1).join("");
      return isChosen && hasColor ? styleText("cyan", line, { validateStream: false }) : line;
    });
    lines.push(`  ${at + 1} of ${rows.length}: arrow keys, Enter; Esc to leave`.slice(0, columns - 1));
    write(`${erase(shown)}${lines.join("\n")}\n`);
    shown = lines.length;
  };
  emitKeypressEvents(input);
  input.setRawMode?.(true);
  input.ref?.();
  input.resume();
  draw();
  try {
    return await new Promise<number | undefined>((resolve, reject) => {
      const finish = (end: () => void) => {
        input.off("keypress", press);
        input.off("end", leave);
        signal.removeEventListener("abort", stop);
        end();
      };
      const leave = () => finish(() => resolve(undefined));
      const stop = () => finish(() => reject(signal.reason));
      const press = (_: string | undefined, { name = "", ctrl = false }: Key) => {
        if (name === "escape" || name === "q" || (ctrl && (name === "c" || name === "d"))) leave();
        else if (name === "return" || name === "enter") finish(() => resolve(at));
        else if (Object.hasOwn(steps, name)) {
          at = Math.min(Math.max(0, at + (steps[name] ?? 0)), rows.length - 1);
          draw();
        }
      };
      input.on("keypress", press);
      input.on("end", leave);
      signal.addEventListener("abort", stop);
    });
  } finally {
    write(erase(shown));
    input.setRawMode?.(false);
    // An open terminal would keep the program from ending.
    input.pause();
    input.unref?.();
  }
}

const all = Number.MAX_SAFE_INTEGER;
const steps: Record<string, number> = {
  ...{ up: -1, k: -1, down: 1, j: 1 },
  ...{ pageup: -maxRows, pagedown: maxRows, home: -all, end: all },
};

/** Moves to the first of the last lines, and clears what is below. */
const erase = (lines: number): string => (lines > 0 ? `\x1b[${lines}A\r\x1b[J` : "");
