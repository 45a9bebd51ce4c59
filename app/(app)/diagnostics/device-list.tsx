import type { DiagnosedDevice } from "#lib/telemetry/diagnostics";
import { Time } from "../../components/values/time";
import { DeviceName, Name } from "./names";

type Props = { devices: DiagnosedDevice[]; hasMore: boolean; showUsers: boolean };

export function DeviceList({ devices, hasMore, showUsers }: Props) {
  return (
    <>
      <ul aria-label="Clients" className="border-hairline border-t">
        {devices.map((device) => (
          <li
            key={`${device.userName} ${device.deviceId}`}
            className="grid gap-x-6 gap-y-1 border-hairline border-b py-2 sm:grid-cols-[minmax(0,1fr)_auto]"
          >
            <DeviceName device={device} showUser={showUsers} />
            <p className="flex flex-wrap gap-x-4 text-code text-muted">
              <span className="[overflow-wrap:anywhere]">
                <Name text={`${device.cliVersion} ${device.platform} ${device.arch}`.trim()} />
              </span>
              <span>
                scanned <Time at={device.seenAt.toISOString()} as="moment" />
              </span>
              <span>
                {device.lastUploadAt ? (
                  <>
                    uploaded <Time at={device.lastUploadAt.toISOString()} as="moment" />
                  </>
                ) : (
                  "no recent upload"
                )}
              </span>
            </p>
          </li>
        ))}
      </ul>
      {hasMore && <p className="text-muted">Older ones are not shown.</p>}
    </>
  );
}
