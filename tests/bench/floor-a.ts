// Floor A: the least work that is durable. It reads a body, parses it, compresses it, and commits it in one INSERT before it
// answers.
import { createServer } from "node:http";
import { constants, zstdCompressSync } from "node:zlib";
import pg from "pg";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 4 });
await pool.query("create table if not exists floor_upload (id bigserial primary key, body bytea not null)");
await pool.query("alter table floor_upload alter column body set storage external");

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  JSON.parse(body.toString("utf8"));
  const stored = zstdCompressSync(body, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
  await pool.query("insert into floor_upload (body) values ($1)", [stored]);
  response.writeHead(202).end();
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.(typeof address === "object" ? address?.port : undefined);
});
process.once("disconnect", () => process.exit(0));
