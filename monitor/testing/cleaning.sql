-- name: tables
-- Every table of the inbox, quoted, in one text. rows: 1.
SELECT coalesce(string_agg(quote_ident(relname), ', '), '') FROM pg_class
 WHERE relkind IN ('r', 'p') AND relname LIKE 'comboio\_%%' AND NOT relispartition
   AND relnamespace = current_schema()::regnamespace;
