import { listProjects } from "#lib/projects/queries";
import { Asked } from "../../components/forms/asked";
import { stopMaskingAction } from "./actions";

const maxProjects = 100;

type Props = {
  userId: string;
  project: { id: string; name: string } | undefined;
};

export async function StopQuestion({ userId, project }: Props) {
  const { projects } = await listProjects(userId, { sort: "active", limit: maxProjects });
  const others = projects.filter(({ id }) => id !== project?.id);
  return (
    <Asked title="Stop masking?" back="/findings">
      <form action={stopMaskingAction} className="flex flex-col gap-4 text-ui">
        <h2 className="font-semibold text-section">Stop masking?</h2>
        <p>
          New secrets will be stored unmasked, found by searches, and visible to people you share with. This page lists
          them and can mask them later. Spoor's own client still masks before it sends.
        </p>
        <label className="flex flex-col gap-1">
          <span className="font-medium">Where</span>
          <select name="project" defaultValue={project?.id ?? ""} className="input">
            {project && <option value={project.id}>This project: {project.name}</option>}
            {others.map(({ id, name, distinction }) => (
              <option key={id} value={id}>
                {[name, distinction].filter(Boolean).join(" · ")}
              </option>
            ))}
            <option value="">All projects</option>
          </select>
        </label>
        <fieldset className="flex flex-col gap-1">
          <legend className="font-medium">How long</legend>
          <label className="target flex items-center gap-2">
            <input type="radio" name="until" value="tomorrow" defaultChecked className="size-4 accent-accent" />
            Until tomorrow
          </label>
          <label className="target flex items-center gap-2">
            <input type="radio" name="until" value="on" className="size-4 accent-accent" />
            Until I turn it on
          </label>
        </fieldset>
        <p className="flex flex-wrap justify-end gap-3">
          <a href="/findings" className="button" data-keep="">
            Keep masking
          </a>
          <button type="submit" className="button button-bad">
            Stop masking
          </button>
        </p>
      </form>
    </Asked>
  );
}
