import type { Context } from "../context.ts";
import { loadMaskKey } from "../redact/masker.ts";
import { defaultLimits, toPartLimits } from "../server/limits.ts";
import { SessionFilter } from "../sessions/filter.ts";
import { addStats, emptyStats, type ParseStats, type PictureBytes } from "../sessions/parse-stats.ts";
import type { SentState, Session, SessionLabels, UnsentSession } from "../sessions/session.ts";
import { findChangedInputs } from "./changed-inputs.ts";
import { createCompressor } from "./compression.ts";
import { readSessions } from "./read-sessions.ts";
import { type SentRecord, sessionKey } from "./sent-record.ts";

type PlannedSession = SessionLabels & {
  sourceId: string;
  /** `grown` if only the additions will be sent. */
  change: "new" | "grown" | "changed";
  messages: number;
  bytes: number;
};

export type PushPlan = {
  sessions: PlannedSession[];
  pictures: PictureBytes;
  same: number;
  left: UnsentSession[];
  stats: Map<string, ParseStats>;
  filter: SessionFilter;
};

export async function planPush(context: Context, record: SentRecord | undefined): Promise<PushPlan> {
  const filter = new SessionFilter(context);
  const plan: PushPlan = { sessions: [], pictures: {}, same: 0, left: [], stats: new Map(), filter };
  const compressor = createCompressor(["zstd"]);
  const key = await loadMaskKey(context);
  const inputs = findChangedInputs(context, filter, record, (sessions) => {
    plan.same += sessions;
  });
  for await (const input of inputs) {
    const { name } = input.adapter;
    let pictures: PictureBytes = {};
    const begun = new Map<string, Pick<PlannedSession, "change" | "messages" | "bytes">>();
    const stats = await readSessions(input, {
      isLeftOut: (labels) => filter.leavesOut(labels),
      limits: toPartLimits(defaultLimits),
      compressor,
      maskKey: key,
      known: (source, sourceId) => ({ state: record?.getState(sessionKey({ source, sourceId })) }),
      onPicture: ({ sha256, bytes }) => {
        pictures[sha256] = bytes;
      },
      onPart: (part) => {
        const key = sessionKey(part);
        const { source, sourceId, project, cwd, state } = part;
        const sum = begun.get(key) ?? { change: findChange(part, record?.getState(key)), messages: 0, bytes: 0 };
        sum.messages += part.messages;
        sum.bytes += part.bytes;
        begun.set(key, sum);
        if (!part.isLast) return;
        const found = pictures;
        pictures = {};
        if (!filter.wantsSession(part, name)) return;
        if (filter.sendsPictures(part)) Object.assign(plan.pictures, found);
        if (record?.isSent(key, state.hash)) plan.same++;
        else plan.sessions.push({ source, sourceId, project, cwd, ...sum });
      },
    });
    for (const { cwd, project, isLeftOut, sessions } of stats.projects) {
      if (isLeftOut) filter.noteProjectLeftOut({ cwd, project }, sessions);
    }
    plan.left.push(...stats.left);
    const total = plan.stats.get(name) ?? emptyStats();
    addStats(total, stats);
    plan.stats.set(name, total);
  }
  return plan;
}

function findChange(part: Session, before: SentState | undefined): PlannedSession["change"] {
  if (part.append !== undefined) return "grown";
  return before === undefined ? "new" : "changed";
}
