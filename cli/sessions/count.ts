import type { Adapter, Host } from "../adapters/adapter.ts";
import type { ProjectLabels } from "../projects/rules.ts";
import { formatBytes, formatCount, formatDuration } from "../terminal/format.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { type AdapterInput, findInputs, type ParsedInput, parseInput } from "./inputs.ts";
import { ScanIndex } from "./scan-index.ts";

type Options = {
  wanted(adapter: Adapter): boolean;
  isLeftOut(labels: ProjectLabels): boolean;
  onInput(input: AdapterInput, found: ParsedInput): void;
  isComplete: boolean;
};

type Where = { host: Host; terminal: Terminal; signal: AbortSignal };

/** @throws CommandError if the index can't be written */
export async function countInputs(
  { host, terminal, signal }: Where,
  { wanted, isLeftOut, onInput, isComplete }: Options,
): Promise<void> {
  const index = await ScanIndex.open(host);
  const parse = async (input: AdapterInput) => {
    const found = await parseInput(input, { isLeftOut });
    return found.isGone ? found : index.add(input, found);
  };
  const startedAt = performance.now();
  let [files, bytes] = [0, 0];
  for await (const input of findInputs(host, wanted)) {
    signal.throwIfAborted();
    onInput(input, index.find(input, isLeftOut) ?? (await parse(input)));
    files++;
    bytes += input.bytes;
    const read = () => `Reading  ${formatCount(files, "file")}, ${formatBytes(bytes)}, `;
    terminal.progress(() => read() + formatDuration(performance.now() - startedAt));
  }
  await index.save(isComplete);
}
