-- Sequence numbers, delayed messages, absolute states, throttled consumers, corrections, clicks.

-- NULL: the order of arrival (id) counts. For a consumer with sequence= the sender's number; below 0: put back
-- by a person or a settled effect, so it runs before all others and its number is not looked at again.
ALTER TABLE comboio_ready ADD COLUMN sequence bigint;
CREATE INDEX comboio_ready_sequence ON comboio_ready (lane, session, sequence, id) WHERE sequence IS NOT NULL;

-- The place of a message that goes back into the queue: before all others of a numbered session, else NULL.
CREATE FUNCTION comboio_put_back(of_consumer smallint, of_message bigint) RETURNS bigint STABLE LANGUAGE sql AS $$
    SELECT coalesce(m.sequence, m.id) - 9223372036854775807 - 1
      FROM comboio_message m JOIN comboio_consumer c ON c.id = of_consumer
     WHERE m.id = of_message AND c.policy ->> 'numbered' IS NOT NULL
$$;

-- How far a session with sequence numbers has come. Every change happens under the lock of its lane.
CREATE TABLE comboio_sequence (
    session    bigint PRIMARY KEY,
    lane       integer NOT NULL,
    next       bigint NOT NULL,               -- the number that runs next
    ended      boolean NOT NULL DEFAULT false, -- the message marked as the last of the session has run
    gap_since  timestamptz,                   -- a later number waits, this one is missing
    gap_before bigint,                        -- the lowest number that waits behind the gap
    alerted_at timestamptz,
    changed_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 70);
CREATE INDEX comboio_sequence_gap ON comboio_sequence (lane, gap_since) WHERE gap_since IS NOT NULL;

-- State "waiting", delayed by its sender: moved to ready when due. It holds nobody of its session.
CREATE TABLE comboio_waiting (
    id       bigint PRIMARY KEY,
    consumer smallint NOT NULL,
    lane     integer NOT NULL,
    session  bigint NOT NULL,
    sequence bigint,
    due_at   timestamptz NOT NULL
);
CREATE INDEX comboio_waiting_due ON comboio_waiting (due_at);
CREATE INDEX comboio_waiting_session ON comboio_waiting (session, id);

-- The last version of each session's state that a natural consumer has stored. Written with its effects.
CREATE TABLE comboio_natural (
    session bigint PRIMARY KEY,
    version bigint NOT NULL
) WITH (fillfactor = 70);

-- A consumer whose downstream is away: one message at a time, every so often, until one goes through.
CREATE TABLE comboio_breaker (
    consumer   smallint PRIMARY KEY,
    failures   integer NOT NULL,              -- in a row
    opened_at  timestamptz,                   -- NULL: not throttled yet
    probe_at   timestamptz,
    probes     integer NOT NULL DEFAULT 0,
    error      text NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Corrected payloads. The message keeps what was accepted; the newest revision is what runs.
CREATE TABLE comboio_revision (
    message_id   bigint NOT NULL,
    revision     integer NOT NULL CHECK (revision >= 2),
    payload      bytea NOT NULL,
    content_type text NOT NULL,
    fingerprint  bytea NOT NULL,
    hash_version smallint NOT NULL,
    at           timestamptz NOT NULL DEFAULT now(),
    actor        text NOT NULL,
    reason       text NOT NULL,
    PRIMARY KEY (message_id, revision)
);

-- One row per click: a verb that comes again with the same client key does nothing.
CREATE TABLE comboio_operation (
    client_key uuid PRIMARY KEY,
    actor      text NOT NULL,
    at         timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX comboio_operation_at ON comboio_operation (at);

ALTER TABLE comboio_message
    ADD COLUMN is_last boolean NOT NULL DEFAULT false,
    ADD COLUMN not_before timestamptz,
    ADD COLUMN sent_at timestamptz;           -- as its sender says; for people, and to find what is too old
ALTER TABLE comboio_consumer_snapshot ADD COLUMN delayed bigint NOT NULL DEFAULT 0;

CREATE INDEX comboio_alert_resolved ON comboio_alert (resolved_at) WHERE state = 'resolved';

ALTER TABLE comboio_alert DROP CONSTRAINT comboio_alert_kind_check;
ALTER TABLE comboio_alert ADD CONSTRAINT comboio_alert_kind_check CHECK (kind IN
    ('mismatch', 'dead letter', 'held session', 'effect in doubt', 'conflict', 'gap', 'throttled consumer'));

CREATE OR REPLACE VIEW comboio_message_state AS
    SELECT m.id, CASE
        WHEN EXISTS (SELECT FROM comboio_done d WHERE d.id = m.id) THEN 'done'
        WHEN EXISTS (SELECT FROM comboio_ready r
                      WHERE r.lane = m.lane AND r.session = m.session AND r.id = m.id) THEN
            CASE WHEN EXISTS (SELECT FROM comboio_lease l WHERE l.session = m.session
                               AND l.message_id = m.id AND l.expires_at > now()) THEN 'running'
                 WHEN EXISTS (SELECT FROM comboio_gate g WHERE g.session = m.session
                               AND g.head = m.id AND g.retry_at IS NOT NULL) THEN 'waiting' ELSE 'ready' END
        WHEN EXISTS (SELECT FROM comboio_waiting w WHERE w.id = m.id) THEN 'waiting'
        WHEN EXISTS (SELECT FROM comboio_in_doubt x WHERE x.id = m.id) THEN 'in_doubt'
        WHEN EXISTS (SELECT FROM comboio_dead x WHERE x.id = m.id) THEN 'dead'
        WHEN EXISTS (SELECT FROM comboio_discarded x WHERE x.id = m.id) THEN 'discarded'
    END AS state FROM comboio_message m;
