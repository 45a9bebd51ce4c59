import { operatorCommand } from "#lib/core/variables/operator-command";
import { hasWorker } from "#lib/observability/heartbeat";
import { Command } from "../../components/command";
import { Notice } from "../../components/notice";
import { Refresh } from "../../components/shell/refresh";

export async function Moving({ href }: { href: string }) {
  return (
    <>
      {!(await hasWorker()) && <WorkerNotice />}
      <Refresh everySeconds={2} />
      <noscript>
        <p className="pb-4">
          <a href={href} className="link">
            Refresh
          </a>
        </p>
      </noscript>
    </>
  );
}

function WorkerNotice() {
  return (
    <div className="pb-4">
      <Notice tone="warn">
        <p>Uploads are stored and waiting: no worker was seen in the last minute. Start one on the server:</p>
        <Command text={operatorCommand("worker")} />
      </Notice>
    </div>
  );
}
