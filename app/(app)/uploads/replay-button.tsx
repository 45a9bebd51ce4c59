import { replayFormId } from "./replay-form";

/** Submits the page's `ReplayForm`. @param describedBy id of the upload's label */
export function ReplayButton({ jobId, describedBy }: { jobId: string | "all"; describedBy?: string }) {
  const isAll = jobId === "all";
  return (
    <button
      type="submit"
      form={replayFormId}
      name={isAll ? "all" : "id"}
      value={isAll ? "1" : jobId}
      aria-describedby={describedBy}
      className="button w-fit"
    >
      {isAll ? "Replay all" : "Replay"}
    </button>
  );
}
