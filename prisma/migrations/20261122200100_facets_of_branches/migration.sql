-- Usage by branch and project
ALTER TABLE "usage_facets" ADD COLUMN "branch" TEXT,
ADD COLUMN "project_id" UUID;
