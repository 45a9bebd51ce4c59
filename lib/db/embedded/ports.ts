import { createServer } from "node:net";

export async function freePort(): Promise<number> {
  const port = await listen(0);
  if (port === undefined) throw new Error("No free port was found.");
  return port;
}

export async function isFree(port: number): Promise<boolean> {
  return (await listen(port)) !== undefined;
}

async function listen(port: number): Promise<number | undefined> {
  const probe = createServer();
  const bound = await new Promise<boolean>((resolve) => {
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => resolve(true));
  });
  if (!bound) return undefined;
  const address = probe.address();
  await new Promise((closed) => probe.close(closed));
  return typeof address === "object" ? address?.port : undefined;
}
