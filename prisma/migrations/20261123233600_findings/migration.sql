-- Secrets in sessions, without the secrets: where they stand, and what their users decided of them
CREATE TABLE "finding" (
    "user_id" UUID NOT NULL,
    "trace_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "mark" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "finding_pkey" PRIMARY KEY ("user_id","trace_id","position","kind","mark")
);

CREATE TABLE "masking_task" (
    "user_id" UUID NOT NULL,
    "trace_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "masking_task_pkey" PRIMARY KEY ("user_id","trace_id")
);

CREATE TABLE "secret_policy" (
    "user_id" UUID NOT NULL,
    "masks" BOOLEAN NOT NULL DEFAULT true,
    "version" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "secret_policy_pkey" PRIMARY KEY ("user_id")
);

CREATE TABLE "secret_ruling" (
    "user_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "mark" TEXT NOT NULL,
    "trace_id" UUID NOT NULL,
    "source" TEXT,
    "source_id" TEXT,
    "verdict" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "secret_ruling_pkey" PRIMARY KEY ("user_id","kind","mark","trace_id")
);

CREATE INDEX "finding_user_id_kind_mark_idx" ON "finding"("user_id", "kind", "mark");

ALTER TABLE "finding" ADD CONSTRAINT "finding_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "masking_task" ADD CONSTRAINT "masking_task_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "secret_policy" ADD CONSTRAINT "secret_policy_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

ALTER TABLE "secret_ruling" ADD CONSTRAINT "secret_ruling_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
