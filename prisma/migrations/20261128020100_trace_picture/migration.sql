-- The pictures that a trace's messages refer to. Without a foreign key to the trace, which would lock it against an upload.
CREATE TABLE "trace_picture" (
    "user_id" UUID NOT NULL,
    "trace_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "sha256" BYTEA NOT NULL,

    CONSTRAINT "trace_picture_pkey" PRIMARY KEY ("user_id","trace_id","position","sha256")
);

CREATE INDEX "trace_picture_user_id_sha256_idx" ON "trace_picture"("user_id", "sha256");

ALTER TABLE "trace_picture" ADD CONSTRAINT "trace_picture_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
