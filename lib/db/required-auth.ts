// Implements `require_auth=scram-sha-256`, which libpq knows and `pg` does not. SCRAM proves the server too, so that
// another listener at its port gets neither the password nor a statement.
import "server-only";
import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import pg from "pg";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { EnvError } from "#lib/core/errors";

const parameter = "require_auth";
const method = "scram-sha-256";

/** Every URL that `pg` is given passes here. @throws EnvError for another method */
export function withRequiredAuth(url: string): string {
  if (!URL.canParse(url)) return url; // reported where it is used
  const { hostname, port, searchParams } = new URL(url);
  const required = searchParams.get(parameter);
  if (required === null) return url;
  if (required !== method) throw new EnvError(`The only supported value in a database URL is ${parameter}=${method}.`);
  oncePerProcess("addresses that require SCRAM", watchClients).add(joinAddress(hostname, port || 5432));
  return url;
}

const joinAddress = (host: string, port: string | number) => `${host.replace(/^\[|\]$/g, "")} ${port}`;

function watchClients(): Set<string> {
  const addresses = new Set<string>();
  const { prototype } = pg.Client;
  const connect = prototype.connect as (...values: unknown[]) => unknown;
  prototype.connect = function (this: Connecting, ...values: unknown[]) {
    if (addresses.has(joinAddress(this.host, this.port))) guard(this);
    return connect.apply(this, values);
  } as typeof prototype.connect;
  return addresses;
}

/** `saslSession` is null once the server has proven that it knows the password. */
type Connecting = pg.Client & { connection: EventEmitter & { stream: Socket }; saslSession?: object | null };

function guard(client: Connecting): void {
  const { connection } = client;
  const refuse = (what: string) => {
    connection.removeAllListeners("readyForQuery");
    const text = `the program listening at ${client.host}:${client.port} is not the database: it ${what}`;
    connection.stream.destroy(Object.assign(new Error(text), { code: "08001" }));
  };
  connection.on("authenticationCleartextPassword", () => refuse("asks for the password in clear text"));
  connection.on("authenticationMD5Password", () => refuse("asks for an MD5 hash of the password"));
  connection.on("authenticationOk", () => {
    if (client.saslSession !== null) refuse("does not prove that it knows the password");
  });
}
