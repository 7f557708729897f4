-- Postroom over several PostgreSQL servers with Citus: every table of users is keyed by user_id first, and lies in the shard of its user.
-- Run by the owner of the database, after `node bin/migrate.ts` and before the first mail. docs/deploy/kubernetes.md says what it means.
-- A table that a later version adds is missing here until this file names it: a test sees to that.

create extension if not exists citus;

-- The one trigger on a table of users writes rows of the same user, so of the same shard.
set citus.enable_unsafe_triggers to on;

-- Small, read everywhere, on every server: who there is, how one signs in, and names that are unique over all users.
select create_reference_table('user_account');
select create_reference_table('workspace');
select create_reference_table('workspace_member');
select create_reference_table('workspace_invitation');
select create_reference_table('api_key');
select create_reference_table('oauth_client');
select create_reference_table('oauth_grant');
select create_reference_table('oauth_token');
select create_reference_table('oauth_code');
select create_reference_table('auth_session');
select create_reference_table('auth_credential');
select create_reference_table('auth_verification');
select create_reference_table('auth_passkey');
select create_reference_table('auth_totp');
select create_reference_table('auth_recovery_code');
select create_reference_table('sign_in_provider');
select create_reference_table('scim_token');
select create_reference_table('agent_sign_up');
select create_reference_table('auth_rate_limit');
select create_reference_table('verified_domain_name');
select create_reference_table('email_address_name');
select create_reference_table('erased_account');
select create_reference_table('secret_canary');
select create_reference_table('mta_sts_policy');
select create_reference_table('tls_report');
select create_reference_table('tls_session_count');
select create_reference_table('clock');

-- The coordinator's own.
select citus_add_local_table_to_metadata('migration');

-- The octets of messages, found by their id alone; several users may share a row.
select create_distributed_table('raw_message', 'id', colocate_with => 'none');

-- All that belongs to a user, side by side.
select create_distributed_table('event_counter', 'user_id', colocate_with => 'none');
select create_distributed_table('api_request', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('audit_entry', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('batch', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('dead_row', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('delivery', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('delivery_earlier_attempt', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('dkim_key', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('dmarc_report', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('domain', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('draft', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('approval', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('draft_attachment', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('email', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('email_address', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('email_content', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('email_counter', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('email_search', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('email_trace', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('unindexed_email', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('word_segment', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('word_block', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('word_build', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('endpoint', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('endpoint_stat', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('event', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('guard_rule', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('guard_rule_stat', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('idempotency_key', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('image_sender', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('reception', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('recipient', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('request_window', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('retention', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('retention_sweep', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('route', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('sending_attempt', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('smtp_offer', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('suppression', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('thread', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('thread_alias', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('thread_apart', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('thread_claim', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('greylist', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('door_refusal', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('thread_note', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('saved_view', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('snippet', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('thread_read', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('note_notice', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('reply_address', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('endpoint_subscription', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('thread_message_id', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('relayed_message_id', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('thread_subject', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('thread_undo', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('screening_job', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('trashed_email', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('scim_user', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('scim_group', 'user_id', colocate_with => 'event_counter');
select create_distributed_table('scim_group_member', 'user_id', colocate_with => 'event_counter');
