-- Sessions so long that they are several documents: a query's words may stand in different ones
CREATE INDEX "search_document_parted" ON "search_document"("user_id", "trace_id") WHERE "first_position" > 0;
