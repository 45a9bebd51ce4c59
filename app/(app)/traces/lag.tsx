import { Notice } from "../../components/notice";

export function Lag({ sessions }: { sessions: number }) {
  if (sessions === 0) return null;
  const count =
    sessions >= 1000 ? "1,000 or more sessions are" : sessions === 1 ? "1 session is" : `${sessions} sessions are`;
  return (
    <div className="pb-4">
      <Notice tone="info">
        <p>{count} not yet searchable.</p>
      </Notice>
    </div>
  );
}
