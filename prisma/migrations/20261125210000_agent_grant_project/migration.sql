-- A project's name is not only its own, and changes: which one an agent may read is its id.
ALTER TABLE "agent_grant" ADD COLUMN "project_id" UUID;
