-- name: deaths
-- What died in the last minutes by cause: the newest ones, by the index of their time. A message that died again
-- counts, too. At most count are looked at. locks: nothing. rows: one per cause.
SELECT cause, count(*)
  FROM (SELECT cause FROM comboio_dead WHERE at > statement_timestamp() - make_interval(secs => %(seconds)s)
         ORDER BY at DESC, id DESC LIMIT %(count)s) x
 GROUP BY cause;

-- name: arrivals
-- What came in the last minutes into each of these sessions, among its newest 501 messages. locks: nothing.
-- rows: one per session.
SELECT s.session, (SELECT count(*)
                     FROM (SELECT m.received_at FROM comboio_message m WHERE m.session = s.session
                            ORDER BY m.session DESC, m.id DESC LIMIT 501) m
                    WHERE m.received_at > statement_timestamp() - make_interval(secs => %(seconds)s))
  FROM unnest(%(sessions)s::bigint[]) s (session);
