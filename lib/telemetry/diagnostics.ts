import "server-only";
import { prisma } from "#lib/db/client";
import { heavyTurn } from "#lib/db/heavy";
import {
  compareVersions,
  computeShares,
  findWorst,
  type HealthVerdict,
  judge,
  type VersionHealth,
} from "#lib/telemetry/health";
import {
  countTroubledMachines,
  readDays,
  readLastUploads,
  readTroubledMachines,
  readTypes,
  readVersions,
} from "#lib/telemetry/sql";

const max = {
  adapters: 50,
  versions: 5,
  types: 12,
  machines: 8,
  countedMachines: 1000,
  devices: 25,
  recentUploads: 300,
};
export const trendDays = 30;

/** The server's owner sees all devices, including anonymous ones. */
export type DiagnosticsReader = { userId: string; seesAll: boolean };

export type DiagnosedMachine = { deviceId: string; machine: string | null; userName: string | null; seenAt: Date };

/** `trend` is the worst share of each of the last 30 days, null without a scan. */
export type AdapterHealth = {
  adapter: string;
  versions: (VersionHealth & { troubledMachines: number })[];
  verdict: HealthVerdict;
  types: { type: string; count: number }[];
  machines: DiagnosedMachine[];
  trend: (number | null)[];
};

export type WorseAdapter = Pick<AdapterHealth, "adapter" | "verdict"> & { latest: string };

const ownDevices = ({ userId, seesAll }: DiagnosticsReader) => (seesAll ? {} : { userId });

export async function hasTelemetry(reader: DiagnosticsReader): Promise<boolean> {
  const found = await prisma().telemetryDevice.findFirst({ where: ownDevices(reader), select: { id: true } });
  return found !== null;
}

export const listAdapters = (reader: DiagnosticsReader): Promise<AdapterHealth[]> =>
  heavyTurn(reader.userId, () => readAdapters(reader));

export async function listWorse(reader: DiagnosticsReader): Promise<WorseAdapter[]> {
  const rows = await heavyTurn(reader.userId, () => readVersions(reader, trendDays, max.adapters));
  const found = [...groupVersions(rows)].map(([adapter, [latest, before]]) => ({
    adapter,
    latest: latest?.cliVersion ?? "",
    verdict: judge(latest as VersionHealth, before),
  }));
  return found.filter(({ verdict }) => verdict.change === "broke" || verdict.change === "worse");
}

async function readAdapters(reader: DiagnosticsReader): Promise<AdapterHealth[]> {
  const adapters = groupVersions(await readVersions(reader, trendDays, max.adapters));
  const names = [...adapters.keys()];
  const newest = [...adapters].map(([adapter, [first]]) => [adapter, first?.cliVersion ?? ""] as const);
  const shown = [...adapters].flatMap(([adapter, versions]) =>
    versions.map(({ cliVersion }) => [adapter, cliVersion] as const),
  );
  // One after the other, since a turn is one connection.
  const days = await readDays(reader, trendDays, names);
  const types = await readTypes(reader, trendDays, newest, max.types);
  const machines = await readTroubledMachines(reader, newest, { machines: max.machines, counted: max.countedMachines });
  const counts = await countTroubledMachines(reader, shown, max.countedMachines);
  const [trends, typesOf, machinesOf] = [toTrends(names, days), groupByAdapter(types), groupByAdapter(machines)];
  const counted = new Map(counts.map(({ adapter, cliVersion, count }) => [toKey(adapter, cliVersion), count]));
  const found = [...adapters].map(([adapter, versions]): AdapterHealth => {
    const [latest, before] = versions as [VersionHealth, VersionHealth | undefined];
    return {
      adapter,
      versions: versions.map((version) => ({
        ...version,
        troubledMachines: counted.get(toKey(adapter, version.cliVersion)) ?? 0,
      })),
      verdict: judge(latest, before),
      types: typesOf.get(adapter) ?? [],
      machines: machinesOf.get(adapter) ?? [],
      trend: trends.get(adapter) ?? [],
    };
  });
  return found.sort(worstFirst);
}

const ranks = { broke: 0, worse: 1, first: 2, same: 2, better: 2 } as const;

function worstFirst(a: AdapterHealth, b: AdapterHealth): number {
  const badness = ({ versions: [newest] }: AdapterHealth) => (newest ? findWorst(computeShares(newest)) : 0);
  return (
    ranks[a.verdict.change] - ranks[b.verdict.change] || badness(b) - badness(a) || (a.adapter < b.adapter ? -1 : 1)
  );
}

/** Neither text contains U+0000 (lib/telemetry/schema.ts). */
const toKey = (adapter: string, cliVersion: string) => `${adapter}\0${cliVersion}`;

function groupVersions(rows: Awaited<ReturnType<typeof readVersions>>): Map<string, VersionHealth[]> {
  const found = groupByAdapter(rows);
  for (const [adapter, versions] of found) {
    const newestFirst = versions.sort((a, b) => compareVersions(b.cliVersion, a.cliVersion));
    found.set(adapter, newestFirst.slice(0, max.versions));
  }
  return found;
}

function toTrends(adapters: string[], days: Awaited<ReturnType<typeof readDays>>): Map<string, (number | null)[]> {
  const found = new Map(adapters.map((adapter) => [adapter, Array<number | null>(trendDays).fill(null)]));
  for (const { adapter, daysAgo, ...day } of days) {
    const trend = found.get(adapter);
    if (trend && daysAgo >= 0) trend[trendDays - 1 - daysAgo] = findWorst(computeShares(day));
  }
  return found;
}

function groupByAdapter<T extends { adapter: string }>(rows: T[]): Map<string, Omit<T, "adapter">[]> {
  const found = new Map<string, Omit<T, "adapter">[]>();
  for (const { adapter, ...row } of rows) {
    const group = found.get(adapter);
    if (group) group.push(row);
    else found.set(adapter, [row]);
  }
  return found;
}

export type DiagnosedDevice = DiagnosedMachine & {
  cliVersion: string;
  platform: string;
  arch: string;
  lastUploadAt: Date | null;
};

/** `lastUploadAt` belongs to the machine of the device's token. */
export async function listDevices(
  reader: DiagnosticsReader,
): Promise<{ devices: DiagnosedDevice[]; hasMore: boolean }> {
  const found = await prisma().telemetryDevice.findMany({
    where: ownDevices(reader),
    omit: { id: true },
    include: { user: { select: { name: true } } },
    orderBy: { seenAt: "desc" },
    take: max.devices + 1,
  });
  const shown = found.slice(0, max.devices);
  const users = new Set(shown.flatMap(({ userId, machine }) => (userId && machine ? [userId] : [])));
  const uploads = new Map<string | null, Map<string, Date>>();
  for (const userId of users) uploads.set(userId, await readLastUploads(userId, max.recentUploads));
  const devices = shown.map(({ user, userId, ...device }) => ({
    ...device,
    userName: user?.name ?? null,
    lastUploadAt: uploads.get(userId)?.get(device.machine ?? "") ?? null,
  }));
  return { devices, hasMore: found.length > max.devices };
}
