import { getStorage, type Storage } from "#lib/ingest/quota/quota";
import { formatBytes } from "#lib/transcript/text";
import { Notice } from "./notice";
import { formatQuantity } from "./values/figures";

const nearlyFull = 0.9;

export async function StorageUse({ userId }: { userId: string }) {
  const { used, quota } = await getStorage(userId);
  if (quota === undefined) {
    return (
      <p className="text-muted">
        Storage used: <span title={formatQuantity(used, "byte")}>{formatBytes(used)}</span>
      </p>
    );
  }
  return <QuotaUse used={used} quota={quota} />;
}

function QuotaUse({ used, quota }: Storage & { quota: number }) {
  const share = quota > 0 ? Math.min(1, used / quota) : 1;
  const isNearlyFull = share >= nearlyFull;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex max-w-[25rem] flex-col gap-1">
        <p id="storage">
          <span title={`${formatQuantity(used, "byte")} of ${formatQuantity(quota, "byte")}`}>
            {formatBytes(used)} of {formatBytes(quota)}
          </span>{" "}
          <span className="text-muted">used by your sessions</span>
        </p>
        <svg aria-hidden="true" className="h-1.5 w-full">
          <rect width="100%" height="100%" rx="2" className="fill-hairline" />
          <rect
            width={`${Math.max(0.5, 100 * share)}%`}
            height="100%"
            rx="2"
            className={isNearlyFull ? "fill-warn" : "fill-accent"}
          />
        </svg>
      </div>
      {isNearlyFull && (
        <Notice tone="warn">
          <p>
            Nearly full: uploads that do not fit are refused. Deleting sessions makes room at once; the clients then
            send what is missing.
          </p>
        </Notice>
      )}
    </div>
  );
}
