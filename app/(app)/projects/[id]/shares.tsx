import type { ProjectDetails, Share } from "#lib/projects/queries";
import { formatQuantity } from "../../../components/values/figures";
import { formatMoney } from "../../../components/values/money";

type Props = {
  title: string;
  filter: "branch" | "source" | "model" | "machine";
  project: ProjectDetails;
  shares: Share[];
};

const shownFirst = 6;

export function Shares({ title, filter, project, shares }: Props) {
  if (shares.length === 0) return null;
  const rest = shares.slice(shownFirst);
  const row = (share: Share) => <Row key={share.value} share={share} filter={filter} id={project.id} />;
  return (
    <section aria-labelledby={`by-${filter}`} className="flex min-w-0 flex-col gap-2">
      <h2 id={`by-${filter}`} className="font-semibold text-prose">
        {title}
      </h2>
      <ul className="flex flex-col gap-1">{shares.slice(0, shownFirst).map(row)}</ul>
      {rest.length > 0 && (
        <details>
          <summary className="w-fit text-code text-muted hover:text-text">{rest.length} more</summary>
          <ul className="flex flex-col gap-1 pt-1">{rest.map(row)}</ul>
        </details>
      )}
    </section>
  );
}

function Row({ share: { value, sessions, costNano }, filter, id }: { share: Share; filter: string; id: string }) {
  const query = new URLSearchParams({ projectId: id, [filter]: value });
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto_4.5rem] items-center gap-3 text-code">
      <a href={`/traces?${query}`} title={value} className="quiet-link target block truncate">
        <bdi>{value}</bdi>
      </a>
      <span className="text-muted">{sessions > 0 && formatQuantity(sessions, "session")}</span>
      <span className="text-right">{costNano > 0 && formatMoney(costNano)}</span>
    </li>
  );
}
