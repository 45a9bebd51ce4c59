import { type Fields, isFields } from "../../files/json.ts";
import type { GitEvidence } from "../git-evidence.ts";
import { asString } from "../values.ts";

export function readOperation({ toolUseResult }: Fields, evidence: GitEvidence, position: number): void {
  const operation = isFields(toolUseResult) && isFields(toolUseResult.gitOperation) ? toolUseResult.gitOperation : {};
  const { commit, pr } = operation;
  const hash = isFields(commit) ? asString(commit.sha) : undefined;
  const branch = isFields(commit) ? asString(commit.branch) : undefined;
  if (hash) evidence.addCommit({ hash, ...(branch && { branch }), position });
  if (isFields(pr) && pr.action === "created") evidence.addPullRequest({ url: pr.url, number: pr.number });
}
