-- What the sums of a session's course are made of, so that one that grows is not read again from its start.
CREATE TABLE "trace_digest" (
    "user_id" UUID NOT NULL,
    "trace_id" UUID NOT NULL,
    "facts" BYTEA NOT NULL,

    CONSTRAINT "trace_digest_pkey" PRIMARY KEY ("user_id","trace_id")
);

ALTER TABLE "trace_digest" ADD CONSTRAINT "trace_digest_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
