import { defineConfig } from "prisma/config";

// The CLI would download a schema engine. `generate`, `validate` and `format` never start it, and Spoor migrates with
// the WASM engine (lib/db/migrate.ts), so any existing file serves as its path.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;

export default defineConfig({
  schema: "prisma/schema.prisma",
  migrations: { path: "prisma/migrations" },
  datasource: { url: process.env.DATABASE_URL ?? "" },
});
