-- What all processes counted together
CREATE TABLE "shared_count" (
    "name" TEXT NOT NULL,
    "labels" TEXT NOT NULL,
    "value" DOUBLE PRECISION NOT NULL DEFAULT 0,

    CONSTRAINT "shared_count_pkey" PRIMARY KEY ("name","labels")
);
