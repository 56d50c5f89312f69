-- name: tables
-- What the measured handler writes to. {sessions} accounts; the ledger has no constraint to check.
CREATE TABLE bench_account (id integer PRIMARY KEY, balance bigint NOT NULL) WITH (fillfactor = 50);
CREATE TABLE bench_ledger (id bigint GENERATED ALWAYS AS IDENTITY, account integer NOT NULL,
                           amount integer NOT NULL, message bigint NOT NULL);

-- name: accounts
INSERT INTO bench_account SELECT n, 0 FROM generate_series(1, %(sessions)s) n;

-- name: credit
-- First statement of the handler. rows: 1.
UPDATE bench_account SET balance = balance + %(amount)s WHERE id = %(account)s;

-- name: book
-- Second statement of the handler. rows: 1.
INSERT INTO bench_ledger (account, amount, message) VALUES (%(account)s, %(amount)s, %(message)s);

-- name: waiting
-- What the bare loop will run: all that is ready for one consumer. rows: one per message.
SELECT lane, session, id FROM comboio_ready
 WHERE lane >= %(consumer)s * 256 AND lane < (%(consumer)s + 1) * 256 ORDER BY id;

-- name: bodies
SELECT id, payload FROM comboio_message WHERE id = ANY (%(ids)s) ORDER BY id;

-- name: leave
-- rows: one per message of the batch.
DELETE FROM comboio_ready r USING unnest(%(lanes)s::integer[], %(sessions)s::bigint[], %(ids)s::bigint[])
       AS b(lane, session, id)
 WHERE r.lane = b.lane AND r.session = b.session AND r.id = b.id;

-- name: done
INSERT INTO comboio_done (id, consumer, ms, attempts)
SELECT id, %(consumer)s, 0, 1 FROM unnest(%(ids)s::bigint[]) AS b(id);

-- name: booked
SELECT count(*), count(DISTINCT message) FROM bench_ledger;
