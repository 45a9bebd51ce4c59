-- Foreign keys of traces without ON UPDATE CASCADE, which Citus refuses; no id is ever changed. Replaced without reading
-- the tables, which `validate_keys` does later without keeping writers out.
ALTER TABLE "trace" ADD CONSTRAINT "trace_user_id_fkey_next" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "trace" DROP CONSTRAINT "trace_user_id_fkey";
ALTER TABLE "trace" RENAME CONSTRAINT "trace_user_id_fkey_next" TO "trace_user_id_fkey";
ALTER TABLE "message" ADD CONSTRAINT "message_user_id_trace_id_fkey_next" FOREIGN KEY ("user_id", "trace_id") REFERENCES "trace"("user_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "message" DROP CONSTRAINT "message_user_id_trace_id_fkey";
ALTER TABLE "message" RENAME CONSTRAINT "message_user_id_trace_id_fkey_next" TO "message_user_id_trace_id_fkey";
