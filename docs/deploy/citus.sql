-- Postroom over several PostgreSQL servers with Citus: every table of workspaces is keyed by workspace_id first, and lies in the shard of its
-- workspace.
-- Run by the owner of the database, after `node bin/migrate.ts` and before the first mail. docs/deploy/kubernetes.md says what it means.
-- A table that a later version adds is missing here until this file names it: a test sees to that.

create extension if not exists citus;

-- The one trigger on a table of workspaces writes rows of the same workspace, so of the same shard.
set citus.enable_unsafe_triggers to on;

-- Small, read everywhere, on every server: who there is, how one signs in, and names that are unique over all workspaces.
select create_reference_table('person');
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
select create_reference_table('person_picture');
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

-- The bytes of messages, found by their id alone; several workspaces may share a row.
select create_distributed_table('raw_message', 'id', colocate_with => 'none');

-- All that belongs to a workspace, side by side.
select create_distributed_table('event_counter', 'workspace_id', colocate_with => 'none');
select create_distributed_table('api_request', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('audit_entry', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('batch', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('dead_row', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('delivery', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('delivery_earlier_attempt', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('dkim_key', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('dmarc_report', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('domain', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('draft', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('approval', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('draft_attachment', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('email', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('email_address', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('email_content', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('email_counter', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('email_search', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('email_trace', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('unindexed_email', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('word_segment', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('word_block', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('word_build', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('endpoint', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('endpoint_stat', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('event', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('guard_rule', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('guard_rule_stat', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('idempotency_key', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('image_sender', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('reception', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('recipient', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('request_window', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('retention', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('retention_sweep', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('route', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('sending_attempt', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('smtp_offer', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('suppression', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('thread', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('thread_alias', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('thread_apart', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('thread_claim', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('greylist', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('door_refusal', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('thread_note', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('saved_view', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('snippet', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('thread_read', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('note_notice', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('reply_address', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('endpoint_subscription', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('thread_message_id', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('relayed_message_id', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('thread_subject', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('thread_undo', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('screening_job', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('trashed_email', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('scim_user', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('scim_group', 'workspace_id', colocate_with => 'event_counter');
select create_distributed_table('scim_group_member', 'workspace_id', colocate_with => 'event_counter');
