-- The age recipient that a person's machines encrypt exact copies to.
CREATE TABLE "original_key" (
    "user_id" UUID NOT NULL,
    "recipient" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "original_key_pkey" PRIMARY KEY ("user_id")
);

ALTER TABLE "original_key" ADD CONSTRAINT "original_key_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
