import { labelText } from "#lib/projects/queries";
import type { ProjectDigest } from "#lib/usage/digest";
import { formatQuantity } from "../../components/values/figures";
import { formatMoney } from "../../components/values/money";
import type { News } from "./news";

export function Projects({ projects, labels }: { projects: ProjectDigest[] } & Pick<News, "labels">) {
  const hasCost = projects.some(({ costNano }) => costNano > 0);
  const getAmount = ({ costNano, messages }: ProjectDigest) => (hasCost ? costNano : messages);
  const top = Math.max(1, ...projects.map(getAmount));
  return (
    <ul aria-label="Projects" className="flex flex-col gap-2">
      {projects.map((project) => {
        const { id, sessions, costNano } = project;
        const label = labels.get(id ?? "");
        const name = label ? labelText(label) : project.name;
        return (
          <li key={id ?? name} className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-3">
            {id ? (
              <a href={`/projects/${id}`} className="quiet-link target truncate font-medium leading-6" title={name}>
                <bdi>{name}</bdi>
              </a>
            ) : (
              <bdi className="truncate font-medium">{name}</bdi>
            )}
            <span className="text-code text-muted tabular-nums">
              {formatQuantity(sessions, "session")}
              {costNano > 0 && ` · ${formatMoney(costNano)}`}
            </span>
            <svg aria-hidden="true" className="col-span-2 mt-1 h-1.5 w-full">
              <rect width="100%" height="100%" rx="2" className="fill-block" />
              <rect
                width={`${Math.max(0.5, (100 * getAmount(project)) / top)}%`}
                height="100%"
                rx="2"
                className="fill-accent"
              />
            </svg>
          </li>
        );
      })}
    </ul>
  );
}
