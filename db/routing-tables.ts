import type { Generated } from 'kysely';

export interface GuardRuleRow {
  user_id: string;
  id: string;
  name: string;
  description: string | null;
  type: 'explicit' | 'ai_prompt';
  config: unknown;
  action: 'allow' | 'block' | 'route';
  endpoint_id: string | null;
  priority: Generated<number>;
  is_active: Generated<boolean>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface RouteRow {
  user_id: string;
  email_id: string;
  created_at: Date;
  threaded_at: Date;
  decided_at: Date | null;
  outcome: 'endpoint' | 'inactive' | 'stored' | 'blocked' | 'review' | 'asking' | null;
  via: 'address' | 'webhook' | 'catch-all' | 'guard-rule' | null;
  endpoint_id: string | null;
  rule_id: string | null;
  reason: string | null;
  matches: unknown;
  released_at: Date | null;
  answers: unknown;
  next_ask_at: Date | null;
  asks: Generated<number>;
  claimed_by: string | null;
  claimed_until: Date | null;
}

export interface DmarcReportRow {
  user_id: string;
  id: string;
  email_id: string;
  domain: string;
  domain_id: string;
  organization: string;
  report_id: string;
  begins_at: Date;
  ends_at: Date;
  policy: unknown;
  records: unknown;
  record_count: number;
  message_count: number;
  aligned_count: number;
  is_truncated: Generated<boolean>;
  created_at: Date;
}
