import type { Evidence } from "#lib/traces/evidence";
import { formatQuantity } from "../../../../components/values/figures";
import { pullHref } from "../../hrefs";

const maxOpen = 3;

export function CameOfIt({ evidence: { commits, pullRequests } }: { evidence: Evidence }) {
  if (commits.length + pullRequests.length === 0) return null;
  return (
    <div className="came-of">
      {pullRequests.length > 0 && (
        <ul aria-label="Pull requests">
          {pullRequests.map((one) => (
            <PullRequest key={one.url} one={one} />
          ))}
        </ul>
      )}
      {commits.length > 0 && (
        <details open={commits.length <= maxOpen}>
          <summary>{formatQuantity(commits.length, "commit")}</summary>
          <ul aria-label="Commits">
            {commits.map((commit) => (
              <Commit key={commit.hash} commit={commit} />
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function PullRequest({
  one: { number, repository, url, evidence, position },
}: {
  one: Evidence["pullRequests"][number];
}) {
  return (
    <li>
      <a href={pullHref(repository, number)} className="pull">
        #{number}
      </a>{" "}
      <a href={url} rel="noreferrer" className="link break-all">
        {repository}
      </a>{" "}
      <Proof evidence={evidence} position={position} />
    </li>
  );
}

function Commit({ commit: { hash, subject, url, evidence, position } }: { commit: Evidence["commits"][number] }) {
  const short = <code title={hash}>{hash.slice(0, 7)}</code>;
  return (
    <li>
      {url ? (
        <a href={url} rel="noreferrer" className="link">
          {short}
        </a>
      ) : (
        short
      )}{" "}
      {subject && <span className="break-words">{subject} </span>}
      <Proof evidence={evidence} position={position} />
    </li>
  );
}

function Proof({ evidence, position }: { evidence: string; position: number | null }) {
  const words = evidenceWords(evidence);
  if (position === null) return <span className="text-muted">{words}</span>;
  return (
    <a href={`?at=${position}`} title={`${words}: show the message`} className="quiet-link text-muted">
      <span className="sr-only">{words}, </span>message {position}
    </a>
  );
}

const words: Record<string, string> = {
  "git-commit": "printed by git commit",
  "git-push": "printed by git push",
  "gh-pr-create": "opened by gh pr create",
  "glab-mr-create": "opened by glab mr create",
  "pull-request-tool": "opened by a tool",
  message: "mentioned in a message",
  "session-meta": "recorded by the agent",
  "pr-link": "linked by the agent",
  client: "found by the client",
};

const evidenceWords = (evidence: string): string => words[evidence] ?? evidence;
