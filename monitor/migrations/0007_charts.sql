-- What the large charts tell beside the counters: deploys, what each worker does now, types by the hour.

-- A release that workers were first seen with after another one. previous: the row before it (0: none), so that of
-- several processes that see it at once one notes it.
CREATE TABLE comboio_deploy (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    release  text NOT NULL,
    previous bigint NOT NULL UNIQUE,
    at       timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX comboio_deploy_at ON comboio_deploy (at DESC);

-- release: what this process life runs. message_id and since: what a child does, as its parent told last (told_at).
ALTER TABLE comboio_worker
    ADD COLUMN release    text NOT NULL DEFAULT '',
    ADD COLUMN message_id bigint,
    ADD COLUMN since      timestamptz,
    ADD COLUMN told_at    timestamptz;

-- Runs of handlers that went through, and their seconds, by message type. At most 200 types of a consumer and hour;
-- is_rest: all others of that hour.
CREATE TABLE comboio_type_hour (
    consumer smallint NOT NULL,
    hour     timestamptz NOT NULL,
    type     text NOT NULL,
    is_rest  boolean NOT NULL DEFAULT false,
    runs     double precision NOT NULL,
    seconds  double precision NOT NULL,
    PRIMARY KEY (consumer, hour, type, is_rest)
);
