import type { Generated } from 'kysely';

export interface DkimKeyRow {
  user_id: string;
  domain_id: string;
  selector: string;
  private_key_ciphertext: string;
  public_key: string;
  created_at: Generated<Date>;
  activated_at: Date | null;
  retired_at: Date | null;
}

export interface RecipientRow {
  user_id: string;
  id: string;
  email_id: string;
  delivery_id: string | null;
  sender_domain: string | null;
  address: string;
  domain: string;
  status: 'pending' | 'delivered' | 'bounced' | 'failed';
  queued_at: Date | null;
  attempts: Generated<number>;
  next_attempt_at: Date | null;
  claimed_by: string | null;
  claimed_until: Date | null;
  return_id: string | null;
  last_code: number | null;
  last_status: string | null;
  last_text: string | null;
  settled_at: Date | null;
  complained_at: Date | null;
  reported_at: Date | null;
  created_at: Date;
}

export interface SendingAttemptRow {
  user_id: string;
  recipient_id: string;
  number: number;
  started_at: Date;
  finished_at: Date | null;
  outcome: 'delivered' | 'deferred' | 'bounced' | 'interrupted' | null;
  host: string | null;
  remote_address: string | null;
  is_tls: boolean | null;
  code: number | null;
  enhanced_status: string | null;
  text: string | null;
}

export interface SuppressionRow {
  user_id: string;
  id: string;
  address: string;
  reason: 'bounce' | 'complaint' | 'manual';
  detail: string | null;
  email_id: string | null;
  created_at: Date;
}

export interface IdempotencyKeyRow {
  user_id: string;
  key: string;
  operation: string;
  request_sha256: Buffer;
  answer: unknown;
  created_at: Date;
}
