-- Requeues of many messages: what was frozen at the click, how far each is, what came of it.

CREATE TABLE comboio_bulk (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state         text NOT NULL CHECK (state IN ('canary', 'waiting', 'running', 'stopped', 'done')),
    why           text NOT NULL DEFAULT '',   -- why it waits or was stopped, for people
    cause         text,                       -- the scope, as the page showed it; NULL: any
    consumer      smallint,
    session       bigint,
    up_to_version bigint NOT NULL,            -- what died later stays out
    actor         text NOT NULL,
    reason        text NOT NULL DEFAULT '',
    per_second    real,                       -- NULL: as fast as it goes
    failure_limit real NOT NULL,              -- share of those that failed again, which stops it
    started_at    timestamptz NOT NULL DEFAULT now(),
    ended_at      timestamptz,
    -- Each time that it goes on begins a round: since when and after how many its rate counts, and how many
    -- of those put back in it have an outcome, and failed.
    round         smallint NOT NULL DEFAULT 1,
    paced_at      timestamptz NOT NULL DEFAULT now(),
    paced         integer NOT NULL DEFAULT 0,
    judged        integer NOT NULL DEFAULT 0,
    judged_failed integer NOT NULL DEFAULT 0,
    total         integer NOT NULL,
    moved         integer NOT NULL DEFAULT 0, -- put back into the queue, or given to other consumers
    processed     integer NOT NULL DEFAULT 0,
    failed_again  integer NOT NULL DEFAULT 0,
    gone          integer NOT NULL DEFAULT 0, -- not dead any more when its turn came, or removed since
    refused       integer NOT NULL DEFAULT 0,
    looked_to     bigint NOT NULL DEFAULT 0,  -- how far the last look at outcomes came
    version       bigint NOT NULL DEFAULT nextval('comboio_version')
);
CREATE INDEX comboio_bulk_at ON comboio_bulk (started_at DESC, id DESC);
CREATE INDEX comboio_bulk_ended ON comboio_bulk (ended_at) WHERE ended_at IS NOT NULL;

-- One dead message of the frozen set. left: its turn is still to come. moved: its outcome is not known yet.
CREATE TABLE comboio_bulk_item (
    bulk    bigint NOT NULL REFERENCES comboio_bulk,
    id      bigint NOT NULL,
    seen    bigint NOT NULL,                  -- the version of the dead row at the click
    state   text NOT NULL DEFAULT 'left' CHECK (state IN
        ('left', 'moved', 'processed', 'failed again', 'gone', 'refused')),
    tries   smallint NOT NULL DEFAULT 0,      -- times that its lane was busy
    round   smallint NOT NULL DEFAULT 0,      -- in which it was put back
    note    text NOT NULL DEFAULT '',
    PRIMARY KEY (bulk, id)
) WITH (fillfactor = 70);
CREATE INDEX comboio_bulk_item_left ON comboio_bulk_item (bulk, tries, id) WHERE state = 'left';
CREATE INDEX comboio_bulk_item_moved ON comboio_bulk_item (bulk, id) WHERE state = 'moved';
CREATE INDEX comboio_bulk_item_state ON comboio_bulk_item (bulk, state, id)
 WHERE state IN ('failed again', 'refused', 'gone');
