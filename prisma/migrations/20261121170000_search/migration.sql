-- What is not yet searchable, told in the row that an upload writes anyway
ALTER TABLE "trace" ADD COLUMN "search_pending" BOOLEAN NOT NULL DEFAULT true;

CREATE TABLE "search_block" (
    "user_id" UUID NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "bits" SMALLINT NOT NULL,
    "documents" INTEGER NOT NULL,
    "postings" INTEGER NOT NULL,

    CONSTRAINT "search_block_pkey" PRIMARY KEY ("user_id","id")
);

CREATE TABLE "search_bucket" (
    "user_id" UUID NOT NULL,
    "block_id" BIGINT NOT NULL,
    "bucket" INTEGER NOT NULL,
    "postings" BYTEA NOT NULL,

    CONSTRAINT "search_bucket_pkey" PRIMARY KEY ("user_id","block_id","bucket")
);

CREATE TABLE "search_document" (
    "user_id" UUID NOT NULL,
    "trace_id" UUID NOT NULL,
    "first_position" INTEGER NOT NULL,
    "block_id" BIGINT NOT NULL,
    "slot" SMALLINT NOT NULL,

    CONSTRAINT "search_document_pkey" PRIMARY KEY ("user_id","trace_id","first_position")
);

CREATE UNIQUE INDEX "search_document_user_id_block_id_slot_key" ON "search_document"("user_id", "block_id", "slot");

ALTER TABLE "search_block" ADD CONSTRAINT "search_block_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "search_bucket" ADD CONSTRAINT "search_bucket_user_id_block_id_fkey" FOREIGN KEY ("user_id", "block_id") REFERENCES "search_block"("user_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "search_document" ADD CONSTRAINT "search_document_user_id_block_id_fkey" FOREIGN KEY ("user_id", "block_id") REFERENCES "search_block"("user_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "search_document" ADD CONSTRAINT "search_document_user_id_trace_id_fkey" FOREIGN KEY ("user_id", "trace_id") REFERENCES "trace"("user_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What Prisma's schema language cannot say.

-- Postings are close to random bytes: compressing them would only cost time
ALTER TABLE "search_bucket" ALTER COLUMN "postings" SET STORAGE EXTERNAL;

-- What the indexer takes next, oldest first, and how many sessions of a user are not yet searchable
CREATE INDEX "trace_search_pending" ON "trace"("user_id", "stored_at") WHERE search_pending AND deleted_at IS NULL;
