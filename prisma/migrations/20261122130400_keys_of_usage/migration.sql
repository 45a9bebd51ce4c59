-- Foreign keys of usage without ON UPDATE CASCADE, which Citus refuses; no id is ever changed. Replaced without reading
-- the tables, which `validate_keys` does later without keeping writers out.
ALTER TABLE "trace_usage" ADD CONSTRAINT "trace_usage_user_id_fkey_next" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "trace_usage" DROP CONSTRAINT "trace_usage_user_id_fkey";
ALTER TABLE "trace_usage" RENAME CONSTRAINT "trace_usage_user_id_fkey_next" TO "trace_usage_user_id_fkey";
ALTER TABLE "usage_facets" ADD CONSTRAINT "usage_facets_user_id_fkey_next" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "usage_facets" DROP CONSTRAINT "usage_facets_user_id_fkey";
ALTER TABLE "usage_facets" RENAME CONSTRAINT "usage_facets_user_id_fkey_next" TO "usage_facets_user_id_fkey";
