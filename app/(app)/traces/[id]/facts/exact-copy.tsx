import type { describeOriginal } from "#lib/originals/queries";
import { formatBytes } from "#lib/transcript/text";
import { Fingerprint } from "../../../../components/fingerprint";
import { Form } from "../../../../components/forms/form";
import { formatQuantity } from "../../../../components/values/figures";
import { Time } from "../../../../components/values/time";
import { deleteCopyAction } from "./delete-actions";

export type Copy = NonNullable<Awaited<ReturnType<typeof describeOriginal>>>;

export function ExactCopy({ traceId, copy }: { traceId: string; copy: Copy }) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-code">
      <p id="exact-copy" title={`${formatBytes(copy.storedBytes)}, from ${copy.machine}`}>
        <span className="text-muted">Exact copy:</span> {formatQuantity(copy.files, "file")},{" "}
        <Time at={copy.updatedAt} as="ago" />, key <Fingerprint of={copy.fingerprint} />
      </p>
      <Form
        action={deleteCopyAction}
        hidden={{ id: traceId }}
        submit="Delete copy"
        describedBy="exact-copy"
        question="Delete the exact copy? The session stays here. If its files are gone, it can't be resumed exactly."
        inLine
      />
    </div>
  );
}
