import { z } from "zod";
import { requireUser } from "#lib/auth/guards";
import { labelText, listOthers, maxOthers, type ProjectDetails, readLabels } from "#lib/projects/queries";
import { Section } from "../../../components/section";
import type { SearchParams } from "../../../components/shell/pages";
import { formatQuantity } from "../../../components/values/figures";
import { mergeAction } from "../actions";

/** Choosing works without JavaScript and changes nothing. */
export async function Merge({ project, query }: { project: ProjectDetails; query: SearchParams }) {
  const user = await requireUser(`/projects/${project.id}`);
  const into = z.uuid().safeParse(query.into);
  const target = into.success && into.data !== project.id ? await findProjectName(user.id, into.data) : undefined;
  if (into.success && target !== undefined)
    return (
      <Section id="merge" title="Merge">
        <Question project={project} into={into.data} target={target} />
      </Section>
    );
  const find = typeof query.find === "string" ? query.find.slice(0, 128).replaceAll("\0", "") : "";
  const others = await listOthers(user.id, project.id, find);
  if (others.length === 0 && !find) return null;
  return (
    <Section id="merge" title="Merge">
      <p className="max-w-[60ch] text-muted">
        If this is the same project as another one, merge it. Its sessions and identifiers move to the other project.
      </p>
      {(find || others.length === maxOthers) && <Find find={find} />}
      {others.length === 0 ? (
        <p>No other project's name contains “{find}”.</p>
      ) : (
        <form method="get" action="#merge" className="flex flex-wrap gap-2">
          <select name="into" aria-label="Merge into" className="input max-w-full sm:w-80">
            {others.map(({ id, text }) => (
              <option key={id} value={id}>
                {text}
              </option>
            ))}
          </select>
          <button type="submit" className="button">
            Merge…
          </button>
        </form>
      )}
    </Section>
  );
}

async function findProjectName(userId: string, id: string): Promise<string | undefined> {
  const label = (await readLabels(userId, [id])).get(id);
  return label && labelText(label);
}

function Find({ find }: { find: string }) {
  return (
    <form method="get" action="#merge" className="flex gap-2">
      <input
        name="find"
        defaultValue={find}
        aria-label="Part of the other's name"
        placeholder="Part of the other's name"
        maxLength={128}
        className="input sm:w-80"
      />
      <button type="submit" className="button">
        Find
      </button>
    </form>
  );
}

function Question({ project, into, target }: { project: ProjectDetails; into: string; target: string }) {
  return (
    <form action={mergeAction} className="flex max-w-[60ch] flex-col gap-3 rounded-block border border-bad p-3">
      <input type="hidden" name="id" value={project.id} />
      <input type="hidden" name="into" value={into} />
      <p className="[overflow-wrap:anywhere]">
        Merge <bdi className="font-semibold">{project.name}</bdi> into <bdi className="font-semibold">{target}</bdi>?
        Its {formatQuantity(project.sessions, "session")} and identifiers move to{" "}
        <bdi className="font-semibold">{target}</bdi>, and so do later sessions. This page and its name are deleted.
        Agents with access to <bdi className="font-semibold">{target}</bdi> can then read these sessions. You can undo
        this there.
      </p>
      <p className="flex items-center gap-4">
        <button type="submit" className="button button-bad">
          Merge
        </button>
        <a href={`/projects/${project.id}`} className="link">
          Keep both
        </a>
      </p>
    </form>
  );
}
