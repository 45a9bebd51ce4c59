import { workerSeen } from "#lib/observability/heartbeat";
import { Command } from "../../components/command";
import { Notice } from "../../components/notice";
import { Refresh } from "../../components/refresh";

/** What a page with uploads that move has besides: it follows them, and says so where nothing works on them. */
export async function Moving({ href }: { href: string }) {
  return (
    <>
      {!(await workerSeen()) && <WorkerNotice />}
      <Refresh everySeconds={2} />
      <noscript>
        <p className="pb-4">
          <a href={href} className="link">
            Look again
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
        <p>Uploads are safe and wait: no worker was seen in the last minute. Start one on the server:</p>
        <Command text="npm run worker" />
      </Notice>
    </div>
  );
}
