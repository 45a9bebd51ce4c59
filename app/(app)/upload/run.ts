import { sendPart, type UploadAnswer } from "./send";
import { FileFault, type PartLimits, splitFile } from "./split-file";

/** In bytes of the file. */
export type FileState = {
  name: string;
  size: number;
  progress: number;
  jobs: string[];
  status: "waiting" | "sending" | "later" | "lost" | "signedOut" | "refused" | "sent";
  sentence?: string;
  errors?: { place: string; message: string }[];
  /** For finding the refused request in the server's log. */
  requestId?: string;
};

type Update = (change: Partial<FileState>) => void;

/** @param untilAskedFor resolves when the person presses "Send again" */
export async function sendFile(
  file: File,
  limits: PartLimits,
  update: Update,
  untilAskedFor: () => Promise<void>,
): Promise<void> {
  const jobs: string[] = [];
  let done = 0;
  try {
    for await (const part of splitFile(file, limits)) {
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
    const sentence = error instanceof FileFault ? error.message : "The file could not be read. Choose it again.";
    update({ status: "refused", sentence: `${sentence} ${whatIsSafe(jobs.length)}` });
    if (!(error instanceof FileFault || error instanceof DOMException)) throw error;
  }
}

type Final = Extract<UploadAnswer, { kind: "accepted" | "refused" }>;

async function deliver(
  send: () => Promise<UploadAnswer>,
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
  { sentence, errors, requestId }: Extract<UploadAnswer, { kind: "refused" }>,
  lines: number[] | undefined,
  accepted: number,
): Partial<FileState> {
  const what = errors.length > 0 ? "The file's content is not valid." : sentence;
  const placed = errors.map(({ path, message }) => ({ place: formatIssuePlace(path, lines), message }));
  return {
    status: "refused",
    sentence: `${what} ${whatIsSafe(accepted)}`,
    errors: placed,
    ...(requestId && { requestId }),
  };
}

const whatIsSafe = (accepted: number) =>
  accepted === 0
    ? "No part of the file was stored."
    : `The ${accepted === 1 ? "part" : `${accepted} parts`} before it ${accepted === 1 ? "was" : "were"} stored, nothing after that.`;

export function formatIssuePlace(path: string, lines: number[] | undefined): string {
  const [, index, rest] = /^traces\.(\d+)(?:\.(.*))?$/.exec(path) ?? [];
  const line = lines?.[Number(index)];
  if (index === undefined || line === undefined) return path;
  return rest ? `line ${line}, ${rest}` : `line ${line}`;
}
