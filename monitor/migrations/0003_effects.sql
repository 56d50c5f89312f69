-- Effects outside the transaction: leases with a fence, effects with their evidence, messages in doubt.

-- Each lease takes the next number; a holder whose number is no longer the row's has lost it.
CREATE SEQUENCE comboio_fence;

-- A session of an external consumer that one process works on. Renewed by the worker's parent; whoever
-- finds it expired may take it over. The last act of the holder deletes it: exactly one row, or all rolls back.
CREATE TABLE comboio_lease (
    session    bigint PRIMARY KEY,
    lane       integer NOT NULL,
    consumer   smallint NOT NULL,
    message_id bigint NOT NULL,
    fence      bigint NOT NULL DEFAULT nextval('comboio_fence'),
    slot       bigint NOT NULL,
    starts     integer NOT NULL DEFAULT 1,
    renewals   integer NOT NULL DEFAULT 0,
    taken_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- A call to the outside, known before it is made. One row per message and name: the same key and the same
-- request on every attempt.
CREATE TABLE comboio_effect (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message_id     bigint NOT NULL,
    consumer       smallint NOT NULL,
    name           text NOT NULL,
    key            text NOT NULL UNIQUE,
    kind           text NOT NULL CHECK (kind IN ('keyed', 'queryable', 'neither')),
    request        jsonb NOT NULL,
    request_hash   bytea NOT NULL,
    state          text NOT NULL DEFAULT 'in progress'
                   CHECK (state IN ('in progress', 'completed', 'failed', 'in doubt')),
    last_step      text NOT NULL DEFAULT 'recorded',   -- recorded, called, answered, not done, no answer, asked …
    calls          integer NOT NULL DEFAULT 0,
    result         jsonb,
    reference      text NOT NULL DEFAULT '',
    error          text NOT NULL DEFAULT '',
    settle_seconds double precision NOT NULL,
    key_until      timestamptz,                        -- after it the provider may have forgotten the key
    started_at     timestamptz NOT NULL DEFAULT now(),
    called_at      timestamptz,
    settled_at     timestamptz,
    probes         integer NOT NULL DEFAULT 0,
    probe_at       timestamptz,                        -- when the clock asks next; NULL: only a person does
    decided_by     text NOT NULL DEFAULT '',           -- who settled it: 'call', 'probe', 'callback' or a person
    conflict       text NOT NULL DEFAULT '',           -- evidence that contradicts the decision
    escalated_by   text NOT NULL DEFAULT '',
    version        bigint NOT NULL DEFAULT nextval('comboio_version'),
    UNIQUE (message_id, name)
);
CREATE INDEX comboio_effect_doubt ON comboio_effect (started_at, id) WHERE state = 'in doubt';
CREATE INDEX comboio_effect_probe ON comboio_effect (probe_at) WHERE state = 'in doubt' AND probe_at IS NOT NULL;
CREATE INDEX comboio_effect_conflict ON comboio_effect (id) WHERE conflict <> '';

-- What was learnt about an effect, by whom, never changed.
CREATE TABLE comboio_evidence (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    effect_id bigint NOT NULL,
    at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    source    text NOT NULL CHECK (source IN ('call', 'probe', 'callback', 'person')),
    verdict   text NOT NULL CHECK (verdict IN ('done', 'not done', 'cannot tell', 'refused')),
    actor     text NOT NULL DEFAULT '',
    detail    jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX comboio_evidence_effect ON comboio_evidence (effect_id, id);

-- State "in doubt": the head waits for the outcome of an effect, and its session with it.
CREATE TABLE comboio_in_doubt (
    id       bigint PRIMARY KEY,
    consumer smallint NOT NULL,
    lane     integer NOT NULL,
    session  bigint NOT NULL,
    effect_id bigint NOT NULL,
    attempts integer NOT NULL,
    at       timestamptz NOT NULL DEFAULT now(),
    version  bigint NOT NULL DEFAULT nextval('comboio_version')
);
CREATE INDEX comboio_in_doubt_session ON comboio_in_doubt (session);
CREATE INDEX comboio_in_doubt_at ON comboio_in_doubt (at DESC, id DESC);

ALTER TABLE comboio_alert DROP CONSTRAINT comboio_alert_kind_check;
ALTER TABLE comboio_alert ADD CONSTRAINT comboio_alert_kind_check CHECK (kind IN
    ('mismatch', 'dead letter', 'held session', 'effect in doubt', 'conflict'));

CREATE OR REPLACE VIEW comboio_message_state AS
    SELECT m.id, CASE
        WHEN EXISTS (SELECT FROM comboio_done d WHERE d.id = m.id) THEN 'done'
        WHEN EXISTS (SELECT FROM comboio_ready r
                      WHERE r.lane = m.lane AND r.session = m.session AND r.id = m.id) THEN
            CASE WHEN EXISTS (SELECT FROM comboio_lease l WHERE l.session = m.session
                               AND l.message_id = m.id AND l.expires_at > now()) THEN 'running'
                 WHEN EXISTS (SELECT FROM comboio_gate g WHERE g.session = m.session
                               AND g.head = m.id AND g.retry_at IS NOT NULL) THEN 'waiting' ELSE 'ready' END
        WHEN EXISTS (SELECT FROM comboio_in_doubt x WHERE x.id = m.id) THEN 'in_doubt'
        WHEN EXISTS (SELECT FROM comboio_dead x WHERE x.id = m.id) THEN 'dead'
        WHEN EXISTS (SELECT FROM comboio_discarded x WHERE x.id = m.id) THEN 'discarded'
    END AS state FROM comboio_message m;
