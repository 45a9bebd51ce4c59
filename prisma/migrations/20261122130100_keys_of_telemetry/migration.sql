-- Foreign keys of telemetry without ON UPDATE CASCADE, which Citus refuses; no id is ever changed. Replaced without reading
-- the tables, which `validate_keys` does later without keeping writers out.
ALTER TABLE "telemetry_report" ADD CONSTRAINT "telemetry_report_user_id_fkey_next" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "telemetry_report" DROP CONSTRAINT "telemetry_report_user_id_fkey";
ALTER TABLE "telemetry_report" RENAME CONSTRAINT "telemetry_report_user_id_fkey_next" TO "telemetry_report_user_id_fkey";
ALTER TABLE "diagnostic" ADD CONSTRAINT "diagnostic_report_id_fkey_next" FOREIGN KEY ("report_id") REFERENCES "telemetry_report"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "diagnostic" DROP CONSTRAINT "diagnostic_report_id_fkey";
ALTER TABLE "diagnostic" RENAME CONSTRAINT "diagnostic_report_id_fkey_next" TO "diagnostic_report_id_fkey";
ALTER TABLE "client_event" ADD CONSTRAINT "client_event_report_id_fkey_next" FOREIGN KEY ("report_id") REFERENCES "telemetry_report"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "client_event" DROP CONSTRAINT "client_event_report_id_fkey";
ALTER TABLE "client_event" RENAME CONSTRAINT "client_event_report_id_fkey_next" TO "client_event_report_id_fkey";
ALTER TABLE "forward_outbox" ADD CONSTRAINT "forward_outbox_report_id_fkey_next" FOREIGN KEY ("report_id") REFERENCES "telemetry_report"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "forward_outbox" DROP CONSTRAINT "forward_outbox_report_id_fkey";
ALTER TABLE "forward_outbox" RENAME CONSTRAINT "forward_outbox_report_id_fkey_next" TO "forward_outbox_report_id_fkey";
ALTER TABLE "diagnostic_day" ADD CONSTRAINT "diagnostic_day_user_id_fkey_next" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "diagnostic_day" DROP CONSTRAINT "diagnostic_day_user_id_fkey";
ALTER TABLE "diagnostic_day" RENAME CONSTRAINT "diagnostic_day_user_id_fkey_next" TO "diagnostic_day_user_id_fkey";
ALTER TABLE "diagnostic_machine" ADD CONSTRAINT "diagnostic_machine_user_id_fkey_next" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "diagnostic_machine" DROP CONSTRAINT "diagnostic_machine_user_id_fkey";
ALTER TABLE "diagnostic_machine" RENAME CONSTRAINT "diagnostic_machine_user_id_fkey_next" TO "diagnostic_machine_user_id_fkey";
ALTER TABLE "telemetry_device" ADD CONSTRAINT "telemetry_device_user_id_fkey_next" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
ALTER TABLE "telemetry_device" DROP CONSTRAINT "telemetry_device_user_id_fkey";
ALTER TABLE "telemetry_device" RENAME CONSTRAINT "telemetry_device_user_id_fkey_next" TO "telemetry_device_user_id_fkey";
