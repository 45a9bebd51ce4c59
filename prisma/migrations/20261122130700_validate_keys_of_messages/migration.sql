-- The keys replaced before hold for all rows, as their predecessors did. Reads them while others write.
ALTER TABLE "message" VALIDATE CONSTRAINT "message_user_id_trace_id_fkey";
