-- What the client of a login asks for, and after the approval what was granted
ALTER TABLE "device_login" ADD COLUMN "scopes" TEXT[] DEFAULT ARRAY['ingest', 'read']::TEXT[];
