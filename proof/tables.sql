-- What the handlers of a run write. No unique constraint anywhere: a double must show, not fail.

CREATE TABLE proof_ledger (
    id         bigint GENERATED ALWAYS AS IDENTITY,
    key        text NOT NULL,
    message_id bigint NOT NULL,
    account    integer NOT NULL,
    cents      bigint NOT NULL,
    pid        integer NOT NULL
);

-- A list for each session: every row names its place and the row it was put behind.
CREATE TABLE proof_appended (
    id         bigint GENERATED ALWAYS AS IDENTITY,
    consumer   text NOT NULL,
    session    text NOT NULL,
    n          bigint NOT NULL,
    place      bigint NOT NULL,
    behind     bigint,
    key        text NOT NULL,
    message_id bigint NOT NULL,
    pid        integer NOT NULL
);
CREATE INDEX proof_appended_session ON proof_appended (consumer, session, id);

-- What an external handler committed, and under which fence.
CREATE TABLE proof_charge (
    id         bigint GENERATED ALWAYS AS IDENTITY,
    key        text NOT NULL,
    message_id bigint NOT NULL,
    consumer   text NOT NULL,
    session    text NOT NULL,
    fence      bigint NOT NULL,
    pid        integer NOT NULL
);
