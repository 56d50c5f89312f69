-- Groups of alerts by cause, and what people say of each: owner, note, snooze.

-- What alerts of one group have in common. NULL: the subject itself is the cause (dead letters, and whatever an
-- older process raises).
ALTER TABLE comboio_alert ADD COLUMN cause text;
CREATE INDEX comboio_alert_group ON comboio_alert (kind, consumer, (coalesce(cause, subject)), resolved_at DESC);

-- What people said of a group. There is no row before somebody says something, and it outlives the alerts: what
-- comes back meets its owner and its note again.
CREATE TABLE comboio_triage (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind           text NOT NULL,
    consumer       smallint NOT NULL,
    cause          text NOT NULL,
    owner          text NOT NULL DEFAULT '',
    owned_at       timestamptz,               -- when somebody took it, or was given it, last
    note           text NOT NULL DEFAULT '',
    noted_by       text NOT NULL DEFAULT '',
    noted_at       timestamptz,
    snoozed_until  timestamptz,
    snoozed_by     text NOT NULL DEFAULT '',
    snoozed_at     timestamptz,
    snoozed_raised bigint NOT NULL DEFAULT 0, -- how often the group had been raised by then
    created_at     timestamptz NOT NULL DEFAULT now(),
    changed_by     text NOT NULL,
    changed_at     timestamptz NOT NULL DEFAULT now(),
    version        bigint NOT NULL DEFAULT nextval('comboio_version'),
    UNIQUE (kind, consumer, cause)
);
CREATE INDEX comboio_triage_changed ON comboio_triage (changed_at);

-- The groups of the alerts that are live, or of the latest resolved ones, each with its state. At most `most`
-- alerts are looked at, the latest first.
-- A group is there without a break since began_at: since then one of its alerts was live at any time. Alerts
-- that were resolved before (of the last 100), or words from before, tell that it came back.
-- A snooze holds until its time, unless the group came back meanwhile or was raised `growth` times as often.
CREATE FUNCTION comboio_groups(
    live boolean, most integer, growth integer, of_kinds text[], of_consumer smallint, of_cause text
) RETURNS TABLE (
    kind text, consumer smallint, cause text, alert bigint, title text, target bigint, members bigint, raised bigint,
    first_at timestamptz, last_at timestamptz, resolved_at timestamptz, began_at timestamptz, again boolean,
    acknowledged_by text, triage bigint, owner text, note text, noted_by text, noted_at timestamptz,
    snoozed_until timestamptz, snoozed_by text, snoozed_at timestamptz, snoozed_raised bigint, version bigint,
    state text
) STABLE LANGUAGE sql AS $$
WITH looked AS (
    (SELECT a.id, a.kind, a.consumer, coalesce(a.cause, a.subject) AS cause, a.count, a.first_at, a.last_at,
            a.resolved_at, CASE a.state WHEN 'acknowledged' THEN a.acknowledged_by END AS acknowledged_by
       FROM comboio_alert a
      WHERE live AND a.state <> 'resolved' AND a.kind = ANY (of_kinds)
        AND (of_consumer IS NULL OR a.consumer = of_consumer)
        AND (of_cause IS NULL OR coalesce(a.cause, a.subject) = of_cause)
      ORDER BY a.last_at DESC, a.id DESC LIMIT most)
    UNION ALL
    (SELECT a.id, a.kind, a.consumer, coalesce(a.cause, a.subject), a.count, a.first_at, a.last_at,
            a.resolved_at, NULL
       FROM comboio_alert a
      WHERE NOT live AND a.state = 'resolved' AND a.kind = ANY (of_kinds)
        AND (of_consumer IS NULL OR a.consumer = of_consumer)
        AND (of_cause IS NULL OR coalesce(a.cause, a.subject) = of_cause)
      ORDER BY a.resolved_at DESC LIMIT most)
), grouped AS (
    SELECT l.kind, l.consumer, l.cause, max(l.id) AS alert, count(*) AS members, sum(l.count)::bigint AS raised,
           min(l.first_at) AS first_at, max(l.last_at) AS last_at, max(l.resolved_at) AS resolved_at,
           coalesce(max(l.acknowledged_by), '') AS acknowledged_by
      FROM looked l
     GROUP BY l.kind, l.consumer, l.cause
)
SELECT g.kind, g.consumer, g.cause, g.alert, n.title, n.target, g.members, g.raised, g.first_at, g.last_at,
       CASE WHEN NOT live THEN g.resolved_at END, b.began_at,
       b.again OR coalesce(t.created_at < b.began_at, false), g.acknowledged_by,
       t.id, coalesce(t.owner, ''), coalesce(t.note, ''), coalesce(t.noted_by, ''), t.noted_at, t.snoozed_until,
       coalesce(t.snoozed_by, ''), t.snoozed_at, coalesce(t.snoozed_raised, 0), coalesce(t.version, 0),
       CASE WHEN NOT live THEN 'resolved'
            WHEN t.snoozed_until > now() AND t.snoozed_at >= b.began_at
                 AND g.raised <= t.snoozed_raised * growth THEN 'snoozed'
            WHEN g.acknowledged_by <> '' OR (t.owner <> '' AND t.owned_at >= b.began_at) THEN 'ongoing'
            WHEN b.again OR t.created_at < b.began_at THEN 'regressed'
            ELSE 'new' END
  FROM grouped g
  JOIN comboio_alert n ON n.id = g.alert
  LEFT JOIN comboio_triage t ON t.kind = g.kind AND t.consumer = g.consumer AND t.cause = g.cause
 CROSS JOIN LATERAL (
    SELECT max(s.first_at) AS began_at, count(*) > 1 AS again
      FROM (SELECT i.first_at, max(i.until) OVER (ORDER BY i.first_at, i.until
                                                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
              FROM (SELECT g.first_at, 'infinity'::timestamptz AS until WHERE live
                    UNION ALL
                    (SELECT r.first_at, r.resolved_at FROM comboio_alert r
                      WHERE r.kind = g.kind AND r.consumer = g.consumer AND coalesce(r.cause, r.subject) = g.cause
                        AND r.state = 'resolved'
                      ORDER BY r.resolved_at DESC LIMIT 100)) i) s
     WHERE s.before IS NULL OR s.first_at > s.before) b
 WHERE live OR NOT EXISTS (SELECT FROM comboio_alert o
                            WHERE o.kind = g.kind AND o.consumer = g.consumer
                              AND coalesce(o.cause, o.subject) = g.cause AND o.state <> 'resolved')
$$;
