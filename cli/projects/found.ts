import { folderKey } from "../../common/evidence/spelling.ts";
import type { Adapter } from "../adapters/adapter.ts";
import type { Context } from "../context.ts";
import { CommandError } from "../errors.ts";
import { addCounts, type SecretCounts } from "../redact/masker.ts";
import { countInputs } from "../sessions/count.ts";
import type { AdapterInput, ProjectPart } from "../sessions/inputs.ts";
import type { PictureBytes } from "../sessions/parse-stats.ts";
import { type LeftOutBy, nameProject, ProjectRules } from "./rules.ts";

export type FoundProject = {
  name: string;
  /** Number of sessions; of unread files if the project is left out. */
  sessions: number;
  bytes: number;
  /** The agents' titles, or the source of a session that another program wrote. */
  agents: string[];
  /** The last change of its files, in milliseconds since 1970. */
  lastActivity: number;
  leftOutBy: LeftOutBy | undefined;
  secrets: SecretCounts;
  pictures: PictureBytes;
};

type WantedProjects = {
  adapter(adapter: Adapter): boolean;
  input(input: AdapterInput): boolean;
  part(part: ProjectPart, adapter: string): boolean;
};

const everything: WantedProjects = { adapter: () => true, input: () => true, part: () => true };

export async function findProjects(context: Context, wanted: WantedProjects = everything): Promise<FoundProject[]> {
  const rules = await ProjectRules.open(context.host);
  const pictureRules = await ProjectRules.openForPictures(context.host);
  const found = new Map<string, FoundProject>();
  const add = (part: ProjectPart, { adapter, modifiedAt }: AdapterInput) => {
    const leftOutBy = rules.findExclusion(part);
    const name = nameProject(part);
    const key = `${part.cwd === undefined ? name : folderKey(part.cwd)}\n${leftOutBy !== undefined}`;
    const none = { sessions: 0, bytes: 0, agents: [], lastActivity: 0, secrets: {}, pictures: {} };
    const one: FoundProject = found.get(key) ?? { name, leftOutBy, ...none };
    found.set(key, one);
    one.sessions += part.sessions;
    one.bytes += part.bytes;
    addCounts(one.secrets, part.secrets);
    if (!pictureRules.findExclusion(part)) Object.assign(one.pictures, part.pictures);
    one.lastActivity = Math.max(one.lastActivity, modifiedAt);
    const agent = adapter.holdsAnySource ? part.source : adapter.title;
    if (!one.agents.includes(agent)) one.agents.push(agent);
  };
  const counting = countInputs(context, {
    wanted: wanted.adapter,
    isLeftOut: (labels) => rules.findExclusion(labels) !== undefined,
    isComplete: wanted === everything,
    onInput(input, { projects }) {
      if (!wanted.input(input)) return;
      for (const part of projects) if (wanted.part(part, input.adapter.name)) add(part, input);
    },
  });
  await counting.catch((error) => {
    if (!(error instanceof CommandError)) throw error;
  });
  return [...found.values()].sort((a, b) => b.lastActivity - a.lastActivity || (a.name < b.name ? -1 : 1));
}

export const sumProjects = (projects: readonly FoundProject[]): { sessions: number; bytes: number } => ({
  sessions: projects.reduce((sum, { sessions }) => sum + sessions, 0),
  bytes: projects.reduce((sum, { bytes }) => sum + bytes, 0),
});
