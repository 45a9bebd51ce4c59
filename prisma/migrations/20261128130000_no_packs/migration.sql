-- Of unreleased versions: messages of quiet sessions stood in it in place of their rows.
DO $$ BEGIN
  IF to_regclass('message_pack') IS NULL THEN RETURN; END IF;
  LOCK TABLE "message_pack" IN ACCESS EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM "message_pack") THEN
    RAISE EXCEPTION 'message_pack holds messages of sessions, which only the unreleased version that packed them can read. Nothing was '
      'changed. Export these sessions with that version, or restore a backup from before it.';
  END IF;
END $$;
DROP TABLE IF EXISTS "message_pack";
