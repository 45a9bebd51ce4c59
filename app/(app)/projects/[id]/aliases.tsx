import { withoutInvisible } from "#lib/core/fields";
import type { ProjectDetails } from "#lib/projects/queries";
import { getAliasKey } from "#lib/transcript/project";
import { Form } from "../../../components/forms/form";
import { Section } from "../../../components/section";
import { splitAction } from "../actions";

type Alias = ProjectDetails["aliases"][number];

const kindNames: Record<Alias["kind"], string> = { remote: "Git remote", folder: "Folder", name: "Name" };

const getKey = (alias: Alias) => getAliasKey({ ...alias, machine: alias.machine ?? "" });

export function Aliases({ project: { id, aliases } }: { project: ProjectDetails }) {
  return (
    <Section id="recognized" title="Recognized by">
      <ul aria-label="Recognized by" className="flex flex-col gap-1">
        {aliases.map((alias) => (
          <li key={getKey(alias)}>
            <AliasText alias={alias} />
          </li>
        ))}
      </ul>
      {aliases.length > 1 && (
        <details>
          <summary className="w-fit text-code text-muted hover:text-text">Split off</summary>
          <div className="mt-2 flex max-w-[60ch] flex-col gap-3 rounded-block border border-hairline bg-block p-3">
            <p>
              Current and later sessions with the chosen identifiers become a separate project. Nothing is deleted, and
              you can merge the two again.
            </p>
            <Form
              action={splitAction}
              hidden={{ id }}
              fields={[
                {
                  name: "new_name",
                  label: "Name of the new project",
                  autoComplete: "off",
                  maxLength: 128,
                  optional: true,
                  hint: "If empty, it gets the first chosen name.",
                },
              ]}
              submit="Split off"
            >
              <fieldset className="flex flex-col gap-1">
                <legend className="pb-1 font-medium">What to split off</legend>
                {aliases.map((alias) => (
                  <label key={getKey(alias)} className="flex items-start gap-2 pointer-coarse:min-h-11">
                    <input type="checkbox" name="alias" value={getKey(alias)} className="mt-0.5 size-4 accent-accent" />
                    <AliasText alias={alias} />
                  </label>
                ))}
              </fieldset>
            </Form>
          </div>
        </details>
      )}
    </Section>
  );
}

function AliasText({ alias: { kind, machine, value } }: { alias: Alias }) {
  return (
    <span className="min-w-0 [overflow-wrap:anywhere]">
      <span className="text-muted">{kindNames[kind]} </span>
      <bdi className="font-mono text-code">{withoutInvisible(value)}</bdi>
      {machine && (
        <span className="text-muted">
          {" "}
          on <bdi>{machine}</bdi>
        </span>
      )}
    </span>
  );
}
