-- When a person last saw what is new, and since when that was shown as new.
alter table "user" add column seen_at timestamptz(3), add column news_since timestamptz(3);
