-- Messages of quiet sessions, many to a row, compressed. Without a foreign key to the trace, which would lock it against an upload.
CREATE TABLE "message_pack" (
    "user_id" UUID NOT NULL,
    "trace_id" UUID NOT NULL,
    "first_position" INTEGER NOT NULL,
    "last_position" INTEGER NOT NULL,
    "messages" INTEGER NOT NULL,
    "bytes" INTEGER NOT NULL,
    "body" BYTEA NOT NULL,

    CONSTRAINT "message_pack_pkey" PRIMARY KEY ("user_id","trace_id","first_position")
);

-- It is compressed already.
ALTER TABLE "message_pack" ALTER COLUMN "body" SET STORAGE EXTERNAL;

ALTER TABLE "message_pack" ADD CONSTRAINT "message_pack_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
