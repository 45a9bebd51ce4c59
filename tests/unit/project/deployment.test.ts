// What is deployed by files that no compiler reads: compose.yaml, vercel.json, the systemd unit, the proxies' examples.
import { existsSync, globSync, readFileSync } from "node:fs";
import { BlockList } from "node:net";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { environment, parseEnv, usualWireBytes } from "#lib/core/env";
import { limits } from "#lib/core/limits";

const read = (path: string) => readFileSync(path, "utf8");
/** How long the launcher takes to end its processes (docs/operations.md). */
const drainSeconds = 15;

type Service = {
  image: string;
  command?: string;
  scale?: number;
  environment?: Record<string, string | number>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test?: string[]; disable?: boolean };
  volumes?: string[];
  networks?: { default: { ipv4_address: string } };
  stop_grace_period?: string;
  restart?: string;
};

const dockerfile = read("Dockerfile");
const [, port] = /\bPORT=(\d+)/.exec(dockerfile) ?? [];

describe("compose.yaml", () => {
  const text = read("compose.yaml");
  const compose = parse(text, { merge: true }) as {
    services: Record<string, Service>;
    networks: { default: { ipam: { config: { subnet: string; ip_range: string }[] } } };
    volumes: Record<string, unknown>;
  };
  const services = Object.entries(compose.services);
  const own = services.filter(([, { image }]) => image.startsWith("spoor:"));
  const postgres = compose.services.postgres as Service;
  const caddy = compose.services.caddy as Service;
  const asked = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
  /** A value as Compose would fill it from `.env`. */
  const filled = (value: string | number) =>
    String(value)
      .replace(/\$\{SITE.*?\}/g, "spoor.example.org")
      .replace(/\$\{SETUP_TOKEN.*?\}/g, "")
      .replace(/\$\{\w+.*?\}/g, "0123456789abcdef0123456789abcdef");

  test.each(own)("%s runs a role of the launcher, with variables that exist and have allowed values", (_, service) => {
    expect(["web", "worker", "migrate"]).toContain(service.command);
    const variables = Object.fromEntries(
      Object.entries(service.environment ?? {}).map(([name, value]) => [name, filled(value)]),
    );
    expect(Object.keys(variables).filter((name) => !(name in environment))).toEqual([]);
    expect(parseEnv(variables)).toMatchObject({ BASE_URL: "https://spoor.example.org", SETUP_TOKEN: undefined });
    for (const name of ["DATABASE_URL", "DIRECT_DATABASE_URL"])
      expect(Object.keys(compose.services)).toContain(new URL(variables[name] ?? "").hostname);
    expect(Number.parseInt(service.stop_grace_period ?? "", 10)).toBeGreaterThan(drainSeconds);
  });

  test("each of the launcher's roles is there, after the migration, and only what serves has a health check", () => {
    expect(own.map(([name]) => name)).toEqual(["migrate", "web", "worker"]);
    const { migrate, web, worker } = compose.services as Record<"migrate" | "web" | "worker", Service>;
    for (const one of [web, worker]) {
      expect(one.scale).toBe(2);
      expect(one.depends_on).toEqual({ migrate: { condition: "service_completed_successfully" } });
    }
    expect(migrate.restart).toBe("no");
    expect([migrate, web, worker].map(({ healthcheck }) => healthcheck?.disable)).toEqual([true, undefined, true]);
  });

  test("what a service waits for exists and can come about", () => {
    for (const [, { depends_on: needed = {} }] of services) {
      for (const [name, { condition }] of Object.entries(needed)) {
        const one = compose.services[name];
        expect(one).toBeDefined();
        expect(["service_started", "service_healthy", "service_completed_successfully"]).toContain(condition);
        if (condition === "service_healthy") expect(one?.healthcheck?.test).toBeDefined();
        if (condition === "service_completed_successfully") expect(one?.restart).toBe("no");
      }
    }
  });

  test("Caddy alone is trusted, at an address that no other container gets", () => {
    const address = caddy.networks?.default.ipv4_address ?? "";
    for (const [, { environment: given }] of own) expect(given?.TRUSTED_PROXIES).toBe(address);
    const holds = (network = "") => {
      const [base = "", bits] = network.split("/");
      const list = new BlockList();
      list.addSubnet(base, Number(bits));
      return list.check(address);
    };
    const [network] = compose.networks.default.ipam.config;
    expect([holds(network?.subnet), holds(network?.ip_range)]).toEqual([true, false]);
  });

  test("volumes are declared, and files that are mounted exist", () => {
    const sources = services.flatMap(([, { volumes = [] }]) => volumes.map((one) => one.split(":")[0] ?? ""));
    for (const source of sources)
      expect(source.startsWith("./") ? existsSync(source) : source in compose.volumes).toBe(true);
    expect(Object.keys(compose.volumes).toSorted()).toEqual(sources.filter((one) => !one.startsWith(".")).toSorted());
  });

  test("what it asks of .env is what docs/deploy/docker.md puts there", () => {
    const [, file = ""] = /cat > \.env <<END\n([\s\S]*?)\nEND\n/.exec(read("docs/deploy/docker.md")) ?? [];
    const written = file.split("\n").map((line) => line.split("=")[0] ?? "");
    expect([...asked].filter((name) => name !== "SPOOR_VERSION").toSorted()).toEqual(written.toSorted());
  });

  test("PostgreSQL has as many connections as all of it opens", () => {
    const [, most] = /max_connections=(\d+)/.exec(postgres.command ?? "") ?? [];
    const pooled = Number(compose.services.pgbouncer?.environment?.DEFAULT_POOL_SIZE);
    expect(pooled + 2 * 12 + 4).toBeLessThan(Number(most) - 10); // two workers, a migration, and room for people
  });
});

describe("vercel.json", () => {
  const { crons, functions, buildCommand } = JSON.parse(read("vercel.json")) as {
    crons: { path: string; schedule: string }[];
    functions: Record<string, { maxDuration: number }>;
    buildCommand: string;
  };

  test("calls the cron, which is a route and takes a GET, each minute", () => {
    expect(crons).toEqual([{ path: "/api/cron", schedule: "* * * * *" }]);
    expect(read("app/api/cron/route.ts")).toMatch(/route\(\{ GET: drain/);
  });

  test("gives functions the time of a drain, as the routes that need it ask", () => {
    for (const [pattern, { maxDuration }] of Object.entries(functions)) {
      expect(globSync(pattern).length).toBeGreaterThan(0);
      expect(maxDuration).toBeGreaterThan(limits.cron.drainSeconds + 10);
      for (const path of ["cron", "ingest", "uploads"])
        expect(read(`app/api/${path}/route.ts`)).toContain(`export const maxDuration = ${maxDuration};`);
    }
  });

  test("migrates before it builds, by scripts that exist", () => {
    const scripts = [...buildCommand.matchAll(/npm run (\w+)/g)].map(([, name]) => name);
    expect(scripts).toEqual(["migrate", "build"]);
    expect(JSON.parse(read("package.json")).scripts).toMatchObject({ migrate: /./, build: /./ });
  });
});

test("the Dockerfile's image runs as nobody, with a health check that is a route, and starts a role", () => {
  expect(dockerfile).toMatch(/^USER (?!0|root)\d+:\d+$/m);
  expect(dockerfile).toMatch(/^HEALTHCHECK .*\/api\/health/m);
  expect(existsSync("app/api/health/route.ts")).toBe(true);
  expect(dockerfile).toMatch(/^ENTRYPOINT \["node", "dist\/server\/start\.mjs"\]\nCMD \["web"\]$/m);
  const [, variables = ""] = /^ENV (.*)$/m.exec(dockerfile) ?? [];
  for (const [, name = ""] of variables.matchAll(/(\w+)=/g)) expect(name in environment).toBe(true);
});

test("the image has the license of the fonts in it", () => {
  const [license = ""] = globSync("app/fonts/*.txt");
  expect(read(license)).toContain("SIL OPEN FONT LICENSE");
  expect(dockerfile).toMatch(new RegExp(`^COPY --from=build /src/${license} `, "m"));
});

test("the service starts a file that exists with Node itself, and is given time to drain", () => {
  const unit = read("deploy/spoor.service");
  const [, node, script = ""] = /^ExecStart=(\S+) (\S+)$/m.exec(unit) ?? [];
  expect(node).toBe("/opt/spoor/node_modules/.bin/node");
  expect(existsSync(script)).toBe(true);
  expect(unit).toMatch(/^KillMode=mixed$/m);
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(drainSeconds);
  for (const [, name = ""] of unit.matchAll(/^Environment=(\w+)=/gm)) expect(name in environment).toBe(true);
});

test.each([
  ["deploy/nginx.conf", /server 127\.0\.0\.1:(\d+)/, /client_max_body_size (\d+)m;/],
  ["deploy/Caddyfile", /dynamic a web (\d+)/, /max_size (\d+)MB/],
])("%s passes on to the port of a web, bodies as large as Spoor takes", (file, upstream, size) => {
  const text = read(file);
  expect(upstream.exec(text)?.[1]).toBe(port);
  expect(Number(size.exec(text)?.[1]) * 1e6).toBeGreaterThan(usualWireBytes);
});

test("nginx passes on the browser's host and the address that it sees, and none that a client names", () => {
  const text = read("deploy/nginx.conf");
  expect(text).toMatch(/proxy_set_header Host \$http_host;/);
  expect(text).toMatch(/proxy_set_header X-Forwarded-For \$remote_addr;/);
  expect(text).not.toMatch(/^\s*proxy_set_header.*proxy_add_x_forwarded_for/m);
});
