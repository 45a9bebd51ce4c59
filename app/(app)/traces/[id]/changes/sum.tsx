import type { Trace } from "#lib/traces/queries";
import { countOf, formatCount } from "../../../../components/figures";
import type { DrawnFile } from "./draw-changes";

type Props = {
  files: Pick<DrawnFile, "added" | "removed">[];
  untold: number;
  cut: boolean;
  trace?: Pick<Trace, "linesAdded" | "linesRemoved">;
};

/** The net lines, and where an edit was edited again those of all edits, which the list of sessions has. */
export function Sum({ files, untold, cut, trace }: Props) {
  const total = (side: "added" | "removed") => files.reduce((sum, file) => sum + file[side], 0);
  return (
    <p className="text-code text-muted">
      {files.length === 0 ? (
        "The session tells of no change to a file."
      ) : (
        <>
          {countOf(files.length, "file")} <span className="text-ok">+{formatCount(total("added"))}</span>{" "}
          <span className="text-bad">−{formatCount(total("removed"))}</span> net
          {trace && (trace.linesAdded !== total("added") || trace.linesRemoved !== total("removed")) && (
            <>
              , +{formatCount(trace.linesAdded)} −{formatCount(trace.linesRemoved)} in all edits together
            </>
          )}
          .<span className="needs-script pointer-coarse:hidden"> j and k step through them.</span>
        </>
      )}
      {untold > 0 && ` Of ${countOf(untold, "more file")} the session tells only that it changed, not how.`}
      {cut && " There was more than is shown: only the first changes are here."}
    </p>
  );
}
