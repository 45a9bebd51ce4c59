-- Whether the answer was copied from another session: it counts where no other session has it.
ALTER TABLE "message_usage" ADD COLUMN "replayed" BOOLEAN NOT NULL DEFAULT false;
