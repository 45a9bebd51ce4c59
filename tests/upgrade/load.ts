// Requests of every kind, sent without a pause to the servers that are ready, as a load balancer would.
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Launched } from "./process.ts";

export type Answer = { phase: string; by: string; path: string; status: number; ms: number };

export const account = { email: "ada@example.org", password: "correct horse battery staple" };

export class Load {
  readonly answers: Answer[] = [];
  /** The keys of uploads by the job that acknowledged them. */
  readonly acknowledged = new Map<string, string>();
  #phase = "";
  /** How often each kind of request was sent in this phase. */
  readonly #rounds = new Map<unknown, number>();
  readonly #servers: Launched[] = [];
  readonly #token: string;
  readonly #stopping = new AbortController();
  #ready: Launched[] = [];
  #running: Promise<unknown>[] = [];
  readonly #sending = new Set<Promise<void>>();

  constructor(token: string) {
    this.#token = token;
  }

  begin(phase: string): void {
    this.#phase = phase;
    this.#rounds.clear();
  }

  /** How often every kind of request was sent in this phase. */
  get rounds(): number {
    return Math.min(...this.#kinds.map((send) => this.#rounds.get(send) ?? 0));
  }

  /** Sends requests to a server from when it is ready. */
  add(server: Launched): void {
    this.#servers.push(server);
  }

  /** Sends a server nothing more, and waits for what it has. */
  async remove(server: Launched): Promise<void> {
    this.#servers.splice(this.#servers.indexOf(server), 1);
    this.#ready = this.#ready.filter((one) => one !== server);
    await Promise.all(this.#sending);
  }

  start(): void {
    const probe = async () => {
      while (!this.#stopping.signal.aborted) {
        const states = await Promise.all(this.#servers.map(async (one) => ((await one.isReady()) ? [one] : [])));
        this.#ready = states.flat().filter((one) => this.#servers.includes(one));
        await sleep(200);
      }
    };
    this.#running = [probe(), ...this.#kinds.map((send) => this.#repeat(send))];
  }

  /** Which servers get requests right now. */
  get targets(): string[] {
    return this.#ready.map(({ name }) => name);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }

  /** Uploads sessions to a server, whether it is ready or not. */
  async upload(server: Launched, sessions: number): Promise<void> {
    for (let n = 0; n < sessions; n += 1) await this.#upload(server);
  }

  /** The keys of all sessions, by whether what is read of one is all that is counted of it, and it is found by what it says. */
  async readAll(server: Launched): Promise<Map<string, boolean>> {
    const found = new Set((await this.#list(server, "q=word&")).map(({ id }) => id));
    const keys = new Map<string, boolean>();
    for (const { id, sourceId, messageCount } of await this.#list(server, "")) {
      const { messages } = await this.#read(server, `/api/traces/${id}/messages`);
      keys.set(sourceId, messages.length === messageCount && (messageCount === 0 || found.has(id)));
    }
    return keys;
  }

  async #list(server: Launched, query: string): Promise<{ id: string; sourceId: string; messageCount: number }[]> {
    const listed = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const after: string = cursor && `&cursor=${encodeURIComponent(cursor)}`;
      const page = await this.#read(server, `/api/traces?${query}limit=200${after}`);
      listed.push(...page.traces);
      cursor = page.nextCursor;
    }
    return listed;
  }

  async #read(server: Launched, path: string) {
    const response = await fetch(server.url + path, { headers: this.#bearer() });
    if (!response.ok) throw new Error(`${path} is a ${response.status}`);
    return response.json();
  }

  async #repeat(send: (server: Launched) => Promise<void>): Promise<void> {
    for (let n = 0; !this.#stopping.signal.aborted; n += 1) {
      const server = this.#ready[n % Math.max(1, this.#ready.length)];
      if (server) {
        const sent = send(server);
        this.#sending.add(sent);
        await sent;
        this.#sending.delete(sent);
        this.#rounds.set(send, (this.#rounds.get(send) ?? 0) + 1);
      }
      await sleep(30);
    }
  }

  async #call(server: Launched, method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const startedAt = performance.now();
    const phase = this.#phase;
    const address = Array.from(randomBytes(3)).join(".");
    const response = await fetch(server.url + path, {
      method,
      redirect: "manual",
      headers: { "X-Forwarded-For": `10.${address}`, "Content-Type": "application/json", ...headers },
      ...(body && { body: JSON.stringify(body) }),
    }).catch(() => undefined);
    const text = (await response?.text().catch(() => "")) ?? "";
    const ms = performance.now() - startedAt;
    const kind = `${method} ${path.replace(/\?.*/, "")}`;
    this.answers.push({ phase, by: server.name, path: kind, status: response?.status ?? 0, ms });
    return { response, text };
  }

  readonly #bearer = () => ({ Authorization: `Bearer ${this.#token}` });

  readonly #kinds: ((server: Launched) => Promise<void>)[] = [
    (server) => this.#upload(server),
    async (server) => {
      const key = `s-${Math.floor(Math.random() * 20)}`;
      await this.#upload(server, key, Math.floor(Math.random() * 5));
    },
    async (server) => {
      await this.#call(server, "GET", "/api/traces?q=word&limit=5", undefined, this.#bearer());
    },
    async (server) => {
      await this.#call(server, "GET", "/api/traces/export?limit=3", undefined, this.#bearer());
    },
    async (server) => {
      await this.#call(server, "GET", "/api/cli/session", undefined, this.#bearer());
    },
    async (server) => {
      const { text } = await this.#call(server, "POST", "/api/cli/device/start", { machine: "laptop" });
      const { deviceCode } = JSON.parse(text.startsWith("{") ? text : "{}") as { deviceCode?: string };
      if (deviceCode) await this.#call(server, "GET", `/api/cli/device/poll?deviceCode=${deviceCode}`);
    },
    async (server) => {
      const scan = { schema: 1, deviceId: "d", cliVersion: "1.0.0", platform: "linux", arch: "x64", command: "scan" };
      const body = { ...scan, diagnostics: [{ adapter: "codex" }] };
      await this.#call(server, "POST", "/api/cli/telemetry", body, this.#bearer());
    },
    async (server) => {
      const headers = { Origin: "http://localhost:3000" };
      const { response } = await this.#call(server, "POST", "/api/auth/sign-in/email", account, headers);
      const Cookie = response?.headers.get("set-cookie")?.split(";")[0] ?? "";
      for (const page of ["/traces", "/usage", "/uploads", "/devices", "/settings", "/diagnostics"]) {
        await this.#call(server, "GET", page, undefined, { Cookie });
      }
    },
  ];

  async #upload(server: Launched, sourceId: string = randomUUID(), length = 3): Promise<void> {
    const messages = Array.from({ length }, (_, position) => ({ position, role: "user", content: `word ${position}` }));
    const body = { traces: [{ sourceId, source: "upgrade", messages }] };
    const { response, text } = await this.#call(server, "POST", "/api/ingest", body, this.#bearer());
    if (response?.status === 202) this.acknowledged.set((JSON.parse(text) as { jobId: string }).jobId, sourceId);
  }
}
