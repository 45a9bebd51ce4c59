-- Foreign keys of the search index without ON UPDATE CASCADE, which Citus refuses; no id is ever changed. Replaced without reading
-- the tables, which `validate_keys` does later without keeping writers out.
ALTER TABLE "search_block" ADD CONSTRAINT "search_block_user_id_fkey_next" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "search_block" DROP CONSTRAINT "search_block_user_id_fkey";
ALTER TABLE "search_block" RENAME CONSTRAINT "search_block_user_id_fkey_next" TO "search_block_user_id_fkey";
ALTER TABLE "search_bucket" ADD CONSTRAINT "search_bucket_user_id_block_id_fkey_next" FOREIGN KEY ("user_id", "block_id") REFERENCES "search_block"("user_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "search_bucket" DROP CONSTRAINT "search_bucket_user_id_block_id_fkey";
ALTER TABLE "search_bucket" RENAME CONSTRAINT "search_bucket_user_id_block_id_fkey_next" TO "search_bucket_user_id_block_id_fkey";
ALTER TABLE "search_document" ADD CONSTRAINT "search_document_user_id_block_id_fkey_next" FOREIGN KEY ("user_id", "block_id") REFERENCES "search_block"("user_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "search_document" DROP CONSTRAINT "search_document_user_id_block_id_fkey";
ALTER TABLE "search_document" RENAME CONSTRAINT "search_document_user_id_block_id_fkey_next" TO "search_document_user_id_block_id_fkey";
ALTER TABLE "search_document" ADD CONSTRAINT "search_document_user_id_trace_id_fkey_next" FOREIGN KEY ("user_id", "trace_id") REFERENCES "trace"("user_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "search_document" DROP CONSTRAINT "search_document_user_id_trace_id_fkey";
ALTER TABLE "search_document" RENAME CONSTRAINT "search_document_user_id_trace_id_fkey_next" TO "search_document_user_id_trace_id_fkey";
