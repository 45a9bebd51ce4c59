import { FileFault, type PartLimits, partsOf } from "./parts";
import { type Answer, sendPart } from "./send";

/** How far a file is. `progress` is in bytes of the file; each part that was taken in has its job. */
export type FileState = {
  name: string;
  size: number;
  progress: number;
  jobs: string[];
  status: "waiting" | "sending" | "later" | "lost" | "signedOut" | "refused" | "sent";
  /** Why it is refused, or waits. */
  sentence?: string;
  errors?: { place: string; message: string }[];
};

type Update = (change: Partial<FileState>) => void;

/**
 * Sends a file, part after part, and tells how far it is. Where the connection is lost, or the person signed out, the part
 * waits until it is to be sent again.
 *
 * @param untilAskedFor ends when the reader wants it sent again.
 */
export async function sendFile(
  file: File,
  limits: PartLimits,
  update: Update,
  untilAskedFor: () => Promise<void>,
): Promise<void> {
  const jobs: string[] = [];
  let done = 0;
  try {
    for await (const part of partsOf(file, limits)) {
      const answer = await deliver(
        () => sendPart(part, (share) => update({ progress: done + share * (part.readBytes - done) })),
        update,
        untilAskedFor,
      );
      if (answer.kind === "refused") return update(refusal(answer, part.lines, jobs.length));
      jobs.push(answer.jobId);
      done = part.readBytes;
      update({ jobs: [...jobs], progress: done });
    }
    update({ status: "sent", progress: file.size });
  } catch (error) {
    const sentence = error instanceof FileFault ? error.message : "The file could not be read. Choose it once more.";
    update({ status: "refused", sentence: `${sentence} ${whatIsSafe(jobs.length)}` });
    if (!(error instanceof FileFault || error instanceof DOMException)) throw error;
  }
}

type Final = Extract<Answer, { kind: "accepted" | "refused" }>;

/** Sends until there is a final answer. */
async function deliver(
  send: () => Promise<Answer>,
  update: Update,
  untilAskedFor: () => Promise<void>,
): Promise<Final> {
  for (;;) {
    update({ status: "sending", sentence: undefined });
    const answer = await send();
    if (answer.kind === "accepted" || answer.kind === "refused") return answer;
    if (answer.kind === "later") {
      update({ status: "later", sentence: answer.sentence });
      await new Promise((resolve) => setTimeout(resolve, answer.seconds * 1000));
    } else {
      update({ status: answer.kind });
      await untilAskedFor();
    }
  }
}

function refusal(
  { sentence, errors }: Extract<Answer, { kind: "refused" }>,
  lines: number[] | undefined,
  accepted: number,
): Partial<FileState> {
  const what = errors.length > 0 ? "What is in the file is not valid." : sentence;
  const placed = errors.map(({ path, message }) => ({ place: placeOf(path, lines), message }));
  return { status: "refused", sentence: `${what} ${whatIsSafe(accepted)}`, errors: placed };
}

const whatIsSafe = (accepted: number) =>
  accepted === 0
    ? "Nothing of the file was stored."
    : `The ${accepted === 1 ? "part" : `${accepted} parts`} before it ${accepted === 1 ? "is" : "are"} stored; from there on nothing is.`;

/** A path within a part, as a place in the file: of JSON lines the line, and the field in it. */
export function placeOf(path: string, lines: number[] | undefined): string {
  const [, index, rest] = /^traces\.(\d+)(?:\.(.*))?$/.exec(path) ?? [];
  const line = lines?.[Number(index)];
  if (index === undefined || line === undefined) return path;
  return rest ? `line ${line}, ${rest}` : `line ${line}`;
}
