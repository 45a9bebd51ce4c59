-- Foreign keys of accounts, sign-ins, tokens and shares without ON UPDATE CASCADE, which Citus refuses; no id is ever changed. Replaced without reading
-- the tables, which `validate_keys` does later without keeping writers out.
ALTER TABLE "session" ADD CONSTRAINT "session_user_id_fkey_next" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "session" DROP CONSTRAINT "session_user_id_fkey";
ALTER TABLE "session" RENAME CONSTRAINT "session_user_id_fkey_next" TO "session_user_id_fkey";
ALTER TABLE "account" ADD CONSTRAINT "account_user_id_fkey_next" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "account" DROP CONSTRAINT "account_user_id_fkey";
ALTER TABLE "account" RENAME CONSTRAINT "account_user_id_fkey_next" TO "account_user_id_fkey";
ALTER TABLE "cli_token" ADD CONSTRAINT "cli_token_user_id_fkey_next" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "cli_token" DROP CONSTRAINT "cli_token_user_id_fkey";
ALTER TABLE "cli_token" RENAME CONSTRAINT "cli_token_user_id_fkey_next" TO "cli_token_user_id_fkey";
ALTER TABLE "device_login" ADD CONSTRAINT "device_login_user_id_fkey_next" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "device_login" DROP CONSTRAINT "device_login_user_id_fkey";
ALTER TABLE "device_login" RENAME CONSTRAINT "device_login_user_id_fkey_next" TO "device_login_user_id_fkey";
ALTER TABLE "device_login" ADD CONSTRAINT "device_login_token_id_fkey_next" FOREIGN KEY ("token_id") REFERENCES "cli_token"("id") ON DELETE SET NULL ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "device_login" DROP CONSTRAINT "device_login_token_id_fkey";
ALTER TABLE "device_login" RENAME CONSTRAINT "device_login_token_id_fkey_next" TO "device_login_token_id_fkey";
ALTER TABLE "two_factor" ADD CONSTRAINT "two_factor_user_id_fkey_next" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "two_factor" DROP CONSTRAINT "two_factor_user_id_fkey";
ALTER TABLE "two_factor" RENAME CONSTRAINT "two_factor_user_id_fkey_next" TO "two_factor_user_id_fkey";
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_user_id_fkey_next" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "invitation" DROP CONSTRAINT "invitation_user_id_fkey";
ALTER TABLE "invitation" RENAME CONSTRAINT "invitation_user_id_fkey_next" TO "invitation_user_id_fkey";
ALTER TABLE "audit_event" ADD CONSTRAINT "audit_event_user_id_fkey_next" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "audit_event" DROP CONSTRAINT "audit_event_user_id_fkey";
ALTER TABLE "audit_event" RENAME CONSTRAINT "audit_event_user_id_fkey_next" TO "audit_event_user_id_fkey";
ALTER TABLE "trace_share" ADD CONSTRAINT "trace_share_user_id_fkey_next" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "trace_share" DROP CONSTRAINT "trace_share_user_id_fkey";
ALTER TABLE "trace_share" RENAME CONSTRAINT "trace_share_user_id_fkey_next" TO "trace_share_user_id_fkey";
