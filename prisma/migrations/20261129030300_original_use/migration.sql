-- The parts of each exact copy, in order. Without a foreign key to either, which would lock them.
CREATE TABLE "original_use" (
    "user_id" UUID NOT NULL,
    "source" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "sha256" BYTEA NOT NULL,

    CONSTRAINT "original_use_pkey" PRIMARY KEY ("user_id","source","source_id","position")
);

CREATE INDEX "original_use_user_id_sha256_idx" ON "original_use"("user_id", "sha256");

ALTER TABLE "original_use" ADD CONSTRAINT "original_use_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
