import type { Generated, GeneratedAlways, JSONColumnType } from 'kysely';
import type { EmailStatus, EmailType } from '../core/emails/email-status.ts';
import type { EndpointType, WebhookFormat } from '../core/endpoints/endpoint-config.ts';
import type { DmarcReportRow, GuardRuleRow, RouteRow } from './routing-tables.ts';
import type {
  DkimKeyRow,
  IdempotencyKeyRow,
  RecipientRow,
  SendingAttemptRow,
  SuppressionRow,
} from './sending-tables.ts';

/** Rows as PostgreSQL holds them (db/migrations), for Kysely. Instants are Date, bigint is number, bytea is Buffer. */
export interface Tables {
  clock: { id: boolean; shift: string };
  user_account: { id: string; email: string; name: Generated<string>; created_at: Generated<Date> };
  api_key: {
    id: string;
    user_id: string;
    name: string;
    secret_sha256: Buffer;
    created_at: Generated<Date>;
    expires_at: Date | null;
    revoked_at: Date | null;
    last_used_at: Date | null;
  };
  domain: DomainRow;
  dkim_key: DkimKeyRow;
  verified_domain_name: { name: string; user_id: string; domain_id: string };
  endpoint: EndpointRow;
  endpoint_stat: {
    user_id: string;
    endpoint_id: string;
    total: number;
    successful: number;
    failed: number;
    last_delivery_at: Date | null;
    failing_since: Date | null;
  };
  email_address: EmailAddressRow;
  email_address_name: { address: string; user_id: string; address_id: string };
  raw_message: { id: string; octets: Buffer; sha256: Buffer; size_octets: number; created_at: Generated<Date> };
  reception: ReceptionRow;
  email: EmailRow;
  email_content: EmailContentRow;
  email_search: { user_id: string; email_id: string; created_at: Date; text: string; parties: Generated<string[]> };
  /** words: tsvector, see db/queries/search/email-words.ts */
  email_words: { user_id: string; email_id: string; created_at: Date; words: string };
  email_counter: {
    user_id: string;
    /** `*` counts all of the domain */
    own_address: string;
    grain: 'hour' | 'day' | 'all';
    /** -Infinity of grain `all` */
    begins_at: Date | number;
    own_domain: string;
    type: EmailType;
    status: EmailStatus;
    is_read: boolean;
    is_archived: boolean;
    count: number;
  };
  thread: ThreadRow;
  thread_apart: { user_id: string; thread_id: string; other_id: string };
  thread_alias: { user_id: string; alias_id: string; thread_id: string };
  thread_message_id: { user_id: string; message_id: string; thread_id: string };
  thread_subject: {
    user_id: string;
    base_subject_sha256: Buffer;
    participant: string;
    date: Date;
    email_id: string;
    is_reply: boolean;
    thread_id: string;
  };
  guard_rule: GuardRuleRow;
  guard_rule_stat: { user_id: string; rule_id: string; trigger_count: number; last_triggered_at: Date | null };
  route: RouteRow;
  dmarc_report: DmarcReportRow;
  delivery: DeliveryRow;
  delivery_earlier_attempt: DeliveryAttemptRow;
  /** a view */
  delivery_attempt: DeliveryAttemptRow;
  event: {
    user_id: string;
    seq: number;
    id: string;
    kind: string;
    at: Date;
    email_id: string | null;
    thread_id: string | null;
    delivery_id: string | null;
    endpoint_id: string | null;
    data: unknown;
  };
  event_counter: { user_id: string; last_seq: number };
  request_window: { user_id: string; leases: string };
  recipient: RecipientRow;
  sending_attempt: SendingAttemptRow;
  suppression: SuppressionRow;
  idempotency_key: IdempotencyKeyRow;
  batch: { user_id: string; id: string; total: number; created_at: Date };
}

export interface DomainRow {
  user_id: string;
  id: string;
  name: string;
  status: 'pending' | 'verified' | 'failed';
  is_trusted: boolean;
  verified_at: Date | null;
  is_catch_all_enabled: boolean;
  catch_all_endpoint_id: string | null;
  receive_dmarc_emails: boolean;
  parent_id: string | null;
  dns_check: unknown;
  checked_at: Date | null;
  check_due_at: Generated<Date>;
  is_mx_seen: Generated<boolean>;
  proof_lost_at: Date | null;
  mail_from_verified_at: Date | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface EndpointRow {
  user_id: string;
  id: string;
  name: string;
  type: EndpointType;
  webhook_format: WebhookFormat;
  config: JSONColumnType<Record<string, unknown>>;
  secret_ciphertext: string | null;
  is_active: boolean;
  inactive_reason: string | null;
  description: string | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface EmailAddressRow {
  user_id: string;
  id: string;
  domain_id: string;
  address: string;
  endpoint_id: string | null;
  webhook_id: string | null;
  is_active: boolean;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface ReceptionRow {
  user_id: string;
  email_id: string;
  raw_id: string;
  reverse_path: string;
  recipient: string;
  own_address: string;
  address_id: string | null;
  domain_id: string;
  remote_address: string;
  helo: string;
  is_tls: boolean;
  trace_fields: string;
  accepted_at: Date;
  parsed_at: Date | null;
  claimed_by: string | null;
  claimed_until: Date | null;
  tries: number;
  last_error: string | null;
  is_test: Generated<boolean>;
}

export interface EmailRow {
  user_id: string;
  id: string;
  type: EmailType;
  status: EmailStatus;
  created_at: Date;
  updated_at: Generated<Date>;
  sent_at: Date | null;
  scheduled_at: Date | null;
  timezone: string | null;
  released_at: Date | null;
  thread_at: GeneratedAlways<Date>;
  failure_reason: string | null;
  batch_id: string | null;
  batch_index: number | null;
  raw_id: string | null;
  own_address: string;
  own_domain: string;
  address_id: string | null;
  domain_id: string | null;
  recipient: string | null;
  message_id: string;
  subject: string;
  base_subject: string;
  from_name: string | null;
  from_address: string;
  from_text: string;
  to_addresses: string[];
  cc_addresses: string[];
  preview: string;
  date: Date | null;
  has_attachments: boolean;
  attachment_count: number;
  is_read: boolean;
  read_at: Date | null;
  is_archived: boolean;
  is_test: boolean;
  thread_id: string | null;
  thread_position: number | null;
  thread_reason: 'header' | 'references' | 'subject' | 'new' | 'manual' | null;
}

export interface EmailContentRow {
  user_id: string;
  email_id: string;
  headers: unknown;
  addresses: unknown;
  in_reply_to: string[];
  reference_ids: string[];
  text_body: string | null;
  html_body: string | null;
  cleaned_text: string | null;
  cleaned_html: string | null;
  attachments: unknown;
  authentication: unknown;
  priority: string | null;
  tags: unknown;
  is_truncated: boolean;
  parse_error: string | null;
  parser_version: number;
}

export interface ThreadRow {
  user_id: string;
  id: string;
  root_message_id: string;
  normalized_subject: string;
  participant_emails: string[];
  participant_names: string[];
  search_text: string;
  message_count: number;
  received_count: number;
  unread_count: number;
  archived_count: number;
  latest_email_id: string;
  last_message_at: Date;
  labels: Generated<string[]>;
  label_keys: Generated<string[]>;
  created_at: Date;
  updated_at: Generated<Date>;
}

export interface DeliveryRow {
  user_id: string;
  id: string;
  email_id: string;
  endpoint_id: string;
  delivery_type: EndpointType;
  thread_id: string | null;
  thread_position: number | null;
  cause: Generated<'route' | 'retry' | 'replay' | 'release'>;
  forward_raw_id: string | null;
  is_null_sender: boolean | null;
  status: 'pending' | 'success' | 'failed';
  attempts: number;
  attempts_allowed: number;
  next_attempt_at: Date | null;
  last_attempt_at: Date | null;
  claimed_by: string | null;
  claimed_until: Date | null;
  response_data: unknown;
  last_attempt: unknown;
  created_at: Date;
  completed_at: Date | null;
}

export interface DeliveryAttemptRow {
  user_id: string;
  delivery_id: string;
  number: number;
  started_at: Date;
  duration_ms: number;
  outcome: 'success' | 'failed' | 'interrupted';
  status_code: number | null;
  error: string | null;
  response_body: string | null;
  request_headers: unknown;
}
