"""What of an entry of the trail is hashed (decision 64). `0033_hash_chain` writes it into the trigger that chains new
entries, and annotate.projects.chain_read compares with it what is there.

It never changes: entries that were hashed by another rule would not fit any more.
"""

# SQL, of a row `e` of annotate_auditentry: its JSON as PostgreSQL spells it, the same in every version and time zone. A
# person is their number, as their name may change.
CONTENT = """jsonb_build_object(
    'id', e.id, 'project', e.project_id, 'actor', e.actor_id, 'action', e.action, 'subject', e.subject,
    'details', e.details, 'at', to_char(e.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text"""
