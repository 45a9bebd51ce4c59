import type { Context } from "../context.ts";
import { CommandError } from "../errors.ts";
import { type Fields, isFields, parseJson, toText } from "../files/json.ts";
import { HttpError } from "../server/api.ts";
import { type Connection, connectLoggedIn } from "../server/connection.ts";

const maxAtOnce = 8;
const versionKey = "io.modelcontextprotocol/protocolVersion";
/** JSON-RPC 2.0, section 5.1, and its range for servers. */
const codes = { parse: -32_700, server: -32_000 };

/** Some agents can't use HTTP. */
export async function mcp(context: Context): Promise<void> {
  const { terminal, signal } = context;
  const connection = await connectLoggedIn(context, { patienceSeconds: 5 });
  const relay = new Relay(connection, (message) => terminal.message(JSON.stringify(message)));
  const running = new Set<Promise<void>>();
  for await (const line of terminal.lines(signal)) {
    if (line.trim() === "") continue;
    const work = relay.pass(line).finally(() => running.delete(work));
    running.add(work);
    if (running.size >= maxAtOnce) await Promise.race(running);
  }
  await Promise.all(running);
}

class Relay {
  readonly #connection: Connection;
  readonly #write: (message: object) => void;
  #agreed: string | undefined;

  constructor(connection: Connection, write: (message: object) => void) {
    this.#connection = connection;
    this.#write = write;
  }

  async pass(line: string): Promise<void> {
    const message = parseJson(line);
    if (!isFields(message)) return this.#fail(null, codes.parse, "This is not a JSON-RPC message.");
    try {
      const answer = await this.#send(message);
      if (answer) this.#write(answer);
    } catch (error) {
      const isKnown = error instanceof CommandError || error instanceof HttpError;
      this.#fail(message.id, codes.server, isKnown ? error.message : "The call failed.");
    }
  }

  async #send(message: Fields): Promise<Fields | undefined> {
    const options = {
      method: "POST",
      json: message,
      headers: this.#makeHeaders(message),
      returnsErrors: true,
    } as const;
    const { status, body } = await this.#connection.api.request("/mcp", options);
    if (status === 202) return undefined;
    if (body.jsonrpc === "2.0") {
      if (message.method === "initialize" && isFields(body.result))
        this.#agreed = toText(body.result.protocolVersion) || undefined;
      return body;
    }
    const login = status === 401 ? ` Log in with: spoor login --server ${this.#connection.server}` : "";
    throw new CommandError("failed", `${toText(body.detail) || `The server answered ${status}.`}${login}`);
  }

  /** The protocol repeats some fields in headers, so that proxies need not parse bodies. */
  #makeHeaders({ method, params }: Fields): Record<string, string> {
    const given = isFields(params) ? params : {};
    const own = isFields(given._meta) ? toText(given._meta[versionKey]) : "";
    const version = own || this.#agreed;
    const name = toText(given.name) || toText(given.uri);
    return {
      Accept: "application/json, text/event-stream",
      ...(version && { "MCP-Protocol-Version": version }),
      ...(own && typeof method === "string" && { "Mcp-Method": method }),
      ...(own && /^[!-~]+$/.test(name) && { "Mcp-Name": name }),
    };
  }

  #fail(id: unknown, code: number, message: string): void {
    if (id !== undefined) this.#write({ jsonrpc: "2.0", id, error: { code, message } });
  }
}
