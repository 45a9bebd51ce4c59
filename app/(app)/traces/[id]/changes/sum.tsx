import { formatCount, formatQuantity } from "../../../../components/values/figures";
import type { DrawnFile } from "./draw-changes";

type Props = {
  files: Pick<DrawnFile, "added" | "removed">[];
  untold: number;
  cut: boolean;
  edits?: { added: number; removed: number };
};

export function Sum({ files, untold, cut, edits }: Props) {
  const total = (side: "added" | "removed") => files.reduce((sum, file) => sum + file[side], 0);
  return (
    <p className="text-code text-muted">
      {files.length === 0 ? (
        "This session changed no files."
      ) : (
        <>
          {formatQuantity(files.length, "file")} <span className="text-ok">+{formatCount(total("added"))}</span>{" "}
          <span className="text-bad">−{formatCount(total("removed"))}</span> net
          {edits && (edits.added !== total("added") || edits.removed !== total("removed")) && (
            <>
              , +{formatCount(edits.added)} −{formatCount(edits.removed)} in all edits
            </>
          )}
          .<span className="needs-script pointer-coarse:hidden"> j and k step through them.</span>
        </>
      )}
      {untold > 0 && ` ${formatQuantity(untold, "more file")} changed, but the session doesn’t show how.`}
      {cut && " Too many changes: only the first ones are shown."}
    </p>
  );
}
