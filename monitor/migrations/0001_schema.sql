-- The tables of the inbox. What each is for, and why it has this shape, stands above it.
-- Names of states, verbs and reasons are those of docs/glossary.md.

-- Message ids rise in the order of arrival at the one active receiver of a source.
CREATE SEQUENCE comboio_message_id;
-- Each change that an operator can see takes the next number; a verb names the number it saw.
CREATE SEQUENCE comboio_version;

-- One row per handler declared with @consumer. Row 0 stands for "no consumer": what nobody takes.
CREATE TABLE comboio_consumer (
    id          smallint PRIMARY KEY,
    name        text NOT NULL UNIQUE,
    source      text NOT NULL,
    types       text[],
    when_dead   text NOT NULL DEFAULT 'skip' CHECK (when_dead IN ('skip', 'hold')),
    policy      jsonb NOT NULL DEFAULT '{}',
    active      boolean NOT NULL DEFAULT true,
    held        boolean NOT NULL DEFAULT false,
    held_at     timestamptz,
    held_by     text,
    held_reason text,
    held_until  timestamptz,
    version     bigint NOT NULL DEFAULT nextval('comboio_version'),
    created_at  timestamptz NOT NULL DEFAULT now()
);

-- A session of a consumer; the id is a hash of (consumer, key), so ingest needs no look-up.
-- A message without session has minus its own id as session and no row here.
CREATE TABLE comboio_session (
    id         bigint PRIMARY KEY,
    consumer   smallint NOT NULL,
    key        text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX comboio_session_key ON comboio_session (key COLLATE "C");

-- The judge of "first": one row per (consumer, hash of origin and id). It outlives the payload.
-- fillfactor: counting a duplicate is an update in place (HOT), no index changes.
CREATE TABLE comboio_dedup (
    consumer     smallint NOT NULL,
    key          uuid NOT NULL,
    message_id   bigint NOT NULL,
    fingerprint  bytea NOT NULL,
    hash_version smallint NOT NULL,
    seen_at      timestamptz NOT NULL DEFAULT now(),
    duplicates   integer NOT NULL DEFAULT 0,
    mismatches   integer NOT NULL DEFAULT 0,
    PRIMARY KEY (consumer, key)
) WITH (fillfactor = 90);

-- What was accepted, byte for byte. Partitioned by id: retention drops whole partitions.
CREATE TABLE comboio_message (
    id             bigint NOT NULL,
    consumer       smallint NOT NULL,
    lane           integer NOT NULL,
    session        bigint NOT NULL,
    source         text NOT NULL,
    origin         text NOT NULL,
    key            text NOT NULL,
    type           text NOT NULL,
    sequence       bigint,
    content_type   text NOT NULL,
    payload        bytea NOT NULL,
    headers        jsonb NOT NULL,
    correlation_id text,
    traceparent    text,
    received_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (id)
) PARTITION BY RANGE (id);
CREATE TABLE comboio_message_default PARTITION OF comboio_message DEFAULT;
CREATE INDEX comboio_message_key ON comboio_message (key COLLATE "C");
CREATE INDEX comboio_message_session ON comboio_message (session, id);

-- The granules of the lock: 256 rows per consumer, lane = consumer * 256 + hash of the session.
-- NEVER updated or deleted: only locked (FOR UPDATE SKIP LOCKED).
CREATE TABLE comboio_lane (lane integer PRIMARY KEY);

-- State "ready" (and "waiting" for a retry: then its session's gate says until when).
CREATE TABLE comboio_ready (
    lane    integer NOT NULL,
    session bigint NOT NULL,
    id      bigint NOT NULL,
    PRIMARY KEY (lane, session, id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

-- Why a session does not run now. Independent reasons in one row: a hold never wipes a retry.
-- Every change of a row happens under the lock of its lane.
CREATE TABLE comboio_gate (
    session      bigint PRIMARY KEY,
    lane         integer NOT NULL,
    held         boolean NOT NULL DEFAULT false,
    held_by      text,
    held_reason  text,
    dead_message bigint,
    retry_at     timestamptz,
    head         bigint,
    attempts     integer NOT NULL DEFAULT 0,
    solo_until   bigint,
    starts       integer NOT NULL DEFAULT 0,
    error        text,
    since        timestamptz NOT NULL DEFAULT now(),
    version      bigint NOT NULL DEFAULT nextval('comboio_version'),
    CHECK (held OR dead_message IS NOT NULL OR retry_at IS NOT NULL OR solo_until IS NOT NULL)
);
CREATE INDEX comboio_gate_due ON comboio_gate (retry_at)
    WHERE retry_at IS NOT NULL AND NOT held AND dead_message IS NULL;
CREATE INDEX comboio_gate_solo ON comboio_gate (lane) WHERE solo_until IS NOT NULL;

-- State "done": the marker of processing, written in the transaction of the effects.
CREATE TABLE comboio_done (
    id       bigint NOT NULL,
    consumer smallint NOT NULL,
    at       timestamptz NOT NULL DEFAULT now(),
    ms       real NOT NULL,
    attempts smallint NOT NULL,
    result   jsonb,
    PRIMARY KEY (id)
) PARTITION BY RANGE (id);
CREATE TABLE comboio_done_default PARTITION OF comboio_done DEFAULT;

-- State "dead": set aside with its reason until a person decides. cause groups equal failures.
CREATE TABLE comboio_dead (
    id          bigint PRIMARY KEY,
    consumer    smallint NOT NULL,
    lane        integer NOT NULL,
    session     bigint NOT NULL,
    reason      text NOT NULL CHECK (reason IN
        ('poison', 'malformed', 'no handler', 'stale', 'wrong session', 'crashed worker')),
    error_class text NOT NULL DEFAULT '',
    error       text NOT NULL DEFAULT '',
    cause       text NOT NULL,
    attempts    integer NOT NULL DEFAULT 0,
    at          timestamptz NOT NULL DEFAULT now(),
    version     bigint NOT NULL DEFAULT nextval('comboio_version')
);
CREATE INDEX comboio_dead_at ON comboio_dead (at DESC, id DESC);
CREATE INDEX comboio_dead_cause ON comboio_dead (cause, id);
CREATE INDEX comboio_dead_session ON comboio_dead (session, id);
CREATE INDEX comboio_dead_consumer ON comboio_dead (consumer, id);

-- State "discarded": a person decided that it shall not run. Keeps what "restore" needs.
CREATE TABLE comboio_discarded (
    id           bigint PRIMARY KEY,
    consumer     smallint NOT NULL,
    lane         integer NOT NULL,
    session      bigint NOT NULL,
    reason       text NOT NULL,
    error_class  text NOT NULL,
    error        text NOT NULL,
    cause        text NOT NULL,
    attempts     integer NOT NULL,
    dead_at      timestamptz NOT NULL,
    at           timestamptz NOT NULL DEFAULT now(),
    discarded_by text NOT NULL,
    note         text NOT NULL DEFAULT '',
    version      bigint NOT NULL DEFAULT nextval('comboio_version')
);
CREATE INDEX comboio_discarded_at ON comboio_discarded (at DESC, id DESC);

-- Same key, other payload: a record of its own beside the first message, which stays untouched.
CREATE TABLE comboio_mismatch (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message_id     bigint NOT NULL,
    consumer       smallint NOT NULL,
    fingerprint    bytea NOT NULL,
    hash_version   smallint NOT NULL,
    content_type   text NOT NULL,
    payload        bytea NOT NULL,
    headers        jsonb NOT NULL,
    type           text NOT NULL,
    correlation_id text,
    traceparent    text,
    count          integer NOT NULL DEFAULT 1,
    first_at       timestamptz NOT NULL DEFAULT now(),
    last_at        timestamptz NOT NULL DEFAULT now(),
    verdict        text CHECK (verdict IN ('keep first', 'accept second')),
    verdict_by     text,
    verdict_at     timestamptz,
    verdict_reason text,
    accepted_id    bigint,
    version        bigint NOT NULL DEFAULT nextval('comboio_version'),
    UNIQUE (message_id, fingerprint)
);
CREATE INDEX comboio_mismatch_open ON comboio_mismatch (last_at DESC, id DESC) WHERE verdict IS NULL;

-- The first 20 duplicates of a message; comboio_dedup.duplicates counts them all.
CREATE TABLE comboio_duplicate (
    message_id bigint NOT NULL,
    n          integer NOT NULL,
    at         timestamptz NOT NULL DEFAULT now(),
    consumer   smallint NOT NULL,
    source     text NOT NULL,
    cause      text NOT NULL CHECK (cause IN ('redelivered', 'concurrent', 'repeated', 'operator')),
    gap_seconds double precision NOT NULL,
    PRIMARY KEY (message_id, n)
);
CREATE INDEX comboio_duplicate_at ON comboio_duplicate (at DESC);

-- The timeline of a message: failed attempts, human acts, exceptional moves. A plain success writes none.
CREATE TABLE comboio_event (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message_id bigint NOT NULL,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    kind       text NOT NULL,
    actor      text NOT NULL DEFAULT '',
    attempt    integer,
    detail     jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX comboio_event_message ON comboio_event (message_id, id);

-- What a person should know: one open row per cause, raised again and again.
CREATE TABLE comboio_alert (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind            text NOT NULL CHECK (kind IN
        ('mismatch', 'dead letter', 'held session', 'effect in doubt')),
    consumer        smallint NOT NULL,
    subject         text NOT NULL,
    title           text NOT NULL,
    target          bigint NOT NULL,
    count           integer NOT NULL DEFAULT 1,
    first_at        timestamptz NOT NULL DEFAULT now(),
    last_at         timestamptz NOT NULL DEFAULT now(),
    state           text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'acknowledged', 'resolved')),
    acknowledged_by text,
    acknowledged_at timestamptz,
    resolved_at     timestamptz,
    version         bigint NOT NULL DEFAULT nextval('comboio_version')
);
CREATE UNIQUE INDEX comboio_alert_live ON comboio_alert (kind, consumer, subject)
    WHERE state <> 'resolved';

-- Who did which verb to what, written in the transaction of the act.
CREATE TABLE comboio_audit (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at          timestamptz NOT NULL DEFAULT now(),
    actor       text NOT NULL,
    verb        text NOT NULL,
    object_kind text NOT NULL,
    object_id   bigint NOT NULL,
    reason      text NOT NULL DEFAULT '',
    detail      jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX comboio_audit_object ON comboio_audit (object_kind, object_id, id);

-- One row per process life. ids: the announced batch; found by another life it names the suspects
-- of a crash, so a restarted process never reuses a row.
CREATE TABLE comboio_worker (
    slot       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ids        bigint[] NOT NULL DEFAULT '{}',
    at         timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz NOT NULL DEFAULT now(),
    process    text NOT NULL,
    host       text NOT NULL,
    pid        integer NOT NULL
) WITH (fillfactor = 20);

-- Counters as deltas: one row per batch and name, folded by the clock into minutes and totals.
CREATE TABLE comboio_rollup_delta (
    minute   timestamptz NOT NULL DEFAULT date_trunc('minute', now()),
    consumer smallint NOT NULL,
    name     text NOT NULL,
    label    text NOT NULL DEFAULT '',
    value    double precision NOT NULL
);
CREATE TABLE comboio_rollup (
    consumer smallint NOT NULL,
    name     text NOT NULL,
    label    text NOT NULL,
    minute   timestamptz NOT NULL,
    value    double precision NOT NULL,
    PRIMARY KEY (minute, consumer, name, label)
);
CREATE TABLE comboio_total (
    consumer smallint NOT NULL,
    name     text NOT NULL,
    label    text NOT NULL,
    value    double precision NOT NULL,
    PRIMARY KEY (consumer, name, label)
);

-- What the console reads instead of counting: made by the clock, stamped with its time.
CREATE TABLE comboio_consumer_snapshot (
    consumer      smallint PRIMARY KEY,
    backlog       bigint NOT NULL,
    parked        bigint NOT NULL,
    waiting       bigint NOT NULL,
    sessions      bigint NOT NULL,
    held_sessions bigint NOT NULL,
    oldest_at     timestamptz,
    at            timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE comboio_session_snapshot (
    session  bigint PRIMARY KEY,
    consumer smallint NOT NULL,
    backlog  bigint NOT NULL,
    head     bigint NOT NULL,
    head_at  timestamptz,
    at       timestamptz NOT NULL DEFAULT now()
);

-- State is membership in exactly one table; this view says which. NULL would be a lost message.
-- It starts from the message, so that a look-up by id probes each table by its key.
CREATE VIEW comboio_message_state AS
    SELECT m.id, CASE
        WHEN EXISTS (SELECT FROM comboio_done d WHERE d.id = m.id) THEN 'done'
        WHEN EXISTS (SELECT FROM comboio_ready r
                      WHERE r.lane = m.lane AND r.session = m.session AND r.id = m.id) THEN
            CASE WHEN EXISTS (SELECT FROM comboio_gate g WHERE g.session = m.session
                               AND g.head = m.id AND g.retry_at IS NOT NULL) THEN 'waiting' ELSE 'ready' END
        WHEN EXISTS (SELECT FROM comboio_dead x WHERE x.id = m.id) THEN 'dead'
        WHEN EXISTS (SELECT FROM comboio_discarded x WHERE x.id = m.id) THEN 'discarded'
    END AS state FROM comboio_message m;

INSERT INTO comboio_consumer (id, name, source, active) VALUES (0, '(no consumer)', '', false);
INSERT INTO comboio_lane SELECT generate_series(0, 255);
