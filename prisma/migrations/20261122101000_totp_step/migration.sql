-- The last time step whose code was accepted, so that no code is accepted twice
ALTER TABLE "two_factor" ADD COLUMN "last_step" INTEGER;
