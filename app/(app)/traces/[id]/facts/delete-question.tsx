import { countSelection } from "#lib/traces/deletion";
import { findSubagents } from "#lib/traces/family";
import type { Trace } from "#lib/traces/queries";
import { Asked } from "../../../../components/forms/asked";
import { formatQuantity } from "../../../../components/values/figures";
import { deleteAction } from "./delete-actions";

export async function DeleteQuestion({ userId, trace }: { userId: string; trace: Trace }) {
  const below = await findSubagents(userId, [trace.id]);
  const all = below.length > 0 ? await countSelection(userId, { ids: [trace.id, ...below] }) : undefined;
  return (
    <Asked title="Delete this session?" back={`/traces/${trace.id}`}>
      <form action={deleteAction} className="flex flex-col gap-4">
        <input type="hidden" name="id" value={trace.id} />
        <p className="text-ui">
          Delete <strong className="break-words font-semibold">{trace.shortTitle || "Untitled session"}</strong> and its{" "}
          {formatQuantity(trace.messageCount, "message")} permanently? It won’t be uploaded again.
        </p>
        {all && (
          <label className="flex items-start gap-2 text-ui">
            <input type="checkbox" name="below" value={all.mark} defaultChecked className="mt-1 size-4 accent-accent" />
            <span>
              Delete its {formatQuantity(below.length, "sub-agent")} with{" "}
              {formatQuantity(all.messages - trace.messageCount, "message")}, too. Otherwise{" "}
              {below.length === 1 ? "it stays, on its own" : "they stay, on their own"}.
            </span>
          </label>
        )}
        <p className="flex flex-wrap justify-end gap-3">
          <a href={`/traces/${trace.id}`} className="button" data-keep="">
            Cancel
          </a>
          <button type="submit" className="button button-bad">
            Delete
          </button>
        </p>
      </form>
    </Asked>
  );
}
