-- Indexes for the lists of a large inbox. While one is made, writes to its table wait: about a second for a million
-- rows, and both hold only what went wrong, or was called outside.

-- A cause is counted without its rows: the console counts up to 10,000 of each.
CREATE INDEX comboio_dead_counted ON comboio_dead (cause, id) INCLUDE (consumer, at, version);
DROP INDEX comboio_dead_cause;

-- Whether a consumer ever called outside, and the effects of one.
CREATE INDEX comboio_effect_consumer ON comboio_effect (consumer, id);
